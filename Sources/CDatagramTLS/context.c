#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

#include "association.h"
#include "cookie.h"
#include "keys.h"

/// Longest chain of certificates of a client: what is kept of a handshake that goes on.
enum { most_certificate_bytes = 16 << 10 };
/// What a record of ours has at most, so that it fits into 1,280 bytes with the heads of IPv6, UDP and its own. It is
/// also what each association has memory for.
enum { most_sent_bytes = 1280 - 48 - 13 - 24 };

static int key_index = -1;

/// Contexts are used by connections that may outlive whoever made them; so are their keys.
static void free_keys(void *parent, void *keys, CRYPTO_EX_DATA *data, int index, long number, void *place) {
    (void)parent, (void)data, (void)index, (void)number, (void)place;
    kymo_psk_free(keys);
}

static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;

static void make_index(void) { key_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_keys); }

const struct kymo_psk_keys *kymo_dtls_keys(const SSL_CTX *context) {
    return SSL_CTX_get_ex_data(context, key_index);
}

static int make_cookie(SSL *connection, unsigned char *cookie, unsigned *count) {
    const struct kymo_dtls *one = SSL_get_app_data(connection);
    *count = cookie_bytes;
    return kymo_cookie_make(one->sender, cookie);
}

static int check_cookie(SSL *connection, const unsigned char *cookie, unsigned count) {
    const struct kymo_dtls *one = SSL_get_app_data(connection);
    return kymo_cookie_is_good(one->sender, cookie, count);
}

static unsigned find_key(SSL *connection, const char *identity, unsigned char *key, unsigned room) {
    struct kymo_dtls *one = SSL_get_app_data(connection);
    const struct kymo_psk_keys *keys = kymo_dtls_keys(SSL_get_SSL_CTX(connection));
    size_t count = 0;
    if (keys && identity && !one->is_cut) count = kymo_psk_find(keys, identity, strlen(identity), key, room);
    *(count ? &one->has_key : &one->is_unknown) = 1;
    return (unsigned)count;
}

/// Looks at the ClientKeyExchange of a client with a pre-shared key (RFC 4279, section 2): OpenSSL takes an identity
/// with a zero byte for the one that ends there.
static void look(
    int is_sent, int version, int type, const void *bytes, size_t count, SSL *connection, void *argument) {
    (void)version, (void)argument;
    enum { head = 12, length = 2, key_exchange = 16 };
    const uint8_t *message = bytes;
    if (is_sent || type != SSL3_RT_HANDSHAKE || count < head + length || message[0] != key_exchange) return;
    const SSL_CIPHER *cipher = SSL_get_pending_cipher(connection);
    struct kymo_dtls *one = SSL_get_app_data(connection);
    if (!one || !cipher || SSL_CIPHER_get_kx_nid(cipher) != NID_kx_psk) return;
    one->is_cut = memchr(message + head + length, 0, count - head - length) != NULL;
}

static int set_ciphers(SSL_CTX *context, int ciphers) {
    static const char *const names[] = {
        "ECDHE+AESGCM", "PSK-AES128-GCM-SHA256:PSK-AES256-GCM-SHA384", "PSK-AES128-CCM8"};
    char list[512] = "";
    for (int place = 0; place < 3; place++) {
        if (!(ciphers & 1 << place)) continue;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ":" : "", names[place]);
    }
    return SSL_CTX_set_cipher_list(context, list);
}

SSL_CTX *kymo_dtls_context(int ciphers, struct kymo_psk_keys *keys) {
    if (!CRYPTO_THREAD_run_once(&once, make_index) || key_index < 0) return NULL;
    SSL_CTX *context = SSL_CTX_new(DTLS_server_method());
    if (!context) return NULL;
    SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION);
    SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION);
    SSL_CTX_set_options(
        context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET | SSL_OP_NO_QUERY_MTU
            | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_COOKIE_EXCHANGE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_send_fragment(context, most_sent_bytes);
    SSL_CTX_set_max_cert_list(context, most_certificate_bytes);
    SSL_CTX_set_cookie_generate_cb(context, make_cookie);
    SSL_CTX_set_cookie_verify_cb(context, check_cookie);
    if (!set_ciphers(context, ciphers) || (keys && !SSL_CTX_set_ex_data(context, key_index, keys))) {
        SSL_CTX_free(context);
        return NULL;
    }
    if (keys) {
        SSL_CTX_set_psk_server_callback(context, find_key);
        SSL_CTX_set_msg_callback(context, look);
    }
    return context;
}
