#include <openssl/ssl.h>

#include "association.h"

// OpenSSL 3.0 ends an association by a record without its key: one that is shorter than what its cipher adds to the
// data (openssl #25290), or of an unknown type (#25840). Where it drops a record by its head alone, it takes the body
// for further records. So it gets the records of a datagram up to the first that no client sends, and nothing behind.

enum { nonce_bytes = 8, tag_bytes = 16, short_tag_bytes = 8 };
/// Encrypted messages that a handshake may get before it is done. OpenSSL before 3.0.22 keeps each of the next epoch,
/// in a buffer of 16 KiB, until there is a key.
enum { most_early = 8 };

/// What the cipher of `connection` adds to the data of a record, at least.
static size_t overhead(const SSL *connection) {
    const SSL_CIPHER *cipher = SSL_get_current_cipher(connection);
    int is_short = cipher && SSL_CIPHER_get_cipher_nid(cipher) == NID_aes_128_ccm;
    return nonce_bytes + (is_short ? short_tag_bytes : tag_bytes);
}

/// Longest body of a record, which a client may have asked to be shorter (RFC 6066, section 4).
static size_t longest(const SSL *connection) {
    const SSL_SESSION *session = SSL_get0_session(connection);
    int code = session ? SSL_SESSION_get_max_fragment_length(session) : 0;
    return (code ? 256u << code : KYMO_DTLS_PLAIN_BYTES) + nonce_bytes + tag_bytes;
}

static int is_sound(const SSL *connection, const uint8_t *record, size_t length) {
    int type = record[0], is_sealed = record[3] || record[4];
    // There is one key, since nobody agrees on another; OpenSSL keeps what may be of a later one.
    if (record[3] || record[4] > 1) return 0;
    if (type < SSL3_RT_CHANGE_CIPHER_SPEC || type > SSL3_RT_APPLICATION_DATA || length > longest(connection)) return 0;
    // OpenSSL takes an alert of every version, and the rest of a ClientHello that came in fragments: its records may
    // still say 1.0 (RFC 6347, section 4.2.1). Nothing else.
    int is_hello = type == SSL3_RT_HANDSHAKE && !is_sealed && SSL_get_state(connection) == TLS_ST_BEFORE;
    if (record[1] != 0xFE || (record[2] != 0xFD && type != SSL3_RT_ALERT && !(is_hello && record[2] == 0xFF))) return 0;
    return is_sealed ? length >= overhead(connection) : type != SSL3_RT_APPLICATION_DATA;
}

/// Whether OpenSSL would keep the record until there is a key. Behind the ChangeCipherSpec there is one, and what is
/// forged is dropped: if it counted then, it would keep out the client's own Finished.
static int is_early(const SSL *connection, const uint8_t *record) {
    int is_sealed = record[3] || record[4];
    int has_key = SSL_is_init_finished(connection) || SSL_get_state(connection) == TLS_ST_SR_CHANGE;
    return is_sealed && record[0] != SSL3_RT_APPLICATION_DATA && !has_key;
}

enum kymo_dtls_cut kymo_dtls_give(struct kymo_dtls *one, const uint8_t *datagram, size_t count) {
    enum kymo_dtls_cut cut = KYMO_DTLS_WHOLE;
    size_t place = 0;
    while (place < count && cut == KYMO_DTLS_WHOLE) {
        const uint8_t *record = datagram + place;
        size_t left = count - place;
        size_t length = left < KYMO_DTLS_HEAD_BYTES ? 0 : (size_t)(record[11] << 8 | record[12]);
        if (left < KYMO_DTLS_HEAD_BYTES + length || !is_sound(one->connection, record, length)) {
            cut = KYMO_DTLS_BAD_RECORD;
        } else if (is_early(one->connection, record) && ++one->early > most_early) {
            cut = KYMO_DTLS_EARLY_RECORD;
        } else {
            place += KYMO_DTLS_HEAD_BYTES + length;
        }
    }
    one->datagram = place > 0 ? datagram : NULL;
    one->count = place;
    return cut;
}
