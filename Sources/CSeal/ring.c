#include "secret.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ring.h"

// MARK: Data keys

struct kymo_ring *kymo_ring_new(const uint8_t store[KYMO_STORE_ID_BYTES]) {
    struct kymo_ring *ring = kymo_locked(sizeof *ring);
    if (!ring) return 0;
    memcpy(ring->store, store, KYMO_STORE_ID_BYTES);
    atomic_store(&ring->current, -1);
    return ring;
}

void kymo_ring_free(struct kymo_ring *ring) { kymo_unlocked(ring, sizeof *ring); }

int kymo_ring_index(const struct kymo_ring *ring, uint32_t id) {
    for (int index = atomic_load(&ring->count) - 1; index >= 0; index--)
        if (ring->keys[index].id == id) return index;
    return -1;
}

/// AES key wrap (RFC 3394) of a data key, or its inverse. 1 when it is done, and what is unwrapped is whole.
static int wrap(int is_wrapping, const struct kymo_secret *secret, const uint8_t *input, uint8_t *output) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (!context) return 0;
    int in = is_wrapping ? key_bytes : KYMO_WRAPPED_BYTES, out = is_wrapping ? KYMO_WRAPPED_BYTES : key_bytes;
    // OpenSSL may use the block beyond.
    uint8_t room[KYMO_WRAPPED_BYTES + 16];
    int size = 0, rest = 0;
    EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    int is_done = EVP_CipherInit_ex(context, EVP_aes_256_wrap(), 0, secret->bytes, 0, is_wrapping) == 1 &&
                  EVP_CipherUpdate(context, room, &size, input, in) == 1 &&
                  EVP_CipherFinal_ex(context, room + size, &rest) == 1 && size + rest == out;
    if (is_done) memcpy(output, room, (size_t)out);
    OPENSSL_cleanse(room, sizeof room);
    EVP_CIPHER_CTX_free(context);
    return is_done;
}

int kymo_ring_add(struct kymo_ring *ring, const struct kymo_secret *secret, uint32_t id, const uint8_t *wrapped) {
    int index = kymo_ring_index(ring, id);
    if (index < 0) {
        index = atomic_load(&ring->count);
        if (index == KYMO_RING_KEYS || !wrap(0, secret, wrapped, ring->keys[index].bytes)) return 0;
        ring->keys[index].id = id;
        // Whoever sees the number sees the key.
        atomic_store(&ring->count, index + 1);
    } else {
        uint8_t key[key_bytes];
        int is_same = wrap(0, secret, wrapped, key) && CRYPTO_memcmp(key, ring->keys[index].bytes, key_bytes) == 0;
        OPENSSL_cleanse(key, sizeof key);
        if (!is_same) return 0;
    }
    return 1;
}

int kymo_ring_use(struct kymo_ring *ring, uint32_t id) {
    int index = kymo_ring_index(ring, id);
    if (index >= 0) atomic_store(&ring->current, index);
    return index >= 0;
}

int kymo_ring_has(const struct kymo_ring *ring, uint32_t id) { return kymo_ring_index(ring, id) >= 0; }

int kymo_ring_make(const struct kymo_secret *secret, uint8_t wrapped[KYMO_WRAPPED_BYTES]) {
    uint8_t key[key_bytes];
    int is_done = RAND_priv_bytes(key, sizeof key) == 1 && wrap(1, secret, key, wrapped);
    OPENSSL_cleanse(key, sizeof key);
    return is_done;
}

int kymo_ring_wrap(
    const struct kymo_ring *ring, const struct kymo_secret *secret, uint32_t id, uint8_t wrapped[KYMO_WRAPPED_BYTES]) {
    int index = kymo_ring_index(ring, id);
    return index >= 0 && wrap(1, secret, ring->keys[index].bytes, wrapped);
}

void kymo_ring_allow(struct kymo_ring *ring, int64_t count) { atomic_fetch_add(&ring->left, count); }
int64_t kymo_ring_left(const struct kymo_ring *ring) { return atomic_load(&ring->left); }

// MARK: Places

struct place {
    uint64_t device, inode;
    struct kymo_ring *ring;
    struct place *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct place *places;
static atomic_int placed;

static struct place *find(uint64_t device, uint64_t inode) {
    struct place *place = places;
    while (place && (place->device != device || place->inode != inode)) place = place->next;
    return place;
}

int kymo_ring_place(struct kymo_ring *ring, uint64_t device, uint64_t inode) {
    pthread_mutex_lock(&lock);
    struct place *place = find(device, inode);
    if (!place && ring && (place = calloc(1, sizeof *place))) {
        *place = (struct place){device, inode, 0, places};
        places = place;
    }
    if (place) {
        atomic_fetch_add(&placed, (ring != 0) - (place->ring != 0));
        place->ring = ring;
    }
    pthread_mutex_unlock(&lock);
    return place || !ring;
}

struct kymo_ring *kymo_ring_at(uint64_t device, uint64_t inode) {
    pthread_mutex_lock(&lock);
    struct place *place = find(device, inode);
    struct kymo_ring *ring = place ? place->ring : 0;
    pthread_mutex_unlock(&lock);
    return ring;
}

struct kymo_ring *kymo_ring_of(const char *path) {
    if (!kymo_ring_any()) return 0;
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    struct stat status;
    int is_there = directory && stat(directory, &status) == 0;
    free(directory);
    return is_there ? kymo_ring_at(status.st_dev, status.st_ino) : 0;
}

int kymo_ring_any(void) { return atomic_load(&placed) > 0; }
