#include "CSHA256.h"

// In C, because Swift on Linux cannot import the processors' SHA-256 instructions. As for CRC32C,
// the instructions are selected at run time. No secret is hashed, so no path is hardened against
// measurements of time.

/// The round constants (FIPS 180-4, section 4.2.2): the first 32 bits of the fractional parts of
/// the cube roots of the first 64 primes.
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate(uint32_t word, int count) { return word >> count | word << (32 - count); }

void chatjournal_sha256_portable(uint32_t *state, const void *blocks, size_t count) {
    const uint8_t *p = blocks;
    for (; count > 0; count--, p += 64) {
        uint32_t schedule[64];
        for (int t = 0; t < 16; t++)
            schedule[t] = (uint32_t)p[4 * t] << 24 | (uint32_t)p[4 * t + 1] << 16 | (uint32_t)p[4 * t + 2] << 8 | (uint32_t)p[4 * t + 3];
        for (int t = 16; t < 64; t++) {
            uint32_t early = schedule[t - 15], late = schedule[t - 2];
            uint32_t sigma0 = rotate(early, 7) ^ rotate(early, 18) ^ early >> 3;
            uint32_t sigma1 = rotate(late, 17) ^ rotate(late, 19) ^ late >> 10;
            schedule[t] = sigma1 + schedule[t - 7] + sigma0 + schedule[t - 16];
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
        for (int t = 0; t < 64; t++) {
            uint32_t sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
            uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + constants[t] + schedule[t];
            uint32_t sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
            uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

static int hardware;

/// Sets `hardware` before main: the SHA extensions, and SSSE3 and SSE4.1 for the shuffles.
///
/// Asks the processor itself: `__builtin_cpu_supports`, which suffices for the CRC, knows `sha` only
/// with newer compilers and run-time libraries.
__attribute__((constructor)) static void find_hardware(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 9) || !(c & 1u << 19)) return;
    hardware = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 29);
}

static inline int has_hardware(void) { return hardware; }

__attribute__((target("sha,ssse3,sse4.1"))) static void sha256_hardware(uint32_t *state, const uint8_t *p, size_t count) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    // The instructions expect the words a, b, e, f in one register and c, d, g, h in the other.
    __m128i dcba = _mm_loadu_si128((const __m128i *)state), hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xB1), efgh = _mm_shuffle_epi32(hgfe, 0x1B);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
    for (; count > 0; count--, p += 64) {
        __m128i first = abef, second = cdgh, words[4];
        for (int i = 0; i < 4; i++)
            words[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * i)), big_endian);
#pragma clang loop unroll(full)
        for (int i = 0; i < 16; i++) {
            // Four rounds, and four words of the schedule for the rounds 16 later.
            __m128i sum = _mm_add_epi32(words[i & 3], _mm_loadu_si128((const __m128i *)(constants + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
            if (i >= 12) continue;
            __m128i last = words[(i + 3) & 3];
            __m128i next = _mm_sha256msg1_epu32(words[i & 3], words[(i + 1) & 3]);
            next = _mm_add_epi32(next, _mm_alignr_epi8(last, words[(i + 2) & 3], 4));
            words[i & 3] = _mm_sha256msg2_epu32(next, last);
        }
        abef = _mm_add_epi32(abef, first);
        cdgh = _mm_add_epi32(cdgh, second);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#elif defined(__aarch64__) && (defined(__APPLE__) || defined(__linux__) || defined(__ANDROID__))

#include <arm_neon.h>

#if defined(__APPLE__)
// Every 64-bit Apple processor that the package's platforms run on has the SHA-256 instructions.
static inline int has_hardware(void) { return 1; }
#else
#include <sys/auxv.h>
#ifndef HWCAP_SHA2
#define HWCAP_SHA2 (1 << 6)
#endif
static int hardware;
__attribute__((constructor)) static void find_hardware(void) { hardware = (getauxval(AT_HWCAP) & HWCAP_SHA2) != 0; }
static inline int has_hardware(void) { return hardware; }
#endif

__attribute__((target("sha2"))) static void sha256_hardware(uint32_t *state, const uint8_t *p, size_t count) {
    uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
    for (; count > 0; count--, p += 64) {
        uint32x4_t first = abcd, second = efgh, words[4];
        for (int i = 0; i < 4; i++) words[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(p + 16 * i)));
#pragma clang loop unroll(full)
        for (int i = 0; i < 16; i++) {
            // Four rounds, and four words of the schedule for the rounds 16 later.
            uint32x4_t sum = vaddq_u32(words[i & 3], vld1q_u32(constants + 4 * i)), before = abcd;
            abcd = vsha256hq_u32(abcd, efgh, sum);
            efgh = vsha256h2q_u32(efgh, before, sum);
            if (i >= 12) continue;
            uint32x4_t next = vsha256su0q_u32(words[i & 3], words[(i + 1) & 3]);
            words[i & 3] = vsha256su1q_u32(next, words[(i + 2) & 3], words[(i + 3) & 3]);
        }
        abcd = vaddq_u32(abcd, first);
        efgh = vaddq_u32(efgh, second);
    }
    vst1q_u32(state, abcd);
    vst1q_u32(state + 4, efgh);
}

#else

static inline int has_hardware(void) { return 0; }
static void sha256_hardware(uint32_t *state, const uint8_t *p, size_t count) { chatjournal_sha256_portable(state, p, count); }

#endif

int chatjournal_sha256_has_hardware(void) { return has_hardware(); }

void chatjournal_sha256(uint32_t *state, const void *blocks, size_t count) {
    if (has_hardware()) sha256_hardware(state, blocks, count);
    else chatjournal_sha256_portable(state, blocks, count);
}
