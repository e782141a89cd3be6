#pragma once

#include <stddef.h>

/* A file that the server serves as it is, compiled into the program. */
struct CServerFile {
    /* The path of its URL. */
    const char *path;
    /* The media type. */
    const char *type;
    const unsigned char *bytes;
    size_t count;
};

extern const struct CServerFile CServerFiles[];
extern const size_t CServerFileCount;

static inline const struct CServerFile *CServerFile_at(size_t index) { return &CServerFiles[index]; }
