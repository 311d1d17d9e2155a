#include "keys.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CSeal.h"

// The file lies in locked memory as it is, and its digits become the keys where they are.

enum { least_key = 16, most_key = 64, most_bytes = 8 << 20 };

struct entry {
    const uint8_t *identity;
    size_t count;
    const uint8_t *key;
    size_t key_count;
    int line;
};

struct kymo_psk_keys {
    uint8_t *text;
    size_t size;
    struct entry *entries;
    size_t count;
};

static int compare(const void *one, const void *other) {
    const struct entry *left = one, *right = other;
    size_t common = left->count < right->count ? left->count : right->count;
    int order = common ? memcmp(left->identity, right->identity, common) : 0;
    if (order) return order;
    return (left->count > right->count) - (left->count < right->count);
}

static int digit(uint8_t character) {
    if (character >= '0' && character <= '9') return character - '0';
    if (character >= 'a' && character <= 'f') return character - 'a' + 10;
    if (character >= 'A' && character <= 'F') return character - 'A' + 10;
    return -1;
}

/// Reads the key of `entry`, whose digits become its bytes; what is wrong with it, or null.
static const char *read_key(struct entry *entry, uint8_t *digits, size_t count) {
    if (count % 2 || count / 2 < least_key || count / 2 > most_key)
        return "must have a key of 16 to 64 bytes after the last ':', as 32 to 128 hexadecimal digits";
    for (size_t place = 0; place < count / 2; place++) {
        int high = digit(digits[2 * place]), low = digit(digits[2 * place + 1]);
        if (high < 0 || low < 0) return "has characters other than hexadecimal digits after the last ':'";
        digits[place] = (uint8_t)(high << 4 | low);
    }
    entry->key = digits;
    entry->key_count = count / 2;
    return NULL;
}

/// Reads a line that is not empty; what is wrong with it, or null.
static const char *read_line(struct entry *entry, uint8_t *line, size_t count) {
    size_t colon = count;
    while (colon > 0 && line[colon - 1] != ':') colon--;
    if (colon == 0) return "is not 'identity:key'";
    entry->identity = line;
    entry->count = colon - 1;
    if (entry->count == 0) return "has no identity before the ':'";
    if (entry->count > KYMO_PSK_IDENTITY_BYTES) return "has an identity of more than 128 bytes";
    for (size_t place = 0; place < entry->count; place++)
        if (line[place] < 0x20 || line[place] == 0x7F) return "has a control character in its identity";
    return read_key(entry, line + colon, count - colon);
}

static const char *add(struct kymo_psk_keys *keys, size_t *room, struct entry entry) {
    if (keys->count == *room) {
        size_t more = *room ? *room * 2 : 64;
        struct entry *entries = realloc(keys->entries, more * sizeof *entries);
        if (!entries) return "does not fit into memory";
        keys->entries = entries;
        *room = more;
    }
    keys->entries[keys->count++] = entry;
    return NULL;
}

/// Reads the text; what is wrong with it, or null.
static const char *parse(struct kymo_psk_keys *keys, int *line) {
    size_t room = 0;
    const char *fault = NULL;
    for (size_t start = 0; start < keys->size && !fault;) {
        uint8_t *text = keys->text + start;
        uint8_t *end = memchr(text, '\n', keys->size - start);
        size_t count = end ? (size_t)(end - text) : keys->size - start;
        start += count + 1;
        ++*line;
        if (count && text[count - 1] == '\r') count--;
        if (count == 0 || text[0] == '#') continue;
        struct entry entry = {.line = *line};
        fault = read_line(&entry, text, count);
        if (!fault) fault = add(keys, &room, entry);
    }
    if (fault) return fault;
    *line = 0;
    if (keys->count == 0) return "holds no key";
    qsort(keys->entries, keys->count, sizeof *keys->entries, compare);
    for (size_t place = 1; place < keys->count; place++) {
        const struct entry *one = &keys->entries[place - 1], *other = &keys->entries[place];
        if (compare(one, other)) continue;
        *line = one->line > other->line ? one->line : other->line;
        return "repeats the identity of another line";
    }
    return NULL;
}

/// Fills `keys->text` from `file`; what is wrong with it, or null.
static const char *read_text(struct kymo_psk_keys *keys, int file) {
    struct stat status;
    if (fstat(file, &status) < 0) return "cannot be read";
    if (status.st_size == 0) return "holds no key";
    if (status.st_size > most_bytes) return "is longer than 8 MiB";
    keys->size = (size_t)status.st_size;
    keys->text = kymo_locked(keys->size);
    if (!keys->text) return "does not fit into memory";
    size_t count = 0;
    while (count < keys->size) {
        ssize_t size = read(file, keys->text + count, keys->size - count);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return "cannot be read";
        count += (size_t)size;
    }
    return NULL;
}

struct kymo_psk_keys *kymo_psk_read(int file, int *line, const char **fault) {
    *line = 0;
    struct kymo_psk_keys *keys = calloc(1, sizeof *keys);
    *fault = keys ? read_text(keys, file) : "does not fit into memory";
    if (!*fault) *fault = parse(keys, line);
    if (!*fault) return keys;
    kymo_psk_free(keys);
    return NULL;
}

void kymo_psk_free(struct kymo_psk_keys *keys) {
    if (!keys) return;
    kymo_unlocked(keys->text, keys->size);
    free(keys->entries);
    free(keys);
}

int kymo_psk_count(const struct kymo_psk_keys *keys) { return (int)keys->count; }

static const struct entry *find(const struct kymo_psk_keys *keys, const uint8_t *identity, size_t count) {
    struct entry wanted = {.identity = identity, .count = count};
    return bsearch(&wanted, keys->entries, keys->count, sizeof wanted, compare);
}

int kymo_psk_has(const struct kymo_psk_keys *keys, const uint8_t *identity, size_t count) {
    return find(keys, identity, count) != NULL;
}

size_t kymo_psk_find(const struct kymo_psk_keys *keys, const char *identity, size_t count, uint8_t *key, size_t room) {
    const struct entry *found = find(keys, (const uint8_t *)identity, count);
    if (!found || found->key_count > room) return 0;
    memcpy(key, found->key, found->key_count);
    return found->key_count;
}

int kymo_psk_agree(
    const struct kymo_psk_keys *keys, const struct kymo_psk_keys *others, const uint8_t *identity, size_t count) {
    const struct entry *one = find(keys, identity, count), *other = find(others, identity, count);
    return one && other && one->key_count == other->key_count && !CRYPTO_memcmp(one->key, other->key, one->key_count);
}
