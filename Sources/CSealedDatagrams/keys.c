#include "keys.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CSeal.h"

// The file lies in locked memory as it is, and its digits become the keys where they are.

enum { most_bytes = 8 << 20 };

static int digit(uint8_t character) {
    if (character >= '0' && character <= '9') return character - '0';
    if (character >= 'a' && character <= 'f') return character - 'a' + 10;
    if (character >= 'A' && character <= 'F') return character - 'A' + 10;
    return -1;
}

/// The place of the first of `count` characters that is no hexadecimal digit; `count` when all are.
static size_t first_other(const uint8_t *text, size_t count) {
    size_t place = 0;
    while (place < count && digit(text[place]) >= 0) place++;
    return place;
}

/// What is wrong with `text` in column `at`, from 0.
static struct kymo_sealed_fault at(size_t at, const char *text) {
    return (struct kymo_sealed_fault){.text = text, .column = (int)at + 1};
}

/// Reads the name that begins at `start` of a line.
static struct kymo_sealed_fault read_name(struct entry *entry, const uint8_t *line, size_t start, size_t count) {
    entry->name = line + start;
    entry->name_count = count - start;
    if (entry->name_count == 0) return at(start, "has no name after the second ':'");
    if (entry->name_count > KYMO_SEALED_NAME_BYTES) return at(start, "has a name of more than 128 bytes");
    for (size_t place = start; place < count; place++)
        if (line[place] < 0x20 || line[place] == 0x7F || line[place] == ',')
            return at(place, "has a comma or control character in its name");
    // Keys without a name are called so.
    int is_id = entry->name_count == id_digits && first_other(line + start, id_digits) == id_digits;
    return at(start, is_id ? "has a name of 8 hexadecimal digits, which may be the id of another key" : NULL);
}

/// Reads the digits of the key, which become its bytes.
static struct kymo_sealed_fault read_key(struct entry *entry, uint8_t *line, size_t count) {
    uint8_t *digits = line + id_digits + 1, any = 0;
    size_t there = count - id_digits - 1;
    size_t good = first_other(digits, there < key_digits ? there : key_digits);
    if (good < key_digits || (there > key_digits && digits[key_digits] != ':'))
        return at(id_digits + 1 + good, "must have a key of 32 hexadecimal digits after the key id");
    for (int place = 0; place < key_bytes; place++) {
        digits[place] = (uint8_t)(digit(digits[2 * place]) << 4 | digit(digits[2 * place + 1]));
        any |= digits[place];
    }
    entry->key = digits;
    if (!any) return at(id_digits + 1, "has a key of zeros");
    size_t name = id_digits + 1 + key_digits + 1;
    return there > key_digits ? read_name(entry, line, name, count) : at(0, NULL);
}

/// Reads a line that is not empty.
static struct kymo_sealed_fault read_line(struct entry *entry, uint8_t *line, size_t count) {
    size_t good = first_other(line, count < id_digits ? count : id_digits);
    if (good < id_digits) return at(good, "must begin with a key id of 8 hexadecimal digits");
    if (count == id_digits || line[id_digits] != ':') return at(id_digits, "must have a ':' after 8 digits of key id");
    for (int place = 0; place < id_digits; place++) entry->id = entry->id << 4 | (uint32_t)digit(line[place]);
    return read_key(entry, line, count);
}

