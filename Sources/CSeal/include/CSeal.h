#ifndef CSEAL_H
#define CSEAL_H

// Encryption of what a store keeps on the disk: AES-256-GCM by OpenSSL, with data keys that are wrapped (RFC 3394) by a
// key of the operator. C, because SQLite's VFS seals with it, and so that keys lie in memory that is locked and wiped.

#include <stddef.h>
#include <stdint.h>

#define KYMO_STORE_ID_BYTES 16
/// A data key, wrapped.
#define KYMO_WRAPPED_BYTES 40
/// What stands beside a sealed message: nonce 12, tag 16, number of the data key 4 (little-endian).
#define KYMO_TRAILER_BYTES 32
#define KYMO_NONCE_BYTES 12
#define KYMO_TAG_BYTES 16
/// Most data keys of a store, so that all are in one locked page of memory.
#define KYMO_RING_KEYS 112

/// A key-encryption key of 32 bytes, in locked memory that no core dump has.
struct kymo_secret;
/// The data keys of a store. One lives as long as the process: files may be open that use it.
struct kymo_ring;
/// Seals and opens for one thread at a time.
struct kymo_sealer;

/// Bytes that cannot be guessed; 1 when there are.
int kymo_random(uint8_t *bytes, size_t count);

/// Memory of zeros that is neither swapped nor dumped; null without memory.
void *kymo_locked(size_t size);
/// Wipes and gives back such memory.
void kymo_unlocked(void *memory, size_t size);

/// A file in memory with `count` bytes, to be read from its beginning: its descriptor, or a negative errno.
int kymo_memory_file(const uint8_t *bytes, size_t count);

/// Reads a key of 32 bytes or of 64 hexadecimal digits, and perhaps a line feed, from an open file. Null when the file
/// holds something else, or cannot be read.
struct kymo_secret *kymo_secret_read(int file);
/// Writes a new key, as 64 hexadecimal digits and a line feed, to an open file; 1 when that is done.
int kymo_secret_write_new(int file);
/// Wipes a key.
void kymo_secret_free(struct kymo_secret *secret);
/// HMAC-SHA-256 of `message` by a key that is derived from `secret`.
void kymo_secret_code(const struct kymo_secret *secret, const uint8_t *message, size_t count, uint8_t code[32]);

/// A ring without keys; null without memory.
struct kymo_ring *kymo_ring_new(const uint8_t store[KYMO_STORE_ID_BYTES]);
/// Wipes a ring that nothing uses and that is in no place.
void kymo_ring_free(struct kymo_ring *ring);
/// Adds a data key, which may be there already: 1; 0 when `secret` is not what wrapped it, or there is no room.
int kymo_ring_add(struct kymo_ring *ring, const struct kymo_secret *secret, uint32_t id, const uint8_t *wrapped);
/// Seals with the data key `id` from now on: 1; 0 when it was not added.
int kymo_ring_use(struct kymo_ring *ring, uint32_t id);
/// Whether the data key `id` was added.
int kymo_ring_has(const struct kymo_ring *ring, uint32_t id);
/// Makes a data key, and wraps it, without adding it; 1 when that is done.
int kymo_ring_make(const struct kymo_secret *secret, uint8_t wrapped[KYMO_WRAPPED_BYTES]);
/// Wraps the data key `id` with another secret; 1 when that is done.
int kymo_ring_wrap(
    const struct kymo_ring *ring, const struct kymo_secret *secret, uint32_t id, uint8_t wrapped[KYMO_WRAPPED_BYTES]);
/// Lets `count` more messages be sealed. None may be at first.
void kymo_ring_allow(struct kymo_ring *ring, int64_t count);
/// How many messages may still be sealed.
int64_t kymo_ring_left(const struct kymo_ring *ring);

/// From now on, databases in the directory, which is named by its device and inode, are sealed with `ring`; null: are
/// plain. 1 when that is done.
int kymo_ring_place(struct kymo_ring *ring, uint64_t device, uint64_t inode);
/// The ring of the directory; null for none.
struct kymo_ring *kymo_ring_at(uint64_t device, uint64_t inode);
/// The ring of the directory that `path` is in; null for none.
struct kymo_ring *kymo_ring_of(const char *path);
/// Whether any directory has a ring.
int kymo_ring_any(void);

/// Null without memory.
struct kymo_sealer *kymo_sealer_new(struct kymo_ring *ring);
void kymo_sealer_free(struct kymo_sealer *sealer);
const uint8_t *kymo_sealer_store(const struct kymo_sealer *sealer);
const struct kymo_ring *kymo_sealer_ring(const struct kymo_sealer *sealer);

/// Encrypts `count` bytes of `plain` into `sealed`, and authenticates `extra` with them. 1 when that is done; 0 when no
/// more may be sealed, or OpenSSL fails.
int kymo_seal(
    struct kymo_sealer *sealer, const uint8_t *extra, size_t extra_count, const uint8_t *plain, size_t count,
    uint8_t *sealed, uint8_t trailer[KYMO_TRAILER_BYTES]);
/// Decrypts `count` bytes of `sealed` into `plain`, which may be the same. 1 when they and `extra` are as they were
/// sealed; else 0, and `plain` is zero.
int kymo_unseal(
    struct kymo_sealer *sealer, const uint8_t *extra, size_t extra_count, const uint8_t *sealed, size_t count,
    uint8_t *plain, const uint8_t trailer[KYMO_TRAILER_BYTES]);

#endif
