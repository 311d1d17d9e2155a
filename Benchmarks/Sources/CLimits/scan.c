#include "CLimits.h"

#include <string.h>

#define ONES 0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

static inline uint64_t word(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, 8);
    return value;
}

/// Marks the bytes of `value` that equal `byte`; exact up to the first.
static inline uint64_t equal(uint64_t value, uint8_t byte) {
    uint64_t difference = value ^ (ONES * byte);
    return (difference - ONES) & ~difference & HIGHS;
}

static inline size_t string_end(const uint8_t *bytes, size_t at, size_t length) {
    while (at < length) {
        uint64_t value = word(bytes + at);
        uint64_t mask = equal(value, '"') | equal(value, '\\');
        if (!mask) {
            at += 8;
            continue;
        }
        at += (size_t)__builtin_ctzll(mask) >> 3;
        if (at >= length || bytes[at] == '"') return at < length ? at : length;
        at += 2;
    }
    return length;
}

static inline int is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

static double number(const uint8_t *bytes, size_t *place, size_t length) {
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    size_t at = *place;
    int negative = bytes[at] == '-';
    int fraction = 0;
    uint64_t digits = 0;
    at += (size_t)negative;
    while (at < length && is_digit(bytes[at])) digits = digits * 10 + (uint64_t)(bytes[at++] - '0');
    if (at < length && bytes[at] == '.') {
        at++;
        for (; at < length && is_digit(bytes[at]); fraction++) digits = digits * 10 + (uint64_t)(bytes[at++] - '0');
    }
    *place = at;
    double value = (double)digits / powers[fraction > 9 ? 9 : fraction];
    return negative ? -value : value;
}

static inline int two(const uint8_t *bytes) { return (bytes[0] - '0') * 10 + (bytes[1] - '0'); }

/// Milliseconds since 1970 of `2026-01-31T12:34:56.789Z`.
static int64_t milliseconds(const uint8_t *bytes, size_t length) {
    if (length < 20) return INT64_MIN;
    int64_t year = two(bytes) * 100 + two(bytes + 2);
    unsigned month = (unsigned)two(bytes + 5), day = (unsigned)two(bytes + 8);
    int64_t fraction = 0;
    int scale = 100;
    for (size_t at = 20; bytes[19] == '.' && at < length && is_digit(bytes[at]); at++, scale /= 10)
        fraction += (bytes[at] - '0') * scale;
    year -= month <= 2;
    int64_t era = year / 400;
    unsigned of_era = (unsigned)(year - era * 400);
    unsigned of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int64_t days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    int64_t minutes = (days * 24 + two(bytes + 11)) * 60 + two(bytes + 14);
    return minutes * 60000 + two(bytes + 17) * 1000 + fraction;
}

int64_t limits_time(const uint8_t *bytes, size_t length) { return milliseconds(bytes, length); }

static inline int is_key(const uint8_t *key, size_t length, const char *name, size_t name_length) {
    return length == name_length && !memcmp(key, name, name_length);
}

static inline size_t blanks(const uint8_t *bytes, size_t at, size_t length) {
    while (at < length && bytes[at] <= ' ') at++;
    return at;
}

/// Reads a string value, keeps it if a field wants it, and returns the offset behind it.
static size_t text_value(
    const uint8_t *bytes, size_t start, size_t length, const uint8_t *key, size_t key_length, limits_reading *reading,
    unsigned *found) {
    size_t end = string_end(bytes, start, length);
    if (is_key(key, key_length, "deviceId", 8)) {
        reading->device = (const char *)bytes + start;
        reading->device_length = end - start;
        *found |= 1;
    } else if (is_key(key, key_length, "patientId", 9)) {
        reading->patient = (const char *)bytes + start;
        reading->patient_length = end - start;
        *found |= 2;
    } else if (is_key(key, key_length, "endDate", 7)) {
        reading->milliseconds = milliseconds(bytes + start, end - start);
        *found |= 4;
    }
    return end + 1;
}

int limits_scan(const uint8_t *bytes, size_t length, limits_reading *reading) {
    unsigned found = 0;
    size_t at = blanks(bytes, 0, length) + 1;
    for (;;) {
        at = blanks(bytes, at, length);
        if (at >= length || bytes[at] != '"') return 1;
        const uint8_t *key = bytes + at + 1;
        size_t end = string_end(bytes, at + 1, length);
        size_t key_length = end - at - 1;
        at = blanks(bytes, end + 1, length);
        if (at >= length || bytes[at] != ':') return 2;
        at = blanks(bytes, at + 1, length);
        if (bytes[at] == '"') {
            at = text_value(bytes, at + 1, length, key, key_length, reading, &found);
        } else if (bytes[at] == '-' || is_digit(bytes[at])) {
            double value = number(bytes, &at, length);
            if (is_key(key, key_length, "heartRate", 9)) {
                reading->value = value;
                found |= 8;
            }
        } else {
            return 3;
        }
        at = blanks(bytes, at, length);
        if (at < length && bytes[at] == ',') {
            at++;
            continue;
        }
        return at < length && bytes[at] == '}' && found == 15 ? 0 : 4;
    }
}