static const char *add(struct kymo_sealed_keys *keys, size_t *room, struct entry entry) {
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

static int by_id(const void *one, const void *other) {
    uint32_t left = ((const struct entry *)one)->id, right = ((const struct entry *)other)->id;
    return (left > right) - (left < right);
}

static int by_key(const void *one, const void *other) {
    return memcmp(((const struct entry *)one)->key, ((const struct entry *)other)->key, key_bytes);
}

/// Sorts by `order`; what is wrong when two are alike.
static struct kymo_sealed_fault sort(
    struct kymo_sealed_keys *keys, int (*order)(const void *, const void *), size_t column, const char *text) {
    qsort(keys->entries, keys->count, sizeof *keys->entries, order);
    struct kymo_sealed_fault fault = at(column, NULL);
    for (size_t place = 1; place < keys->count; place++) {
        const struct entry *one = &keys->entries[place - 1], *other = &keys->entries[place];
        int line = one->line > other->line ? one->line : other->line;
        if (order(one, other) || (fault.text && fault.line < line)) continue;
        fault.text = text;
        fault.line = line;
    }
    return fault;
}

static struct kymo_sealed_fault parse(struct kymo_sealed_keys *keys) {
    size_t room = 0;
    int number = 0;
    for (size_t start = 0; start < keys->size;) {
        uint8_t *text = keys->text + start;
        uint8_t *end = memchr(text, '\n', keys->size - start);
        size_t count = end ? (size_t)(end - text) : keys->size - start;
        start += count + 1;
        number++;
        // A file that is being written may end within a name, or before it.
        if (!end)
            return (struct kymo_sealed_fault){
                .text = "is the last one and not complete: end it with a line break",
                .line = number,
                .column = (int)count + 1};
        if (count && text[count - 1] == '\r') count--;
        if (count == 0 || text[0] == '#') continue;
        struct entry entry = {.line = number};
        struct kymo_sealed_fault fault = read_line(&entry, text, count);
        if (!fault.text) fault.text = add(keys, &room, entry);
        fault.line = number;
        if (fault.text) return fault;
    }
    if (keys->count == 0) return at(0, NULL);
    struct kymo_sealed_fault fault = sort(keys, by_key, id_digits + 1, "repeats the key of another line");
    return fault.text ? fault : sort(keys, by_id, 0, "repeats the key id of another line");
}

/// Fills `keys->text` from `file`; what is wrong with it, or null.
static const char *read_text(struct kymo_sealed_keys *keys, int file) {
    struct stat status;
    if (fstat(file, &status) < 0) return "cannot be read";
    if (status.st_size == 0) return NULL;
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

struct kymo_sealed_keys *kymo_datagram_keys_read(int file, struct kymo_sealed_fault *fault) {
    struct kymo_sealed_keys *keys = calloc(1, sizeof *keys);
    *fault = (struct kymo_sealed_fault){.text = keys ? read_text(keys, file) : "does not fit into memory"};
    if (!fault->text) {
        keys->present = -1;
        keys->context = EVP_CIPHER_CTX_new();
        int has_cipher = keys->context && EVP_DecryptInit_ex(keys->context, EVP_aes_128_gcm(), 0, 0, 0) == 1;
        *fault = has_cipher ? parse(keys) : (struct kymo_sealed_fault){.text = "needs AES-128-GCM, and OpenSSL has none"};
    }
    if (!fault->text) return keys;
    kymo_datagram_keys_free(keys);
    return NULL;
}

void kymo_datagram_keys_free(struct kymo_sealed_keys *keys) {
    if (!keys) return;
    // Wipes the schedule of the key that it has.
    EVP_CIPHER_CTX_free(keys->context);
    kymo_unlocked(keys->text, keys->size);
    free(keys->entries);
    free(keys);
}

int kymo_datagram_keys_count(const struct kymo_sealed_keys *keys) { return (int)keys->count; }

int kymo_datagram_keys_find(const struct kymo_sealed_keys *keys, uint32_t id) {
    struct entry wanted = {.id = id};
    if (keys->count == 0) return -1;
    const struct entry *found = bsearch(&wanted, keys->entries, keys->count, sizeof wanted, by_id);
    return found ? (int)(found - keys->entries) : -1;
}

uint32_t kymo_datagram_keys_id(const struct kymo_sealed_keys *keys, int place) { return keys->entries[place].id; }

int kymo_datagram_keys_line(const struct kymo_sealed_keys *keys, int place) { return keys->entries[place].line; }

const uint8_t *kymo_datagram_keys_name(const struct kymo_sealed_keys *keys, int place, size_t *count) {
    *count = keys->entries[place].name_count;
    return keys->entries[place].name;
}

void kymo_datagram_keys_print(const struct kymo_sealed_keys *keys, int place, uint8_t print[KYMO_SEALED_PRINT_BYTES]) {
    static const char purpose[] = "kymo sealed datagrams";
    const struct entry *entry = &keys->entries[place];
    uint8_t text[sizeof purpose + 4 + key_bytes], digest[SHA256_DIGEST_LENGTH];
    memcpy(text, purpose, sizeof purpose);
    for (size_t byte = 0; byte < 4; byte++)
        text[sizeof purpose + byte] = (uint8_t)(entry->id >> (24 - 8 * byte));
    memcpy(text + sizeof purpose + 4, entry->key, key_bytes);
    SHA256(text, sizeof text, digest);
    memcpy(print, digest, KYMO_SEALED_PRINT_BYTES);
    OPENSSL_cleanse(text, sizeof text);
}
