#define _GNU_SOURCE
#include "CLimits.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    int64_t instant;
    uint64_t rest[7];
} event;

/// Each side on cache lines of its own, with its last sight of the other's position.
typedef struct {
    _Alignas(128) _Atomic uint64_t head;
    uint64_t tail_seen;
    _Alignas(128) _Atomic uint64_t tail;
    uint64_t head_seen;
    _Alignas(128) event *slots;
    uint64_t mask;
    uint64_t count;
} ring;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void limits_relax(unsigned *spins) {
    if (++*spins < 64) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        return;
    }
    *spins = 0;
    sched_yield();
}

static inline int put(ring *ring, uint64_t position, int64_t instant) {
    if (position - ring->tail_seen > ring->mask) {
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (position - ring->tail_seen > ring->mask) return 0;
    }
    ring->slots[position & ring->mask] = (event){.instant = instant};
    atomic_store_explicit(&ring->head, position + 1, memory_order_release);
    return 1;
}

static inline int take(ring *ring, uint64_t position, uint64_t *sum) {
    if (position == ring->head_seen) {
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (position == ring->head_seen) return 0;
    }
    *sum += (uint64_t)ring->slots[position & ring->mask].instant;
    atomic_store_explicit(&ring->tail, position + 1, memory_order_release);
    return 1;
}

static void *produce(void *context) {
    ring *ring = context;
    unsigned spins = 0;
    for (uint64_t position = 0; position < ring->count;) {
        if (put(ring, position, (int64_t)position)) position++; else limits_relax(&spins);
    }
    return NULL;
}

static ring *make(uint64_t count, uint32_t capacity) {
    ring *made = aligned_alloc(128, sizeof(ring));
    *made = (ring){.mask = capacity - 1, .count = count};
    made->slots = aligned_alloc(128, sizeof(event) * capacity);
    for (uint32_t index = 0; index < capacity; index++) made->slots[index] = (event){0};
    return made;
}

static void discard(ring *ring) {
    free(ring->slots);
    free(ring);
}

double limits_ring(uint64_t count, uint32_t capacity) {
    ring *ring = make(count, capacity);
    pthread_t producer;
    double start = now();
    pthread_create(&producer, NULL, produce, ring);
    uint64_t sum = 0;
    unsigned spins = 0;
    for (uint64_t position = 0; position < count;) {
        if (take(ring, position, &sum)) position++; else limits_relax(&spins);
    }
    pthread_join(producer, NULL);
    double seconds = now() - start;
    discard(ring);
    return sum == count * (count - 1) / 2 ? seconds : -1;
}

uint64_t limits_ring_alone(uint64_t count, uint32_t capacity) {
    ring *ring = make(count, capacity);
    uint64_t sum = 0;
    for (uint64_t first = 0; first < count; first += 64) {
        for (uint64_t position = first; position < first + 64; position++) put(ring, position, (int64_t)position);
        for (uint64_t position = first; position < first + 64; position++) take(ring, position, &sum);
    }
    discard(ring);
    return sum;
}
