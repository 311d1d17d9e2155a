#ifndef KYMO_PSK_KEYS_H
#define KYMO_PSK_KEYS_H

#include "CDatagramTLS.h"

/// The key of an identity, to `key`, which has room for `room` bytes: its length, or 0 when there is none.
size_t kymo_psk_find(const struct kymo_psk_keys *keys, const char *identity, size_t count, uint8_t *key, size_t room);
/// Whether both have the identity, with the same key.
int kymo_psk_agree(
    const struct kymo_psk_keys *keys, const struct kymo_psk_keys *others, const uint8_t *identity, size_t count);

#endif
