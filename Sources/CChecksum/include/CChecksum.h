#pragma once

#include <stddef.h>
#include <stdint.h>

/// CRC32C (Castagnoli, RFC 3720 section 12.1) of `count` bytes at `bytes`, continuing from `crc`, the value of what came before (0 at the
/// start). Continuing gives the same value as one call over all the bytes. Uses the processor's CRC instructions where it has them.
uint32_t chatjournal_crc32c(uint32_t crc, const void *_Nullable bytes, size_t count);

/// The same by table, on any processor: what the dispatching function is tested against.
uint32_t chatjournal_crc32c_portable(uint32_t crc, const void *_Nullable bytes, size_t count);
