#ifndef CTESTDTLS_H
#define CTESTDTLS_H

// A client by DTLS 1.2, for tests: it waits for nothing.

#include <stddef.h>
#include <stdint.h>

struct test_dtls;

/// What a client is made of; what is null it does not have.
struct test_dtls_settings {
    const char *certificate;
    const char *certificate_key;
    const char *identity;
    const uint8_t *key;
    size_t key_count;
    const char *authority;
    const char *ciphers;
    /// Longest records that are asked for, as TLSEXT_max_fragment_length; 0 for any.
    uint8_t fragment;
};

/// A client at `socket`, which is connected; null when something of its settings cannot be used.
struct test_dtls *test_dtls_new(int socket, struct test_dtls_settings settings);
void test_dtls_free(struct test_dtls *client);
/// Goes on with the handshake, or looks what has come: 0 while it goes on, 1 while it is established, -1 when it has ended.
int test_dtls_advance(struct test_dtls *client);
/// Sends `bytes` as one record in one datagram.
void test_dtls_send(struct test_dtls *client, const uint8_t *bytes, size_t count);
/// Sends `bytes` to `socket` as they are.
void test_dtls_send_plain(int socket, const uint8_t *bytes, size_t count);
/// Sends a sealed record without data, as OpenSSL itself cannot: number `sequence`, which must be above those that were sent, by
/// less than 64. 0 when it cannot be made. Of connections with PSK-AES128-GCM-SHA256.
int test_dtls_send_empty(struct test_dtls *client, int socket, uint8_t sequence);
/// Tells the server that nothing more comes.
void test_dtls_end(struct test_dtls *client);

#endif
