#pragma once

#include <stddef.h>
#include <stdint.h>

/// Compresses `count` blocks of 64 bytes at `blocks` into the eight words of `state` (FIPS 180-4,
/// section 6.2.2). The caller initializes the state and pads the message. Uses the processor's
/// SHA-256 instructions if it has them.
void chatjournal_sha256(uint32_t *_Nonnull state, const void *_Nullable blocks, size_t count);

/// Computes the same on any processor; the reference for tests.
void chatjournal_sha256_portable(uint32_t *_Nonnull state, const void *_Nullable blocks, size_t count);

/// Returns whether `chatjournal_sha256` uses the processor's instructions.
int chatjournal_sha256_has_hardware(void);
