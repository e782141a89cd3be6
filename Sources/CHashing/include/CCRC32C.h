#pragma once

#include <stddef.h>
#include <stdint.h>

/// Returns the CRC32C (Castagnoli, RFC 3720 section 12.1) of `count` bytes at `bytes`, continuing
/// from `crc`, the value of the preceding bytes (0 at the start). Pieces give the same value as one
/// call over all bytes. Uses the processor's CRC instructions if it has them.
uint32_t chatjournal_crc32c(uint32_t crc, const void *_Nullable bytes, size_t count);

/// Returns the same value by table, on any processor; the reference for tests.
uint32_t chatjournal_crc32c_portable(uint32_t crc, const void *_Nullable bytes, size_t count);
