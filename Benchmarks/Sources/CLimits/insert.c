// Windows that keep every reading, in plain C: a reading that comes in order is appended to the block of its series,
// and blocks double. Memory of the next sixteen readings is asked for ahead, in two rounds.
#include "CLimits.h"

#include <stdlib.h>
#include <string.h>

enum { ahead = 16, classes = 24 };

typedef struct {
    int64_t end, last;
    limits_record *readings;
    uint32_t count;
    uint8_t size_class;
} window;

/// A block that waits to be used again.
typedef struct spare {
    struct spare *next;
} spare;

struct limits_windows_kept {
    window *windows;
    uint32_t count;
    int64_t period;
    spare *spares[classes];
    /// Memory that was never used.
    uint8_t *fresh;
    size_t left;
};

static limits_record *allocate(limits_windows_kept *to, int size_class) {
    spare *first = to->spares[size_class];
    if (first) {
        to->spares[size_class] = first->next;
        return (limits_record *)first;
    }
    size_t bytes = sizeof(limits_record) << size_class;
    if (to->left < bytes) {
        to->left = bytes > 64 << 20 ? bytes : 64 << 20;
        // What is left of the former piece stays unused; the process ends soon.
        to->fresh = aligned_alloc(64, to->left);
    }
    limits_record *block = (limits_record *)to->fresh;
    to->fresh += bytes;
    to->left -= bytes;
    return block;
}

limits_windows_kept *limits_windows_kept_make(uint32_t series, int64_t period) {
    limits_windows_kept *made = calloc(1, sizeof(limits_windows_kept));
    made->windows = calloc(series, sizeof(window));
    made->count = series;
    made->period = period;
    return made;
}

static void release(limits_windows_kept *to, window *own) {
    spare *block = (spare *)own->readings;
    block->next = to->spares[own->size_class];
    to->spares[own->size_class] = block;
}

/// Forgets the readings, and begins the window that `instant` is in.
static void begin(limits_windows_kept *to, window *own, int64_t instant) {
    if (own->readings) release(to, own);
    *own = (window){.end = instant - instant % to->period + to->period, .last = INT64_MIN, .readings = allocate(to, 0)};
}

static void enlarge(limits_windows_kept *to, window *own) {
    limits_record *larger = allocate(to, own->size_class + 1);
    memcpy(larger, own->readings, sizeof(limits_record) * own->count);
    release(to, own);
    own->readings = larger;
    own->size_class++;
}

static inline void add(limits_windows_kept *to, const limits_record *record) {
    window *own = &to->windows[record->series];
    if (record->instant >= own->end) begin(to, own, record->instant);
    // Readings of the benchmark come in order.
    if (record->instant <= own->last) abort();
    if (own->count >> own->size_class) enlarge(to, own);
    own->readings[own->count++] = *record;
    own->last = record->instant;
}

void limits_windows_kept_add(limits_windows_kept *to, const limits_record *records, size_t count) {
    for (size_t first = 0; first < count; first += ahead) {
        size_t end = first + ahead < count ? first + ahead : count;
        for (size_t index = first; index < end; index++) __builtin_prefetch(&to->windows[records[index].series], 1);
        for (size_t index = first; index < end; index++) {
            const window *own = &to->windows[records[index].series];
            __builtin_prefetch(own->readings + own->count, 1);
        }
        for (size_t index = first; index < end; index++) add(to, &records[index]);
    }
}
