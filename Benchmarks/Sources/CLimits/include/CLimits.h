/// What the same work costs in plain C on the same machine, and the marks that the gate measures between.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// The four fields of a reading of the scan workload.
typedef struct {
    const char *device;
    const char *patient;
    size_t device_length;
    size_t patient_length;
    double value;
    int64_t milliseconds;
} limits_reading;

/// Finds the four fields of one reading, eight bytes at a time: no validation of UTF-8, escapes or structure.
/// `bytes` must be readable eight bytes beyond `length`. 0 when all were found.
int limits_scan(const uint8_t *bytes, size_t length, limits_reading *reading);

/// Milliseconds since 1970 of `2026-01-31T12:34:56.789Z`, unchecked; the least number when there are too few bytes.
int64_t limits_time(const uint8_t *bytes, size_t length);

/// A value on a tape: kind, flags, place, the token behind it, and its key.
typedef struct {
    uint8_t kind;
    uint8_t flags;
    uint16_t name;
    uint32_t start;
    uint32_t length;
    uint32_t next;
    uint32_t key_start;
    uint32_t key_length;
} limits_token;

/// What a document was scanned to, and the names that keys are looked up among.
typedef struct limits_tape limits_tape;

limits_tape *limits_tape_make(const char *const *names, int count);
void limits_tape_free(limits_tape *tape);

/// Scans and checks one document, as the product does; how many tokens it has, or -1 when it is wrong. `bytes` must be
/// readable eight bytes beyond `length`.
int limits_tape_scan(limits_tape *tape, const uint8_t *bytes, size_t length);

/// A reading in the layout of the product's.
typedef struct {
    uint8_t kind;
    uint8_t continuation_slots;
    int16_t offset_minutes;
    uint32_t series;
    int64_t instant;
    int64_t received;
    int64_t mantissas[4];
    int8_t exponents[4];
    uint8_t present;
    uint8_t mark;
    uint16_t payload_bytes;
} limits_record;

/// Maps the scanned line of the workload to `record` and the bytes of `key` (at least 1,100); the length of the key, or
/// 0 when it is no reading. The names of the tape must be type, device, ts, value, sys, dia.
size_t limits_map(limits_tape *tape, const uint8_t *bytes, int64_t received, limits_record *record, uint8_t *key);

/// Windows of `period` nanoseconds that keep their readings.
typedef struct limits_windows_kept limits_windows_kept;

limits_windows_kept *limits_windows_kept_make(uint32_t series, int64_t period);

/// Adds readings, each later than the one before of its series. A window that has ended is forgotten.
void limits_windows_kept_add(limits_windows_kept *windows, const limits_record *records, size_t count);

/// Sends `count` 64-byte events through a lock-free ring from one thread to another; seconds taken, or -1 when events
/// were lost. `capacity` is a power of two.
double limits_ring(uint64_t count, uint32_t capacity);

/// Waits a little for the other thread: pauses, and gives the processor up from time to time.
void limits_relax(unsigned *spins);

/// One thread puts 64 events into a ring and takes them out again, over and over; the sum of what it took.
uint64_t limits_ring_alone(uint64_t count, uint32_t capacity);

/// Copies an Observation of `length` bytes `times` times, as a writer that had nothing to decide would.
uint64_t limits_copy(const uint8_t *bytes, size_t length, uint64_t times);

/// A number of a window.
typedef struct {
    int64_t mantissa;
    int8_t exponent;
    uint8_t is_present;
} limits_sample;

/// A window of heart rates of one device; times in milliseconds.
typedef struct {
    const uint8_t *device;
    size_t device_length;
    int64_t start;
    int64_t end;
    const limits_sample *samples;
    size_t count;
} limits_window;

/// Writes windows of heart rates into bundles, as the product does with the benchmark's mapping: the same bytes.
typedef struct limits_bundles limits_bundles;

limits_bundles *limits_bundles_make(void);
void limits_bundles_free(limits_bundles *bundles);

/// Adds the Observation of `window`; 0 when the bundle is full: finish it, reset, and add the window again.
int limits_bundles_add(limits_bundles *bundles, const limits_window *window);

/// Completes the bundle; its bytes are valid until the next call.
const uint8_t *limits_bundles_finish(limits_bundles *bundles, size_t *length);

/// Starts the next bundle.
void limits_bundles_reset(limits_bundles *bundles);

/// One window per series updated in a dense array: count, sum, least, greatest. The floor for a window update.
uint64_t limits_windows(const uint32_t *series, const int64_t *values, size_t count, uint32_t series_count);

/// Calls `body(context)`. The gate tells callgrind to count only inside of this function.
void kymograph_measured(void (*body)(void *), void *context);

/// Allocations so far in this process, or -1 when the counting library is not preloaded.
int64_t kymograph_allocations(void);
