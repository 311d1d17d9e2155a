#ifndef CBYTEMASKS_H
#define CBYTEMASKS_H

#include <stdint.h>

/// What sixteen bytes are, as one bit for each, the first in the lowest bit. In C because Swift's vectors have no
/// operation that gathers one bit of each lane: what it makes of the same steps was forty times slower.

typedef signed char kymo_bytes16 __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) kymo_bytes16 kymo_load16(const void *_Nonnull bytes) {
    kymo_bytes16 loaded;
    __builtin_memcpy(&loaded, bytes, sizeof loaded);
    return loaded;
}

/// The lowest bit of each byte.
static inline __attribute__((always_inline)) uint32_t kymo_bits16(kymo_bytes16 bytes) {
#ifdef __SSE2__
    return (uint32_t)__builtin_ia32_pmovmskb128(bytes);
#else
    uint32_t bits = 0;
    for (int place = 0; place < 16; place++) bits |= (uint32_t)(bytes[place] & 1) << place;
    return bits;
#endif
}

/// Which of sixteen bytes are quotes, backslashes, control characters or not ASCII.
static inline __attribute__((always_inline)) uint32_t kymo_specials16(const void *_Nonnull bytes) {
    kymo_bytes16 loaded = kymo_load16(bytes);
    // As signed numbers, bytes that are not ASCII are below all others.
    return kymo_bits16((kymo_bytes16)((loaded == '"') | (loaded == '\\') | (loaded < 0x20)));
}

/// Which of sixteen bytes are no decimal digits.
static inline __attribute__((always_inline)) uint32_t kymo_nondigits16(const void *_Nonnull bytes) {
    typedef unsigned char unsigned16 __attribute__((vector_size(16)));
    // Digits become the ten lowest signed numbers.
    kymo_bytes16 moved = (kymo_bytes16)((unsigned16)kymo_load16(bytes) + (unsigned char)(0x80 - '0'));
    return kymo_bits16((kymo_bytes16)(moved > (signed char)(-0x80 + 9)));
}

#endif
