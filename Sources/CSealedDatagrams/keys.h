#ifndef KYMO_SEALED_KEYS_H
#define KYMO_SEALED_KEYS_H

#include <openssl/evp.h>

#include "CSealedDatagrams.h"

enum { key_bytes = 16, id_digits = 8, key_digits = 2 * key_bytes };

struct entry {
    uint32_t id;
    int line;
    const uint8_t *key;
    const uint8_t *name;
    size_t name_count;
};

struct kymo_sealed_keys {
    uint8_t *text;
    size_t size;
    struct entry *entries;
    size_t count;
    /// Keeps its key from one datagram to the next, and which it is; null before the first.
    EVP_CIPHER_CTX *context;
    int present;
};

#endif
