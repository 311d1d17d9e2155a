#ifndef CSEALEDDATAGRAMS_H
#define CSEALEDDATAGRAMS_H

// Sealed datagrams: `K1 | key id 4 | sequence 8 | AES-128-GCM | tag 16`, by OpenSSL. C, so that keys lie in memory that
// is locked and wiped, and so that a datagram is decrypted where it was received.

#include <stddef.h>
#include <stdint.h>

/// What stands before the encrypted payload: `K1`, the key id and the sequence number.
#define KYMO_SEALED_HEAD_BYTES 14
#define KYMO_SEALED_TAG_BYTES 16
/// What identifies a key of a key id, and tells nothing of it.
#define KYMO_SEALED_PRINT_BYTES 16
/// Longest name of a key.
#define KYMO_SEALED_NAME_BYTES 128

/// Keys by their ids, in locked memory that no core dump has, and what decrypts with them, for one thread at a time.
struct kymo_sealed_keys;

/// What is wrong with a file of keys.
struct kymo_sealed_fault {
    /// Null when nothing is.
    const char *text;
    /// From 1; 0 for the file as a whole.
    int line;
    int column;
};

/// Reads lines `key id:key` or `key id:key:name`, id and key as hexadecimal digits, from an open file, which may hold
/// none. Null when something is wrong, which `fault` says.
struct kymo_sealed_keys *kymo_datagram_keys_read(int file, struct kymo_sealed_fault *fault);
/// Wipes keys.
void kymo_datagram_keys_free(struct kymo_sealed_keys *keys);
/// How many there are.
int kymo_datagram_keys_count(const struct kymo_sealed_keys *keys);
/// The place of the key `id`, which is less than the count; -1 when there is none.
int kymo_datagram_keys_find(const struct kymo_sealed_keys *keys, uint32_t id);
/// The id of the key at `place`.
uint32_t kymo_datagram_keys_id(const struct kymo_sealed_keys *keys, int place);
/// The line of the key at `place`, from 1.
int kymo_datagram_keys_line(const struct kymo_sealed_keys *keys, int place);
/// The name of the key at `place`, of `count` bytes; null without one.
const uint8_t *kymo_datagram_keys_name(const struct kymo_sealed_keys *keys, int place, size_t *count);
/// What identifies the key at `place` together with its id.
void kymo_datagram_keys_print(const struct kymo_sealed_keys *keys, int place, uint8_t print[KYMO_SEALED_PRINT_BYTES]);

/// Decrypts the payload of `datagram`, of `count` bytes, where it is, by the key at `place`. 1 when the datagram is as
/// it was sealed. Else 0, and its bytes are as they came.
int kymo_datagram_open(struct kymo_sealed_keys *keys, int place, uint8_t *datagram, size_t count);

#endif
