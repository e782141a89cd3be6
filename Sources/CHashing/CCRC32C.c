#include "CCRC32C.h"

#include <string.h>

// In C, because Swift on Linux cannot import the processors' CRC instructions. The instructions are
// selected at run time, so that one binary runs everywhere: each call loads and tests a word that
// the C runtime sets before main, which costs little.

/// The reflected Castagnoli polynomial.
#define POLYNOMIAL UINT32_C(0x82F63B78)

/// table[k][b]: the CRC of byte b followed by k zero bytes, for eight bytes a step ("slicing by 8",
/// Kounavis and Berry, 2005). Filled before main, so that no call has to check it and no two
/// threads can fill it at once.
static uint32_t table[8][256];

__attribute__((constructor)) static void fill_table(void) {
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) ? POLYNOMIAL : 0);
        table[0][b] = crc;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++) table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 0xFF];
}

uint32_t chatjournal_crc32c_portable(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *p = bytes;
    crc = ~crc;
    while (count >= 8) {
        uint32_t low = crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
        crc = table[7][low & 0xFF] ^ table[6][(low >> 8) & 0xFF] ^ table[5][(low >> 16) & 0xFF] ^ table[4][low >> 24]
            ^ table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
        p += 8;
        count -= 8;
    }
    while (count--) crc = (crc >> 8) ^ table[0][(crc ^ *p++) & 0xFF];
    return ~crc;
}

#if defined(__x86_64__)

#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc32c_hardware(uint32_t crc, const uint8_t *p, size_t count) {
    uint64_t sum = (uint32_t)~crc;
    for (; count >= 8; p += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        sum = _mm_crc32_u64(sum, word);
    }
    uint32_t rest = (uint32_t)sum;
    if (count & 4) {
        uint32_t word;
        memcpy(&word, p, 4);
        rest = _mm_crc32_u32(rest, word);
        p += 4;
    }
    if (count & 2) {
        uint16_t word;
        memcpy(&word, p, 2);
        rest = _mm_crc32_u16(rest, word);
        p += 2;
    }
    if (count & 1) rest = _mm_crc32_u8(rest, *p);
    return ~rest;
}

static inline int has_hardware(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__) && (defined(__APPLE__) || defined(__linux__) || defined(__ANDROID__))

#if defined(__APPLE__)
// Every 64-bit Apple processor that the package's platforms run on has the CRC instructions.
static inline int has_hardware(void) { return 1; }
#else
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
static int hardware;
__attribute__((constructor)) static void find_hardware(void) { hardware = (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
static inline int has_hardware(void) { return hardware; }
#endif

__attribute__((target("crc"))) static uint32_t crc32c_hardware(uint32_t crc, const uint8_t *p, size_t count) {
    uint32_t sum = ~crc;
    for (; count >= 8; p += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        sum = __builtin_arm_crc32cd(sum, word);
    }
    for (; count; p++, count--) sum = __builtin_arm_crc32cb(sum, *p);
    return ~sum;
}

#else

static inline int has_hardware(void) { return 0; }
static uint32_t crc32c_hardware(uint32_t crc, const uint8_t *p, size_t count) { return chatjournal_crc32c_portable(crc, p, count); }

#endif

uint32_t chatjournal_crc32c(uint32_t crc, const void *bytes, size_t count) {
    if (has_hardware()) return crc32c_hardware(crc, bytes, count);
    return chatjournal_crc32c_portable(crc, bytes, count);
}
