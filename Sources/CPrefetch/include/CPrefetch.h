#ifndef CPREFETCH_H
#define CPREFETCH_H

/// Asks the processor for the cache line at `address`, and does not wait for it. Any address is allowed: nothing is read.
/// Not for writing: of a ring, whose other end is on another processor, that would take away what is being written there.
static inline void kymo_prefetch(const void *_Nonnull address) { __builtin_prefetch(address, 0); }

#endif
