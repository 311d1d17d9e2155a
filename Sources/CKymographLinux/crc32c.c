#include "CKymographLinux.h"

#include <string.h>

static uint32_t by_bit(uint32_t crc, const uint8_t *bytes, size_t size) {
    static uint32_t table[256];
    static int made;
    if (!__atomic_load_n(&made, __ATOMIC_ACQUIRE)) {
        for (uint32_t value = 0; value < 256; value++) {
            uint32_t rest = value;
            for (int bit = 0; bit < 8; bit++) rest = rest >> 1 ^ (rest & 1 ? 0x82F63B78u : 0);
            table[value] = rest;
        }
        __atomic_store_n(&made, 1, __ATOMIC_RELEASE);
    }
    while (size-- > 0) crc = crc >> 8 ^ table[(crc ^ *bytes++) & 255];
    return crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *bytes, size_t size) {
    uint64_t wide = crc;
    for (; size >= 8; size -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
    while (size-- > 0) crc = _mm_crc32_u8(crc, *bytes++);
    return crc;
}
#endif

uint32_t kymo_crc32c(uint32_t crc, const uint8_t *bytes, size_t size) {
    crc = ~crc;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return ~by_instruction(crc, bytes, size);
#endif
    return ~by_bit(crc, bytes, size);
}
