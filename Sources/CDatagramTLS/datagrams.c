#include <netinet/in.h>
#include <pthread.h>
#include <string.h>

#include "association.h"

// OpenSSL's own BIO of datagrams wants a socket of each client, and its memory BIOs lose where a datagram ends.

/// What IPv6 carries without fragments everywhere (RFC 8200, section 5).
enum { link_bytes = 1280, head_of_ipv4 = 28, head_of_ipv6 = 48 };

/// How much of a datagram fits in `size` bytes: all of it, or the records that fit as a whole, 0 for none.
static size_t fitting(const uint8_t *datagram, size_t count, size_t size) {
    if (count <= size) return count;
    size_t place = 0;
    while (size - place >= KYMO_DTLS_HEAD_BYTES) {
        size_t length = KYMO_DTLS_HEAD_BYTES + (size_t)(datagram[place + 11] << 8 | datagram[place + 12]);
        if (length > size - place) break;
        place += length;
    }
    return place;
}

/// Numbers the records without a key in `count` bytes anew, behind all that a client has. Nothing seals their numbers:
/// one that was forged with a high number would have OpenSSL drop those of the client as old.
static void number(struct kymo_dtls *one, uint8_t *bytes, size_t count) {
    for (size_t place = 0; count - place >= KYMO_DTLS_HEAD_BYTES;) {
        uint8_t *record = bytes + place;
        size_t length = KYMO_DTLS_HEAD_BYTES + (size_t)(record[11] << 8 | record[12]);
        if (length > count - place) return;
        if (!record[3] && !record[4]) {
            uint64_t sequence = (uint64_t)1 << 40 | one->plain++;
            for (int byte = 0; byte < 6; byte++) record[5 + byte] = (uint8_t)(sequence >> (40 - 8 * byte));
        }
        place += length;
    }
}

static int read_datagram(BIO *bio, char *bytes, int size) {
    struct kymo_dtls *one = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (!one->datagram || size <= 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    // OpenSSL has room for one record of the longest, and would drop what is behind it in a datagram (up to 64 KiB). So
    // the rest is another datagram for it.
    size_t count = fitting(one->datagram, one->count, (size_t)size);
    if (count == 0) count = one->count = (size_t)size;
    memcpy(bytes, one->datagram, count);
    if (!one->is_listening) number(one, (uint8_t *)bytes, count);
    one->datagram = count < one->count ? one->datagram + count : NULL;
    one->count -= count;
    return (int)count;
}

static int write_datagram(BIO *bio, const char *bytes, int size) {
    struct kymo_dtls *one = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    // What is not sent is lost like any datagram: OpenSSL sends it again when it is not answered.
    kymo_udp_send(one->socket, bytes, (size_t)size, one->sender, one->local);
    return size;
}

static long head_bytes(const struct kymo_dtls *one) {
    return one->sender.family == AF_INET ? head_of_ipv4 : head_of_ipv6;
}

static long control(BIO *bio, int command, long number, void *place) {
    (void)place;
    struct kymo_dtls *one = BIO_get_data(bio);
    switch (command) {
    case BIO_CTRL_FLUSH: return 1;
    case BIO_CTRL_DGRAM_GET_MTU_OVERHEAD: return head_bytes(one);
    case BIO_CTRL_DGRAM_QUERY_MTU:
    case BIO_CTRL_DGRAM_GET_FALLBACK_MTU: return link_bytes - head_bytes(one);
    case BIO_CTRL_DGRAM_SET_MTU: return number;
    case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT: return 1;
    default: return 0;
    }
}

static int create(BIO *bio) {
    BIO_set_init(bio, 1);
    return 1;
}

static BIO_METHOD *method;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make_method(void) {
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams of kymo");
    if (!method) return;
    BIO_meth_set_read(method, read_datagram);
    BIO_meth_set_write(method, write_datagram);
    BIO_meth_set_ctrl(method, control);
    BIO_meth_set_create(method, create);
}

BIO *kymo_dtls_bio(struct kymo_dtls *one) {
    pthread_once(&made, make_method);
    BIO *bio = method ? BIO_new(method) : NULL;
    if (bio) BIO_set_data(bio, one);
    return bio;
}
