#ifndef CSIMD_H
#define CSIMD_H

#include <stddef.h>
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

/// Which of sixteen bytes are quotes, backslashes, control characters (DEL is one) or not ASCII.
static inline __attribute__((always_inline)) uint32_t kymo_specials16(const void *_Nonnull bytes) {
    typedef unsigned char unsigned16 __attribute__((vector_size(16)));
    kymo_bytes16 loaded = kymo_load16(bytes);
    // As signed numbers, the successors of DEL and of bytes that are not ASCII are below all others but that of 0xFF,
    // which is 0.
    kymo_bytes16 next = (kymo_bytes16)((unsigned16)loaded + 1);
    return kymo_bits16((kymo_bytes16)((loaded == '"') | (loaded == '\\') | (next < 0x21)));
}

/// Which of sixteen bytes are no decimal digits.
static inline __attribute__((always_inline)) uint32_t kymo_nondigits16(const void *_Nonnull bytes) {
    typedef unsigned char unsigned16 __attribute__((vector_size(16)));
    // Digits become the ten lowest signed numbers.
    kymo_bytes16 moved = (kymo_bytes16)((unsigned16)kymo_load16(bytes) + (unsigned char)(0x80 - '0'));
    return kymo_bits16((kymo_bytes16)(moved > (signed char)(-0x80 + 9)));
}

/// Whether both have the same `count` bytes. The C library compares long ones in wider words than loops in Swift do.
static inline __attribute__((always_inline)) int kymo_same(
    const void *_Nonnull one, const void *_Nonnull other, intptr_t count) {
    return __builtin_memcmp(one, other, (size_t)count) == 0;
}

/// The place of the first `byte` among `count` bytes, in blocks of sixteen of which the last may reach further; `count`
/// or more when there is none.
static inline __attribute__((always_inline)) intptr_t kymo_find16(
    const void *_Nonnull bytes, intptr_t count, uint8_t byte) {
    for (intptr_t start = 0; start < count; start += 16) {
        uint32_t found = kymo_bits16((kymo_bytes16)(kymo_load16((const char *)bytes + start) == (signed char)byte));
        if (found) return start + __builtin_ctz(found);
    }
    return count;
}

/// Which of each sixteen bytes, of all `blocks` together, are not as `rules` say: 64 bytes for each block, at a cache
/// line. The first sixteen are added to the bytes, which then may be no greater than the second. Where the third have
/// ones, they may be neither quotes nor backslashes; they have none but from block `texts` to before `texts_end`.
static inline __attribute__((always_inline)) uint32_t kymo_breaches16(
    const void *_Nonnull bytes, const void *_Nonnull rules, intptr_t blocks, intptr_t texts, intptr_t texts_end) {
    typedef unsigned char unsigned16 __attribute__((vector_size(16)));
    const kymo_bytes16 *rule = (const kymo_bytes16 *)rules;
    kymo_bytes16 breaches = {0};
    for (intptr_t block = 0; block < blocks; block++) {
        unsigned16 loaded = (unsigned16)kymo_load16((const char *)bytes + block * 16);
        breaches |= (kymo_bytes16)((kymo_bytes16)(loaded + (unsigned16)rule[block * 4]) > rule[block * 4 + 1]);
    }
    for (intptr_t block = texts; block < texts_end; block++) {
        kymo_bytes16 loaded = kymo_load16((const char *)bytes + block * 16);
        breaches |= (kymo_bytes16)((loaded == '"') | (loaded == '\\')) & rule[block * 4 + 2];
    }
    return kymo_bits16(breaches);
}

#endif
