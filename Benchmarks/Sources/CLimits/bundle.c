// The bundles of the FHIR benchmark in plain C: the template is compiled in, each field is copied or formatted into one
// buffer, and what the data decide is decided as the product decides it: escapes in JSON and in searches, which entries
// the bundle has already, identities, statistics with exact digits. The bytes are the same.
#include "CLimits.h"

#include <stdlib.h>
#include <string.h>

enum { max_entries = 100, buckets = 512, longest_key = 128, digest_bytes = 32 };

typedef struct {
    uint8_t key[longest_key];
    size_t length;
    uint8_t digest[digest_bytes];
} limits_key;

typedef struct {
    limits_key keys[max_entries + 1];
    int16_t places[buckets];
    int count;
} limits_keys;

struct limits_bundles {
    uint8_t *bytes;
    size_t length, capacity;
    limits_keys resources, identities;
    int entries;
};

// MARK: Bytes

static void reserve(limits_bundles *to, size_t length) {
    if (to->length + length <= to->capacity) return;
    to->capacity = to->capacity * 2 + length;
    to->bytes = realloc(to->bytes, to->capacity);
}

static void put(limits_bundles *to, const void *bytes, size_t length) {
    reserve(to, length);
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
}

#define PUT(to, literal) put(to, literal, sizeof(literal) - 1)

static void put_byte(limits_bundles *to, uint8_t byte) {
    reserve(to, 1);
    to->bytes[to->length++] = byte;
}

static const char hexadecimal[] = "0123456789abcdef";

static void put_hex(limits_bundles *to, const uint8_t *bytes, size_t length) {
    char text[2 * digest_bytes];
    for (size_t index = 0; index < length; index++) {
        text[2 * index] = hexadecimal[bytes[index] >> 4];
        text[2 * index + 1] = hexadecimal[bytes[index] & 15];
    }
    put(to, text, 2 * length);
}

static void put_uuid(limits_bundles *to, const uint8_t *digest) {
    uint8_t bytes[16];
    memcpy(bytes, digest, sizeof bytes);
    bytes[6] = (bytes[6] & 0x0F) | 0x80;
    bytes[8] = (bytes[8] & 0x3F) | 0x80;
    put_hex(to, bytes, 4);
    PUT(to, "-");
    put_hex(to, bytes + 4, 2);
    PUT(to, "-");
    put_hex(to, bytes + 6, 2);
    PUT(to, "-");
    put_hex(to, bytes + 8, 2);
    PUT(to, "-");
    put_hex(to, bytes + 10, 6);
}

/// Text in a JSON string.
static void put_json(limits_bundles *to, const uint8_t *text, size_t length) {
    size_t clean = 0;
    for (size_t index = 0; index < length; index++) {
        uint8_t byte = text[index];
        if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
        put(to, text + clean, index - clean);
        if (byte < 0x20) {
            PUT(to, "\\u00");
            put_hex(to, &byte, 1);
        } else {
            PUT(to, "\\");
            put_byte(to, byte);
        }
        clean = index + 1;
    }
    put(to, text + clean, length - clean);
}

static int is_search_syntax(uint8_t byte) { return byte == '|' || byte == ',' || byte == '$' || byte == '\\'; }

static int is_plain(uint8_t byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '-' ||
           byte == '.' || byte == '_' || byte == '~' || byte == ':' || byte == '/' || byte == '@';
}

