#include "keys.h"

enum { magic_bytes = 2, nonce_bytes = 12 };

/// Gives the context the key at `place`, unless it has it, and the nonce. The cipher stays, which is most of the work; its
/// nonces are of 12 bytes when nothing else is said.
static int prepare(struct kymo_sealed_keys *keys, int place, const uint8_t *nonce, int seals) {
    const uint8_t *key = keys->present == place ? 0 : keys->entries[place].key;
    keys->present = -1;
    if (EVP_CipherInit_ex(keys->context, 0, 0, key, nonce, seals) != 1) return 0;
    keys->present = place;
    return 1;
}

/// Encrypts again what was decrypted and is not authentic.
static void restore(struct kymo_sealed_keys *keys, int place, const uint8_t *nonce, uint8_t *text, int count) {
    int size = 0;
    // Another direction needs the key anew.
    keys->present = -1;
    if (prepare(keys, place, nonce, 1)) EVP_EncryptUpdate(keys->context, text, &size, text, count);
    keys->present = -1;
}

int kymo_datagram_open(struct kymo_sealed_keys *keys, int place, uint8_t *datagram, size_t count) {
    if (count < KYMO_SEALED_HEAD_BYTES + KYMO_SEALED_TAG_BYTES || count > INT32_MAX) return 0;
    // Key id and sequence number: each once.
    const uint8_t *nonce = datagram + magic_bytes;
    uint8_t *text = datagram + KYMO_SEALED_HEAD_BYTES, *tag = datagram + count - KYMO_SEALED_TAG_BYTES;
    int length = (int)(tag - text), size = 0, has_text = 0;
    int is_whole = prepare(keys, place, nonce, 0) &&
                   EVP_DecryptUpdate(keys->context, 0, &size, datagram, KYMO_SEALED_HEAD_BYTES) == 1 &&
                   (has_text = EVP_DecryptUpdate(keys->context, text, &size, text, length)) == 1 &&
                   EVP_CIPHER_CTX_ctrl(keys->context, EVP_CTRL_AEAD_SET_TAG, KYMO_SEALED_TAG_BYTES, tag) == 1 &&
                   EVP_DecryptFinal_ex(keys->context, text + length, &size) == 1;
    if (!is_whole && has_text == 1) restore(keys, place, nonce, text, length);
    if (!is_whole) keys->present = -1;
    return is_whole;
}
