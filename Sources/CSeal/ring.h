#ifndef KYMO_RING_H
#define KYMO_RING_H

#include <stdatomic.h>

#include "secret.h"

struct kymo_ring {
    uint8_t store[KYMO_STORE_ID_BYTES];
    /// Messages that may still be sealed.
    _Atomic int64_t left;
    /// Keys, and the one to seal with. Keys are only ever added.
    atomic_int count, current;
    struct {
        uint32_t id;
        uint8_t bytes[key_bytes];
    } keys[KYMO_RING_KEYS];
};

_Static_assert(sizeof(struct kymo_ring) <= 4096, "one page of memory");

/// Where the key `id` is; -1 when there is none.
int kymo_ring_index(const struct kymo_ring *ring, uint32_t id);

#endif
