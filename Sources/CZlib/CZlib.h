#pragma once

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

/* Swift does not import the macro deflateInit2. */

/* Compresses bytes as gzip (RFC 1952); returns their number, or 0 if they are more than there is room for. */
static inline size_t CZlib_gzip(const uint8_t *bytes, size_t count, uint8_t *target, size_t capacity, int level) {
    z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)count, .next_out = target, .avail_out = (uInt)capacity};
    if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    int status = deflate(&stream, Z_FINISH);
    size_t made = stream.total_out;
    deflateEnd(&stream);
    return status == Z_STREAM_END ? made : 0;
}
