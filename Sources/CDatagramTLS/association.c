#include "association.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

enum { head_of_message = 12, version_bytes = 2, random_bytes = 32, link_bytes = 1280 };
// In a datagram whose first record is a handshake message.
enum { offset_of_fragment = 19 };

struct kymo_dtls *kymo_dtls_new(SSL_CTX *context, int socket) {
    struct kymo_dtls *one = calloc(1, sizeof *one);
    if (!one) return NULL;
    one->socket = socket;
    one->connection = SSL_new(context);
    BIO *bio = one->connection ? kymo_dtls_bio(one) : NULL;
    if (!bio) {
        kymo_dtls_free(one);
        return NULL;
    }
    SSL_set_app_data(one->connection, one);
    SSL_set_bio(one->connection, bio, bio);
    SSL_set_accept_state(one->connection);
    DTLS_set_link_mtu(one->connection, link_bytes);
    return one;
}

void kymo_dtls_free(struct kymo_dtls *one) {
    if (!one) return;
    SSL_free(one->connection);
    free(one);
}

SSL *kymo_dtls_connection(const struct kymo_dtls *one) { return one->connection; }

int kymo_dtls_epoch(const uint8_t *datagram, size_t count) {
    // Versions of records: FE FF in a ClientHello, before both sides know the other's (RFC 6347, section 4.2.1).
    if (count < KYMO_DTLS_HEAD_BYTES) return -1;
    if (datagram[0] < SSL3_RT_CHANGE_CIPHER_SPEC || datagram[0] > SSL3_RT_APPLICATION_DATA) return -1;
    if (datagram[1] != 0xFE || (datagram[2] != 0xFD && datagram[2] != 0xFF)) return -1;
    return datagram[3] << 8 | datagram[4];
}

int kymo_dtls_is_hello(const uint8_t *datagram, size_t count, uint8_t random[32]) {
    size_t start = KYMO_DTLS_HEAD_BYTES + head_of_message + version_bytes;
    if (kymo_dtls_epoch(datagram, count) != 0 || datagram[0] != SSL3_RT_HANDSHAKE) return 0;
    if (count < start + random_bytes || datagram[KYMO_DTLS_HEAD_BYTES] != SSL3_MT_CLIENT_HELLO) return 0;
    // The rest of a message that came in fragments is for the handshake that waits for it.
    if (datagram[offset_of_fragment] | datagram[offset_of_fragment + 1] | datagram[offset_of_fragment + 2]) return 0;
    memcpy(random, datagram + start, random_bytes);
    return 1;
}

int kymo_dtls_listen(
    struct kymo_dtls *one, struct kymo_endpoint sender, struct kymo_endpoint local, const uint8_t *datagram,
    size_t count) {
    one->sender = sender;
    one->local = local;
    one->datagram = count > 0 ? datagram : NULL;
    // One ClientHello, and one answer.
    one->count = count < KYMO_DTLS_PLAIN_BYTES ? count : KYMO_DTLS_PLAIN_BYTES;
    BIO_ADDR *address = BIO_ADDR_new();
    if (!address) return 0;
    ERR_clear_error();
    one->is_listening = 1;
    int result = DTLSv1_listen(one->connection, address);
    one->is_listening = 0;
    BIO_ADDR_free(address);
    ERR_clear_error();
    one->datagram = NULL;
    // It clears what is known of the link.
    DTLS_set_link_mtu(one->connection, link_bytes);
    return result > 0;
}

/// Whether a call that has failed may go on with the next datagram.
static int is_waiting(const struct kymo_dtls *one, int result) {
    int error = SSL_get_error(one->connection, result);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

int kymo_dtls_establish(struct kymo_dtls *one) {
    // One datagram may have several messages of the handshake.
    for (;;) {
        ERR_clear_error();
        int result = SSL_do_handshake(one->connection);
        if (result == 1) return 1;
        if (!is_waiting(one, result)) break;
        if (!one->datagram) return 0;
    }
    one->datagram = NULL;
    return -1;
}

int kymo_dtls_send_again(struct kymo_dtls *one) {
    ERR_clear_error();
    return DTLSv1_handle_timeout(one->connection);
}

int kymo_dtls_read(struct kymo_dtls *one, uint8_t *plain) {
    for (;;) {
        ERR_clear_error();
        size_t got = 0;
        int result = SSL_read_ex(one->connection, plain, KYMO_DTLS_PLAIN_BYTES, &got);
        // An empty record is no payload: clients send some to keep an address (RFC 5246, section 6.2.1).
        if (result == 1 && got == 0) continue;
        if (result == 1) return (int)got;
        // An alert of the client, which it has sealed.
        int has_ended = SSL_get_shutdown(one->connection) & SSL_RECEIVED_SHUTDOWN;
        int goes_on = is_waiting(one, result) && !has_ended;
        // What is not of this client, or was changed on the way, changes nothing.
        if (goes_on && one->datagram) continue;
        one->datagram = NULL;
        // Most associations are silent most of the time: OpenSSL makes its buffers again for the next datagram.
        SSL_free_buffers(one->connection);
        if (goes_on) return 0;
        return has_ended ? KYMO_DTLS_ENDED : KYMO_DTLS_FAILED;
    }
}

void kymo_dtls_end(struct kymo_dtls *one) {
    ERR_clear_error();
    one->datagram = NULL;
    if (SSL_alloc_buffers(one->connection)) SSL_shutdown(one->connection);
    ERR_clear_error();
}

enum kymo_dtls_fault kymo_dtls_fault(const struct kymo_dtls *one) {
    if (one->is_unknown) return KYMO_DTLS_BAD_IDENTITY;
    if (one->has_key) return KYMO_DTLS_BAD_KEY;
    int reason = ERR_GET_REASON(ERR_peek_last_error());
    if (SSL_get_verify_result(one->connection) != X509_V_OK || reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
        return KYMO_DTLS_BAD_CERTIFICATE;
    return KYMO_DTLS_PROTOCOL;
}

const char *kymo_dtls_fault_text(const struct kymo_dtls *one) {
    if (one->is_unknown) return "the identity of its pre-shared key is unknown";
    if (one->has_key) return "its pre-shared key does not match its identity";
    long verdict = SSL_get_verify_result(one->connection);
    if (verdict != X509_V_OK) return X509_verify_cert_error_string(verdict);
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason ? reason : "the handshake was aborted";
}

const char *kymo_dtls_identity(const struct kymo_dtls *one, size_t *count) {
    const char *identity = SSL_get_psk_identity(one->connection);
    *count = identity ? strlen(identity) : 0;
    return identity;
}
