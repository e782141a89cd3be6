#include "CServerFiles.h"

/* C23, which clang accepts in every mode. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi_json[] = {
#embed "../ChatServer/openapi.json"
};

const struct CServerFile CServerFiles[] = {
    {"/v1/openapi.json", "application/json", openapi_json, sizeof openapi_json},
};

const size_t CServerFileCount = sizeof CServerFiles / sizeof *CServerFiles;