/// Text in a search for an identifier.
static void put_search(limits_bundles *to, const uint8_t *text, size_t length) {
    for (size_t index = 0; index < length; index++) {
        uint8_t byte = text[index];
        if (is_search_syntax(byte)) PUT(to, "%5C");
        if (is_plain(byte)) {
            put_byte(to, byte);
        } else {
            char escape[3] = {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
            put(to, escape, 3);
        }
    }
}

static int has_search_syntax(const uint8_t *text, size_t length) {
    for (size_t index = 0; index < length; index++)
        if (is_search_syntax(text[index])) return 1;
    return 0;
}

static void put_digits(limits_bundles *to, uint64_t value) {
    char text[20];
    int start = sizeof text;
    do text[--start] = '0' + value % 10;
    while (value /= 10);
    put(to, text + start, sizeof text - start);
}

/// `mantissa` with `decimals` of its digits behind the point.
static void put_decimal(limits_bundles *to, int64_t mantissa, int decimals) {
    uint64_t magnitude = mantissa < 0 ? -(uint64_t)mantissa : (uint64_t)mantissa;
    if (mantissa < 0) PUT(to, "-");
    if (decimals == 0) return put_digits(to, magnitude);
    char text[24];
    int start = sizeof text, written = 0;
    while (magnitude > 0 || written <= decimals) {
        if (written == decimals) text[--start] = '.';
        text[--start] = '0' + magnitude % 10;
        magnitude /= 10;
        written++;
    }
    put(to, text + start, sizeof text - start);
}

// MARK: Times

typedef struct {
    int year, month, day, hour, minute, second, millisecond;
} civil_time;

static civil_time civil(int64_t milliseconds) {
    civil_time found;
    int64_t seconds = milliseconds / 1000, days = seconds / 86400;
    int in_day = (int)(seconds % 86400);
    found.millisecond = (int)(milliseconds % 1000);
    found.hour = in_day / 3600;
    found.minute = in_day / 60 % 60;
    found.second = in_day % 60;
    int64_t shifted = days + 719468, era = shifted / 146097, day = shifted % 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t in_year = day - (365 * year + year / 4 - year / 100), month = (5 * in_year + 2) / 153;
    found.day = (int)(in_year - (153 * month + 2) / 5 + 1);
    found.month = (int)(month < 10 ? month + 3 : month - 9);
    found.year = (int)(year + era * 400 + (found.month <= 2));
    return found;
}

static char *two(char *text, int value) {
    text[0] = '0' + value / 10;
    text[1] = '0' + value % 10;
    return text + 2;
}

static void put_time(limits_bundles *to, int64_t milliseconds, int is_compact) {
    char text[32], *end = text;
    civil_time time = civil(milliseconds);
    end = two(two(end, time.year / 100), time.year % 100);
    if (!is_compact) *end++ = '-';
    end = two(end, time.month);
    if (!is_compact) *end++ = '-';
    end = two(end, time.day);
    if (!is_compact) *end++ = 'T';
    end = two(end, time.hour);
    if (!is_compact) *end++ = ':';
    end = two(end, time.minute);
    if (!is_compact) *end++ = ':';
    end = two(end, time.second);
    if (!is_compact && time.millisecond > 0) {
        *end++ = '.';
        *end++ = '0' + time.millisecond / 100;
        end = two(end, time.millisecond % 100);
    }
    *end++ = 'Z';
    put(to, text, end - text);
}

// MARK: Keys

static uint64_t hash(const uint8_t *key, size_t length) {
    uint64_t mixed = 0xCBF29CE484222325;
    for (size_t index = 0; index < length; index++) mixed = (mixed ^ key[index]) * 0x100000001B3;
    return mixed ^ mixed >> 32;
}

/// What the benchmark takes for a digest (see `Workload.digest`).
static void digest(const uint8_t *message, size_t length, uint8_t *bytes) {
    uint64_t mixed = 0xCBF29CE484222325;
    for (size_t index = 0; index < length; index++) mixed = (mixed ^ message[index]) * 0x100000001B3;
    for (int index = 0; index < digest_bytes; index++) bytes[index] = (uint8_t)(mixed >> (index % 8 * 8));
}

/// The key's entry; a new one, with `is_new` set, when the bundle does not have it.
static limits_key *find(limits_keys *keys, const uint8_t *key, size_t length, int *is_new) {
    size_t place = hash(key, length) % buckets;
    for (; keys->places[place] >= 0; place = (place + 1) % buckets) {
        limits_key *entry = &keys->keys[keys->places[place]];
        if (entry->length == length && memcmp(entry->key, key, length) == 0) return entry;
    }
    limits_key *entry = &keys->keys[keys->count];
    *is_new = 1;
    keys->places[place] = (int16_t)keys->count++;
    entry->length = length;
    memcpy(entry->key, key, length);
    return entry;
}

static void forget(limits_keys *keys) {
    keys->count = 0;
    memset(keys->places, -1, sizeof keys->places);
}

// MARK: Entries

static void open_entry(limits_bundles *to) {
    if (to->entries++ == 0)
        PUT(to, "{\"resourceType\":\"Bundle\",\"type\":\"transaction\",\"entry\":[");
    else
        PUT(to, ",");
}

typedef struct {
    const char *type, *system;
    size_t type_length, system_length;
} resource_kind;

#define KIND(type, system) {type, system, sizeof(type) - 1, sizeof(system) - 1}

static const resource_kind patient = KIND("Patient", "urn:kymograph:device-subject");
static const resource_kind device = KIND("Device", "urn:kymograph:device");

/// Writes the entry of a Patient or Device unless the bundle has it.
static const uint8_t *require(limits_bundles *to, const resource_kind *kind, const uint8_t *name, size_t length) {
    uint8_t key[longest_key], *end = key;
    end = (uint8_t *)memcpy(end, kind->type, kind->type_length) + kind->type_length;
    *end++ = '|';
    end = (uint8_t *)memcpy(end, kind->system, kind->system_length) + kind->system_length;
    *end++ = '|';
    end = (uint8_t *)memcpy(end, name, length) + length;
    int is_new = 0;
    limits_key *entry = find(&to->resources, key, end - key, &is_new);
    if (!is_new) return entry->digest;
    digest(key, end - key, entry->digest);
    open_entry(to);
    PUT(to, "{\"fullUrl\":\"urn:uuid:");
    put_uuid(to, entry->digest);
    PUT(to, "\",\"resource\":{\"resourceType\":\"");
    put(to, kind->type, kind->type_length);
    PUT(to, "\",\"identifier\":[{\"system\":\"");
    put(to, kind->system, kind->system_length);
    PUT(to, "\",\"value\":\"");
    put_json(to, name, length);
    PUT(to, "\"}]},\"request\":{\"method\":\"POST\",\"url\":\"");
    put(to, kind->type, kind->type_length);
    PUT(to, "\",\"ifNoneExist\":\"identifier=");
    const uint8_t *system = (const uint8_t *)kind->system;
    int is_escaped = has_search_syntax(system, kind->system_length) || has_search_syntax(name, length);
    put_search(to, system, kind->system_length);
    if (is_escaped)
        PUT(to, "%7C");
    else
        PUT(to, "|");
    put_search(to, name, length);
    PUT(to, "\"}}");
    return entry->digest;
}

typedef struct {
    int64_t sum, least, greatest;
    size_t count;
    int exponent;
} statistics;

static statistics survey(const limits_sample *samples, size_t count) {
    statistics found = {0, INT64_MAX, INT64_MIN, 0, 0};
    for (size_t index = 0; index < count; index++) {
        if (!samples[index].is_present) continue;
        if (found.count == 0) found.exponent = samples[index].exponent;
        // Of numbers with different decimals the benchmark has none.
        if (samples[index].exponent != found.exponent) abort();
        if (__builtin_add_overflow(found.sum, samples[index].mantissa, &found.sum)) abort();
        if (samples[index].mantissa < found.least) found.least = samples[index].mantissa;
        if (samples[index].mantissa > found.greatest) found.greatest = samples[index].mantissa;
        found.count++;
    }
    return found;
}

/// The mean with one digit more, rounded half to even.
static int64_t mean(const statistics *of) {
    int64_t sum = of->sum * 10, count = (int64_t)of->count, quotient = sum / count, rest = llabs(sum % count) * 2;
    int is_up = rest > count || (rest == count && quotient % 2 != 0);
    return is_up ? quotient + (sum < 0 ? -1 : 1) : quotient;
}

static const char observation_system[] = "urn:kymograph:observation";

/// The identity behind its system: `.device.heartRate.start.end`.
static void put_identity(limits_bundles *to, const limits_window *window) {
    put(to, observation_system, sizeof observation_system - 1);
    PUT(to, "_.");
    for (size_t index = 0; index < window->device_length; index++) {
        uint8_t byte = window->device[index];
        if (byte == '.')
            PUT(to, "%2E");
        else if (byte == '%')
            PUT(to, "%25");
        else
            put_byte(to, byte);
    }
    PUT(to, ".heartRate.");
    put_time(to, window->start, 1);
    PUT(to, ".");
    put_time(to, window->end - 1, 1);
}

static void put_component(limits_bundles *to, const char *head, size_t length, int64_t value, int decimals) {
    put(to, head, length);
    put_decimal(to, value, decimals);
    PUT(to, ",\"unit\":\"beats/min\",\"system\":\"http://unitsofmeasure.org\",\"code\":\"/min\"}}");
}

#define COMPONENT(code)                                                                                                \
    "{\"code\":{\"coding\":[{\"system\":\"http://terminology.hl7.org/CodeSystem/observation-statistics\",\"code\":\"" \
    code "\"}]},\"value"

static void put_values(limits_bundles *to, const limits_window *window, const uint8_t *device_digest) {
    statistics found = survey(window->samples, window->count);
    int decimals = -found.exponent;
    PUT(to, "},\"valueQuantity\":{\"value\":");
    if (found.count == 1)
        put_decimal(to, found.least, decimals);
    else
        put_decimal(to, mean(&found), decimals + 1);
    PUT(to, ",\"unit\":\"beats/min\",\"system\":\"http://unitsofmeasure.org\",\"code\":\"/min\"},\"device\":{"
            "\"reference\":\"urn:uuid:");
    put_uuid(to, device_digest);
    PUT(to, "\"}");
    if (found.count < 2) return;
    static const char least[] = ",\"component\":[" COMPONENT("minimum") "Quantity\":{\"value\":";
    static const char greatest[] = "," COMPONENT("maximum") "Quantity\":{\"value\":";
    put_component(to, least, sizeof least - 1, found.least, decimals);
    put_component(to, greatest, sizeof greatest - 1, found.greatest, decimals);
    PUT(to, "," COMPONENT("count") "Integer\":");
    put_digits(to, found.count);
    PUT(to, "}]");
}

static void put_observation(limits_bundles *to, const limits_window *window, const limits_key *identity) {
    const uint8_t *subject = require(to, &patient, window->device, window->device_length);
    const uint8_t *by = require(to, &device, window->device, window->device_length);
    open_entry(to);
    PUT(to, "{\"resource\":{\"resourceType\":\"Observation\",\"id\":\"");
    put_hex(to, identity->digest, digest_bytes);
    PUT(to, "\",\"identifier\":[{\"system\":\"urn:kymograph:observation\",\"value\":\"");
    size_t system = sizeof observation_system;
    put_json(to, identity->key + system, identity->length - system);
    PUT(to, "\"}],\"status\":\"final\",\"category\":[{\"coding\":[{\"system\":\"http://terminology.hl7.org/CodeSystem/"
            "observation-category\",\"code\":\"vital-signs\"}]}],\"code\":{\"coding\":[{\"system\":\"http://loinc.org\","
            "\"code\":\"8867-4\"}],\"text\":\"Heart rate\"},\"subject\":{\"reference\":\"urn:uuid:");
    put_uuid(to, subject);
    PUT(to, "\"},\"effectivePeriod\":{\"start\":\"");
    put_time(to, window->start, 0);
    PUT(to, "\",\"end\":\"");
    put_time(to, window->end - 1, 0);
    PUT(to, "\"");
    put_values(to, window, by);
    PUT(to, "},\"request\":{\"method\":\"PUT\",\"url\":\"Observation/");
    put_hex(to, identity->digest, digest_bytes);
    PUT(to, "\"}}");
}

// MARK: Bundles

int limits_bundles_add(limits_bundles *to, const limits_window *window) {
    size_t mark = to->length;
    int entries = to->entries;
    put_identity(to, window);
    size_t length = to->length - mark;
    if (length > longest_key) abort();
    int is_new = 0;
    limits_key *identity = find(&to->identities, to->bytes + mark, length, &is_new);
    to->length = mark;
    // Windows of the benchmark do not come twice.
    if (!is_new) abort();
    digest(identity->key, length, identity->digest);
    put_observation(to, window, identity);
    if (to->entries <= max_entries) return 1;
    to->length = mark;
    to->entries = entries;
    return 0;
}

const uint8_t *limits_bundles_finish(limits_bundles *bundles, size_t *length) {
    PUT(bundles, "]}\n");
    *length = bundles->length;
    return bundles->bytes;
}

void limits_bundles_reset(limits_bundles *bundles) {
    bundles->length = 0;
    bundles->entries = 0;
    forget(&bundles->resources);
    forget(&bundles->identities);
}

limits_bundles *limits_bundles_make(void) {
    limits_bundles *made = calloc(1, sizeof *made);
    limits_bundles_reset(made);
    return made;
}

void limits_bundles_free(limits_bundles *bundles) {
    free(bundles->bytes);
    free(bundles);
}
