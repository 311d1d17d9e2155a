#ifndef CDATAGRAMTLS_H
#define CDATAGRAMTLS_H

// DTLS 1.2 of a server on one UDP socket, by OpenSSL. C, because OpenSSL asks for what it reads and writes by
// callbacks, and so that pre-shared keys lie in memory that is locked and wiped.

#include <stddef.h>
#include <stdint.h>

#include "CKymographLinux.h"

struct ssl_ctx_st;
struct ssl_st;

/// Longest identity of a pre-shared key.
#define KYMO_PSK_IDENTITY_BYTES 128
/// Longest payload of a record.
#define KYMO_DTLS_PLAIN_BYTES 16384
/// The head of a record.
#define KYMO_DTLS_HEAD_BYTES 13

/// Pre-shared keys by their identities, in locked memory that no core dump has.
struct kymo_psk_keys;

/// Reads lines `identity:key`, the key as hexadecimal digits, from an open file. Null when one is nothing of the kind:
/// `line` gets its number, 0 for the file as a whole, and `fault` what is wrong with it.
struct kymo_psk_keys *kymo_psk_read(int file, int *line, const char **fault);
/// How many there are.
int kymo_psk_count(const struct kymo_psk_keys *keys);
/// Whether one has exactly this identity.
int kymo_psk_has(const struct kymo_psk_keys *keys, const uint8_t *identity, size_t count);
/// Wipes keys that no context has.
void kymo_psk_free(struct kymo_psk_keys *keys);

/// Which ciphers a context may use.
enum kymo_dtls_ciphers {
    /// ECDHE with a certificate, and AES-GCM.
    KYMO_DTLS_CERTIFICATE = 1,
    /// A pre-shared key, and AES-GCM.
    KYMO_DTLS_PSK = 2,
    /// A pre-shared key, and AES-CCM with tags of 8 bytes.
    KYMO_DTLS_PSK_CCM8 = 4,
};

/// A context for servers: DTLS 1.2, no renegotiation, no compression, no resumption, with any of
/// `enum kymo_dtls_ciphers`. It takes over `keys`, which may be null. Null without memory; the keys are the caller's
/// then.
struct ssl_ctx_st *kymo_dtls_context(int ciphers, struct kymo_psk_keys *keys);

/// One client, or none yet.
struct kymo_dtls;

/// Why there is no DTLS with a client.
enum kymo_dtls_fault {
    /// It did not follow the protocol, or has no cipher that the context has.
    KYMO_DTLS_PROTOCOL,
    /// Its certificate is not good, or it has none.
    KYMO_DTLS_BAD_CERTIFICATE,
    /// The identity of its pre-shared key is none of the context's.
    KYMO_DTLS_BAD_IDENTITY,
    /// It has named a pre-shared key, and shown nothing that was sealed with it.
    KYMO_DTLS_BAD_KEY,
};

/// What waits for a client at `socket`; null without memory.
struct kymo_dtls *kymo_dtls_new(struct ssl_ctx_st *context, int socket);
void kymo_dtls_free(struct kymo_dtls *one);
/// OpenSSL's connection, as long as `one` lives.
struct ssl_st *kymo_dtls_connection(const struct kymo_dtls *one);

/// Whether the datagram begins with a ClientHello that is not encrypted; `random` gets its 32 random bytes.
int kymo_dtls_is_hello(const uint8_t *datagram, size_t count, uint8_t random[32]);
/// The epoch of the first record of a datagram, 0 before there is a key; -1 when it begins with no record of DTLS 1.2.
int kymo_dtls_epoch(const uint8_t *datagram, size_t count);

/// Gives a ClientHello, which has come from `sender` to `local`, to one that waits for a client. 1 when the sender has
/// received what was sent to its address before, and the handshake can go on; 0 when it has not, which leaves nothing
/// of it.
int kymo_dtls_listen(
    struct kymo_dtls *one, struct kymo_endpoint sender, struct kymo_endpoint local, const uint8_t *datagram,
    size_t count);

/// What was cut off a datagram that was given.
enum kymo_dtls_cut {
    KYMO_DTLS_WHOLE,
    /// From a record on that no client sends: too short for its cipher, too long, cut, of an unknown type or version.
    KYMO_DTLS_BAD_RECORD,
    /// From an encrypted message on, of which a handshake that is not done has had enough.
    KYMO_DTLS_EARLY_RECORD,
};
/// Gives a datagram, which must stay until ``kymo_dtls_establish`` or ``kymo_dtls_read`` has returned 0 or less.
enum kymo_dtls_cut kymo_dtls_give(struct kymo_dtls *one, const uint8_t *datagram, size_t count);
/// Goes on with the handshake: 1 when it is done, 0 when more has to come, -1 when it has failed.
int kymo_dtls_establish(struct kymo_dtls *one);
/// Sends again what was not answered in time, if it is time: -1 when that was too often.
int kymo_dtls_send_again(struct kymo_dtls *one);

/// What ``kymo_dtls_read`` gives when there is no more to come.
enum kymo_dtls_end {
    /// The client has ended it.
    KYMO_DTLS_ENDED = -1,
    /// OpenSSL has given up.
    KYMO_DTLS_FAILED = -2,
};
/// The next payload of the datagram that was given, to `plain`, which has room for ``KYMO_DTLS_PLAIN_BYTES``: its
/// length; 0 when there is none, or one of `enum kymo_dtls_end`.
int kymo_dtls_read(struct kymo_dtls *one, uint8_t *plain);
/// Tells the client that nothing more is read.
void kymo_dtls_end(struct kymo_dtls *one);

/// Why the handshake has failed, or has not come to its end.
enum kymo_dtls_fault kymo_dtls_fault(const struct kymo_dtls *one);
/// The same in OpenSSL's words.
const char *kymo_dtls_fault_text(const struct kymo_dtls *one);
/// The identity of the pre-shared key that an established client has shown, of `count` bytes; null for none.
const char *kymo_dtls_identity(const struct kymo_dtls *one, size_t *count);
/// When the client's certificate ends, or `with_authorities` the first of those by which it was found good in the
/// handshake, in seconds since 1970; the largest number without one.
int64_t kymo_dtls_good_until(const struct kymo_dtls *one, int with_authorities);
/// Why the key or certificate of an established client is not good any more by `context`; null when it is.
const char *kymo_dtls_withdrawn(const struct kymo_dtls *one, struct ssl_ctx_st *context);

#endif
