#define _GNU_SOURCE
#include "CLimits.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

uint64_t limits_copy(const uint8_t *bytes, size_t length, uint64_t times) {
    uint8_t *target = malloc(length + 1);
    uint64_t sum = 0;
    for (uint64_t round = 0; round < times; round++) {
        memcpy(target, bytes, length);
        // Keeps the copy from being left out.
        __asm__ volatile("" : : "r"(target) : "memory");
        sum += target[round % length];
    }
    free(target);
    return sum;
}

uint64_t limits_windows(const uint32_t *series, const int64_t *values, size_t count, uint32_t series_count) {
    typedef struct {
        int64_t count, sum, least, greatest;
    } window;
    window *windows = calloc(series_count, sizeof(window));
    for (size_t index = 0; index < count; index++) {
        window *own = &windows[series[index]];
        int64_t value = values[index];
        if (own->count == 0 || value < own->least) own->least = value;
        if (own->count == 0 || value > own->greatest) own->greatest = value;
        own->count++;
        own->sum += value;
    }
    uint64_t sum = 0;
    for (uint32_t index = 0; index < series_count; index++) sum += (uint64_t)windows[index].sum;
    free(windows);
    return sum;
}

__attribute__((noinline)) void kymograph_measured(void (*body)(void *), void *context) {
    body(context);
    // Not a tail call: callgrind must see this function until the body has returned.
    __asm__ volatile("" : : : "memory");
}

int64_t kymograph_allocations(void) {
    int64_t (*count)(void) = (int64_t (*)(void))dlsym(RTLD_DEFAULT, "kymograph_counted_allocations");
    return count ? count() : -1;
}
