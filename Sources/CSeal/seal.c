#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"

struct kymo_sealer {
    struct kymo_ring *ring;
    /// Contexts that keep their key from one message to the next, and which it is.
    EVP_CIPHER_CTX *seals, *opens;
    int sealing, opening;
};

struct kymo_sealer *kymo_sealer_new(struct kymo_ring *ring) {
    struct kymo_sealer *sealer = calloc(1, sizeof *sealer);
    if (!sealer) return 0;
    *sealer = (struct kymo_sealer){ring, EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_new(), -1, -1};
    if (sealer->seals && sealer->opens) return sealer;
    kymo_sealer_free(sealer);
    return 0;
}

void kymo_sealer_free(struct kymo_sealer *sealer) {
    if (!sealer) return;
    EVP_CIPHER_CTX_free(sealer->seals);
    EVP_CIPHER_CTX_free(sealer->opens);
    free(sealer);
}

const uint8_t *kymo_sealer_store(const struct kymo_sealer *sealer) { return sealer->ring->store; }
const struct kymo_ring *kymo_sealer_ring(const struct kymo_sealer *sealer) { return sealer->ring; }

/// Gives `context` the key `index`, unless it has it, and the nonce.
static int prepare(
    EVP_CIPHER_CTX *context, int *present, const struct kymo_ring *ring, int index, const uint8_t *nonce, int seals) {
    if (*present != index) {
        *present = -1;
        if (EVP_CipherInit_ex(context, EVP_aes_256_gcm(), 0, ring->keys[index].bytes, 0, seals) != 1) return 0;
        *present = index;
    }
    return EVP_CipherInit_ex(context, 0, 0, 0, nonce, seals) == 1;
}

/// Counts a message; 0 when none is left.
static int count_one(struct kymo_ring *ring) {
    if (atomic_fetch_sub(&ring->left, 1) > 0) return 1;
    atomic_fetch_add(&ring->left, 1);
    return 0;
}

int kymo_seal(
    struct kymo_sealer *sealer, const uint8_t *extra, size_t extra_count, const uint8_t *plain, size_t count,
    uint8_t *sealed, uint8_t trailer[KYMO_TRAILER_BYTES]) {
    struct kymo_ring *ring = sealer->ring;
    int index = atomic_load(&ring->current), size = 0;
    if (index < 0 || !count_one(ring)) return 0;
    // Of a random generator that knows of forks: a copy of a machine goes on with other ones.
    if (RAND_bytes(trailer, KYMO_NONCE_BYTES) != 1) return 0;
    EVP_CIPHER_CTX *context = sealer->seals;
    uint32_t id = ring->keys[index].id;
    for (int byte = 0; byte < 4; byte++)
        trailer[KYMO_NONCE_BYTES + KYMO_TAG_BYTES + byte] = (uint8_t)(id >> 8 * byte);
    return prepare(context, &sealer->sealing, ring, index, trailer, 1) &&
           EVP_EncryptUpdate(context, 0, &size, extra, (int)extra_count) == 1 &&
           EVP_EncryptUpdate(context, sealed, &size, plain, (int)count) == 1 &&
           EVP_EncryptFinal_ex(context, sealed + size, &size) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, KYMO_TAG_BYTES, trailer + KYMO_NONCE_BYTES) == 1;
}

int kymo_unseal(
    struct kymo_sealer *sealer, const uint8_t *extra, size_t extra_count, const uint8_t *sealed, size_t count,
    uint8_t *plain, const uint8_t trailer[KYMO_TRAILER_BYTES]) {
    const uint8_t *tag = trailer + KYMO_NONCE_BYTES, *number = tag + KYMO_TAG_BYTES;
    uint32_t id = (uint32_t)number[3] << 24 | (uint32_t)number[2] << 16 | (uint32_t)number[1] << 8 | number[0];
    int index = kymo_ring_index(sealer->ring, id), size = 0;
    EVP_CIPHER_CTX *context = sealer->opens;
    int is_whole = index >= 0 && prepare(context, &sealer->opening, sealer->ring, index, trailer, 0) &&
                   EVP_DecryptUpdate(context, 0, &size, extra, (int)extra_count) == 1 &&
                   EVP_DecryptUpdate(context, plain, &size, sealed, (int)count) == 1 &&
                   EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, KYMO_TAG_BYTES, (void *)tag) == 1 &&
                   EVP_DecryptFinal_ex(context, plain + size, &size) == 1;
    // Bytes that were not authenticated are nobody's.
    if (!is_whole) memset(plain, 0, count);
    return is_whole;
}
