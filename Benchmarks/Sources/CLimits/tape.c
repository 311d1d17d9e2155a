// Scanning and mapping as the product does them, in plain C without its guesses: a whole document is checked (RFC 8259,
// UTF-8, nesting, duplicates) and written to a tape, keys are looked up, and a line of the workload becomes a record.
#include "CLimits.h"

#include <stdlib.h>
#include <string.h>

#define ONES 0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

enum { object = 1, array, string, number, yes, no, null };
enum { escaped = 1, shadowed = 2, unknown = 0xFFFF, deepest = 64, places = 64, most_names = 16, most_tokens = 1024 };

struct limits_tape {
    limits_token tokens[most_tokens];
    size_t count;
    const char *names[most_names];
    size_t lengths[most_names];
    int16_t numbers[places];
    int name_count;
    /// Per name: number of the scan in the high half, place on the tape in the low half.
    uint64_t slots[most_names];
    uint64_t scan;
};

static inline uint64_t word(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, 8);
    return value;
}

// MARK: Names

static inline size_t place_of(const uint8_t *key, size_t length) {
    uint64_t head = length < 8 ? word(key) & ~(UINT64_MAX << 8 * length) : word(key);
    return ((head ^ length) * 0x9E3779B97F4A7C15ull) >> 58;
}

static inline uint16_t find(const limits_tape *tape, const uint8_t *key, size_t length) {
    for (size_t place = place_of(key, length);; place = (place + 1) % places) {
        int name = tape->numbers[place];
        if (name < 0) return unknown;
        if (tape->lengths[name] == length && memcmp(tape->names[name], key, length) == 0) return (uint16_t)name;
    }
}

limits_tape *limits_tape_make(const char *const *names, int count) {
    if (count > most_names) abort();
    limits_tape *made = calloc(1, sizeof(limits_tape));
    memset(made->numbers, -1, sizeof made->numbers);
    made->name_count = count;
    for (int name = 0; name < count; name++) {
        uint8_t padded[64] = {0};
        made->lengths[name] = strlen(names[name]);
        memcpy(padded, names[name], made->lengths[name]);
        made->names[name] = strdup(names[name]);
        size_t place = place_of(padded, made->lengths[name]);
        while (made->numbers[place] >= 0) place = (place + 1) % places;
        made->numbers[place] = (int16_t)name;
    }
    return made;
}

void limits_tape_free(limits_tape *tape) {
    for (int name = 0; name < tape->name_count; name++) free((void *)tape->names[name]);
    free(tape);
}

// MARK: Lexical parts

