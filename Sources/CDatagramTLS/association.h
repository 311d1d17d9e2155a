#ifndef KYMO_ASSOCIATION_H
#define KYMO_ASSOCIATION_H

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include "CDatagramTLS.h"

struct kymo_dtls {
    SSL *connection;
    int socket;
    struct kymo_endpoint sender;
    struct sockaddr_storage address;
    socklen_t address_length;
    /// What was given and not read yet.
    const uint8_t *datagram;
    size_t count;
    /// Whether a pre-shared key was asked for that is there.
    int has_key;
    /// Whether one was asked for that is not.
    int is_unknown;
    /// Whether the identity that it has sent has a zero byte, behind which OpenSSL does not look.
    int is_cut;
};

/// A BIO of `one`: reads what was given to it, and sends each write as a datagram of its own. Null without memory.
BIO *kymo_dtls_bio(struct kymo_dtls *one);

#endif
