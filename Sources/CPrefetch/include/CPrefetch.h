#ifndef CPREFETCH_H
#define CPREFETCH_H

/// Asks the processor for the cache line at `address`, and does not wait for it. Any address is allowed: nothing is read.
/// Not for writing: of a ring, whose other end is on another processor, that would take away what is being written there.
static inline void kymo_prefetch(const void *_Nonnull address) { __builtin_prefetch(address, 0); }

/// The same for a line that is going to be written and that nobody else needs any more: the processor becomes the
/// only one that has it, and a store need not wait until the others have given it up.
static inline void kymo_prefetch_for_writing(const void *_Nonnull address) {
#ifdef __x86_64__
    // __builtin_prefetch would ask for reading: the first 64-bit processors pass over this instruction, and the
    // compiler does not use it unless it is told for which processor it compiles.
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

#endif