static inline size_t blanks(const uint8_t *bytes, size_t at, size_t length) {
    while (at < length && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r' || bytes[at] == '\t')) at++;
    return at;
}

/// Marks quotes, backslashes, control characters and what is not ASCII; exact up to the first.
static inline uint64_t specials(uint64_t value) {
    uint64_t quote = value ^ (ONES * '"'), backslash = value ^ (ONES * '\\');
    uint64_t quotes = (quote - ONES) & ~quote, backslashes = (backslash - ONES) & ~backslash;
    return (quotes | backslashes | ((value - ONES * 0x20) & ~value) | value) & HIGHS;
}

static size_t escape_length(const uint8_t *bytes, size_t left) {
    if (left < 2) return 0;
    if (bytes[1] != 'u') return strchr("\"\\/bfnrt", bytes[1]) && bytes[1] ? 2 : 0;
    if (left < 6) return 0;
    for (int index = 2; index < 6; index++) {
        uint8_t byte = bytes[index], letter = (uint8_t)((byte | 0x20) - 'a');
        if ((uint8_t)(byte - '0') > 9 && letter > 5) return 0;
    }
    return 6;
}

/// Bytes of the well-formed UTF-8 sequence (Unicode, table 3-7) at `bytes`; 0 when there is none.
static size_t sequence_length(const uint8_t *bytes, size_t left) {
    uint8_t first = bytes[0];
    if (first < 0xC2 || first > 0xF4) return 0;
    size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (left < length) return 0;
    uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (bytes[1] < least || bytes[1] > most) return 0;
    for (size_t index = 2; index < length; index++)
        if ((bytes[index] & 0xC0) != 0x80) return 0;
    return length;
}

/// The closing quote of the string whose content begins at `at`; 0 when it is wrong.
static inline size_t string_end(const uint8_t *bytes, size_t at, size_t length, uint8_t *flags) {
    *flags = 0;
    while (at < length) {
        uint64_t mask = specials(word(bytes + at));
        if (!mask) {
            at += 8;
            continue;
        }
        at += (size_t)__builtin_ctzll(mask) >> 3;
        if (at >= length) return 0;
        if (bytes[at] == '"') return at;
        if (bytes[at] < 0x20) return 0;
        size_t step;
        if (bytes[at] == '\\') {
            step = escape_length(bytes + at, length - at);
            *flags = escaped;
        } else {
            step = sequence_length(bytes + at, length - at);
        }
        if (step == 0) return 0;
        at += step;
    }
    return 0;
}

static inline int is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

static inline size_t digits(const uint8_t *bytes, size_t at, size_t length) {
    while (at < length && is_digit(bytes[at])) at++;
    return at;
}

/// The end of the number at `at`; 0 when it is wrong.
static inline size_t number_end(const uint8_t *bytes, size_t at, size_t length) {
    if (bytes[at] == '-') at++;
    size_t end = digits(bytes, at, length);
    if (end == at || (bytes[at] == '0' && end > at + 1)) return 0;
    if (end < length && bytes[end] == '.') {
        at = end + 1;
        end = digits(bytes, at, length);
        if (end == at) return 0;
    }
    if (end < length && (bytes[end] | 0x20) == 'e') {
        at = end + 1;
        if (at < length && (bytes[at] == '+' || bytes[at] == '-')) at++;
        end = digits(bytes, at, length);
        if (end == at) return 0;
    }
    return end;
}

static size_t literal_end(const uint8_t *bytes, size_t at, size_t length, uint8_t *kind) {
    static const struct {
        const char *text;
        size_t length;
        uint8_t kind;
    } literals[] = {{"true", 4, yes}, {"false", 5, no}, {"null", 4, null}};
    for (int index = 0; index < 3; index++) {
        if (at + literals[index].length > length) continue;
        if (memcmp(bytes + at, literals[index].text, literals[index].length) != 0) continue;
        *kind = literals[index].kind;
        return at + literals[index].length;
    }
    return 0;
}

// MARK: Scanning

static inline limits_token *slot(limits_tape *tape, int name) {
    uint64_t value = tape->slots[name];
    return value >> 32 == tape->scan ? &tape->tokens[value & UINT32_MAX] : NULL;
}

/// Notes where a named member of the document itself is; the last of several wins.
static inline void note(limits_tape *tape, uint16_t name, int depth) {
    if (name == unknown || depth != 1) return;
    limits_token *earlier = slot(tape, name);
    if (earlier) earlier->flags |= shadowed;
    tape->slots[name] = tape->scan << 32 | tape->count;
}

/// Reads `"key":` into `token` and returns the place behind it; 0 when it is wrong.
static inline size_t key_end(
    const limits_tape *tape, const uint8_t *bytes, size_t at, size_t length, limits_token *token) {
    if (at >= length || bytes[at] != '"') return 0;
    uint8_t flags;
    size_t end = string_end(bytes, at + 1, length, &flags);
    if (end == 0) return 0;
    token->key_start = (uint32_t)at + 1;
    token->key_length = (uint32_t)(end - at - 1);
    // Names of the benchmark have no escapes.
    token->name = flags == 0 ? find(tape, bytes + at + 1, token->key_length) : (uint16_t)unknown;
    at = blanks(bytes, end + 1, length);
    return at < length && bytes[at] == ':' ? at + 1 : 0;
}

static const limits_token nothing = {.name = unknown};

int limits_tape_scan(limits_tape *tape, const uint8_t *bytes, size_t length) {
    uint32_t open[deepest];
    int depth = 0, in_object = 0;
    limits_token next = nothing;
    size_t at = 0;
    tape->scan++;
    tape->count = 0;
    for (;;) {
        at = blanks(bytes, at, length);
        if (at >= length || tape->count == most_tokens) return -1;
        uint8_t byte = bytes[at];
        limits_token *token = &tape->tokens[tape->count];
        note(tape, next.name, depth);
        *token = next;
        token->start = (uint32_t)at;
        if (byte == '"') {
            token->kind = string;
            size_t end = string_end(bytes, at + 1, length, &token->flags);
            if (end == 0) return -1;
            token->start++;
            token->length = (uint32_t)(end - at - 1);
            at = end + 1;
        } else if (byte == '{' || byte == '[') {
            if (depth == deepest) return -1;
            in_object = byte == '{';
            token->kind = in_object ? object : array;
            open[depth++] = (uint32_t)tape->count++;
            next = nothing;
            at = blanks(bytes, at + 1, length);
            if (at >= length) return -1;
            if (bytes[at] != byte + 2) {
                if (in_object && (at = key_end(tape, bytes, at, length, &next)) == 0) return -1;
                continue;
            }
            goto ended;
        } else if (byte == '-' || is_digit(byte)) {
            token->kind = number;
            at = number_end(bytes, at, length);
            if (at == 0) return -1;
            token->length = (uint32_t)at - token->start;
        } else {
            at = literal_end(bytes, at, length, &token->kind);
            if (at == 0) return -1;
            token->length = (uint32_t)at - token->start;
        }
        tape->count++;
        token->next = (uint32_t)tape->count;
    ended:
        for (;;) {
            at = blanks(bytes, at, length);
            if (depth == 0) return at == length ? (int)tape->count : -1;
            if (at >= length) return -1;
            if (bytes[at] == ',') break;
            if (bytes[at] != (in_object ? '}' : ']')) return -1;
            limits_token *container = &tape->tokens[open[--depth]];
            at++;
            container->next = (uint32_t)tape->count;
            container->length = (uint32_t)at - container->start;
            in_object = depth > 0 && tape->tokens[open[depth - 1]].kind == object;
        }
        at = blanks(bytes, at + 1, length);
        next = nothing;
        if (in_object && (at = key_end(tape, bytes, at, length, &next)) == 0) return -1;
    }
}

// MARK: Mapping

enum { type_name, device_name, time_name, value_name, systolic_name, diastolic_name };

/// A whole number of at most 18 digits; 0 when it is something else.
static inline int whole(const uint8_t *text, size_t length, int64_t *value) {
    if (length == 0 || length > 18) return 0;
    int64_t sum = 0;
    for (size_t index = 0; index < length; index++) {
        if (!is_digit(text[index])) return 0;
        sum = sum * 10 + (text[index] - '0');
    }
    *value = sum;
    return 1;
}

static inline int decimal(const uint8_t *text, size_t length, limits_record *record, int place) {
    int64_t sum = 0;
    int is_negative = text[0] == '-', decimals = 0, is_fraction = 0;
    if (length > 18) return 0;
    for (size_t index = (size_t)is_negative; index < length; index++) {
        if (text[index] == '.') {
            is_fraction = 1;
            continue;
        }
        if (!is_digit(text[index])) return 0;
        sum = sum * 10 + (text[index] - '0');
        decimals += is_fraction;
    }
    record->mantissas[place] = is_negative ? -sum : sum;
    record->exponents[place] = (int8_t)-decimals;
    record->present |= (uint8_t)(1 << place);
    return 1;
}

static inline int value(limits_tape *tape, const uint8_t *bytes, int name, limits_record *record, int place) {
    const limits_token *token = slot(tape, name);
    return token && token->kind == number && decimal(bytes + token->start, token->length, record, place);
}

/// Which of the four kinds a reading is; -1 when none.
static inline int kind_of(const uint8_t *text, size_t length) {
    static const struct {
        const char *text;
        size_t length;
    } kinds[] = {{"heart-rate", 10}, {"steps", 5}, {"glucose", 7}, {"bp", 2}};
    for (int kind = 0; kind < 4; kind++)
        if (kinds[kind].length == length && memcmp(kinds[kind].text, text, length) == 0) return kind;
    return -1;
}

size_t limits_map(limits_tape *tape, const uint8_t *bytes, int64_t received, limits_record *record, uint8_t *key) {
    const limits_token *type = slot(tape, type_name), *device = slot(tape, device_name), *time = slot(tape, time_name);
    if (!type || type->kind != string || type->flags || !device || device->kind != string || device->flags) return 0;
    if (device->length == 0 || device->length > 1024 || bytes[device->start] <= ' ') return 0;
    int kind = kind_of(bytes + type->start, type->length);
    int64_t milliseconds;
    if (kind < 0 || !time || !whole(bytes + time->start, time->length, &milliseconds)) return 0;
    *record = (limits_record){.kind = 1, .offset_minutes = INT16_MIN, .received = received};
    if (__builtin_mul_overflow(milliseconds, 1000000, &record->instant) || record->instant > received) return 0;
    uint32_t head[3] = {(uint32_t)kind, device->length + 1, 0};
    memcpy(key, head, sizeof head);
    memcpy(key + sizeof head, bytes + device->start, device->length);
    if (!value(tape, bytes, kind == 3 ? systolic_name : value_name, record, 0)) return 0;
    int is_whole = kind != 3 || value(tape, bytes, diastolic_name, record, 1);
    return is_whole ? sizeof head + device->length : 0;
}
