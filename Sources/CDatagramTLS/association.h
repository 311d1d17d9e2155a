#ifndef KYMO_ASSOCIATION_H
#define KYMO_ASSOCIATION_H

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include "CDatagramTLS.h"

struct kymo_dtls {
    SSL *connection;
    int socket;
    struct kymo_endpoint sender;
    /// The local address that the sender has sent to.
    struct kymo_endpoint local;
    /// What was given and not read yet.
    const uint8_t *datagram;
    size_t count;
    /// Whether a pre-shared key was asked for that is there.
    int has_key;
    /// Whether one was asked for that is not.
    int is_unknown;
    /// Whether the identity that it has sent has a zero byte, behind which OpenSSL does not look.
    int is_cut;
    /// Encrypted messages of the handshake that were given before it was done.
    int early;
    /// Records without a key that OpenSSL has got since the client was known.
    uint32_t plain;
    /// Whether the datagram is a ClientHello of somebody who is not known.
    int is_listening;
};

/// A BIO of `one`: reads what was given to it, and sends each write as a datagram of its own. Null without memory.
BIO *kymo_dtls_bio(struct kymo_dtls *one);
/// The pre-shared keys of a context; null for none.
const struct kymo_psk_keys *kymo_dtls_keys(const SSL_CTX *context);

#endif
