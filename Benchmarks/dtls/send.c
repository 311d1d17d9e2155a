// send plain|dtls|sealed FILE SIZE PORT RATE [ID KEY]: the datagrams of FILE, SIZE bytes each, to 127.0.0.1:PORT, RATE a
// second: as they are, by DTLS with a pre-shared key, or sealed. ID and KEY are those of the key, KEY in hexadecimal
// digits; of sealed ones, ID is a count of keys, which take turns: each is KEY but for its last four bytes, which are its
// id, from 1. They are sealed before the first is sent. Prints how many were sent, and in how many seconds.
// send hold COUNT PORT ID KEY: COUNT associations, each of which sends one datagram. Prints `held`, and ends with its
// input.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kymo_seal.h"

static const char *identity, *digits;

static unsigned give_key(
    SSL *connection, const char *hint, char *name, unsigned room, unsigned char *key, unsigned key_room) {
    (void)connection, (void)hint;
    unsigned count = (unsigned)strlen(digits) / 2;
    if (strlen(identity) >= room || count > key_room) return 0;
    strcpy(name, identity);
    for (unsigned place = 0; place < count; place++) sscanf(digits + 2 * place, "%2hhx", key + place);
    return count;
}

static int stop(const char *what) {
    perror(what);
    return 1;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/// An association at the socket, after its handshake; null when there is none.
static SSL *associate(int fd, struct sockaddr_in *address) {
    static SSL_CTX *context;
    if (!context) {
        context = SSL_CTX_new(DTLS_client_method());
        SSL_CTX_set_psk_client_callback(context, give_key);
        SSL_CTX_set_cipher_list(context, "PSK-AES128-GCM-SHA256");
    }
    SSL *connection = SSL_new(context);
    BIO *bio = BIO_new_dgram(fd, BIO_NOCLOSE);
    BIO_ctrl(bio, BIO_CTRL_DGRAM_SET_CONNECTED, 0, address);
    SSL_set_bio(connection, bio, bio);
    return SSL_connect(connection) == 1 ? connection : NULL;
}

static struct sockaddr_in local(const char *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int hold(int count, const char *port) {
    struct sockaddr_in address = local(port);
    struct rlimit most = {(rlim_t)count + 64, (rlim_t)count + 64};
    if (setrlimit(RLIMIT_NOFILE, &most) < 0) return stop("setrlimit");
    for (int place = 0; place < count; place++) {
        int fd = socket(AF_INET, SOCK_DGRAM, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0) return stop("connect");
        SSL *connection = associate(fd, &address);
        if (!connection) return stop("there is no association");
        SSL_write(connection, "{}", 2);
        SSL_free_buffers(connection);
    }
    printf("held\n");
    fflush(stdout);
    return getchar() == EOF ? 0 : 1;
}

/// `total` datagrams of `size` bytes, sealed by `count` keys in turn: each of `size + KYMO_SEAL_EXTRA_BYTES` bytes.
static char *seal_all(const char *bytes, long total, int size, unsigned count) {
    size_t length = (size_t)size + KYMO_SEAL_EXTRA_BYTES;
    uint8_t key[KYMO_SEAL_KEY_BYTES] = {0}, *sealed = malloc(length * (size_t)total);
    for (int place = 0; place < KYMO_SEAL_KEY_BYTES; place++) sscanf(digits + 2 * place, "%2hhx", key + place);
    for (long number = 0; sealed && number < total; number++) {
        uint32_t id = (uint32_t)(number % count) + 1;
        for (int byte = 0; byte < 4; byte++) key[KYMO_SEAL_KEY_BYTES - 1 - byte] = (uint8_t)(id >> 8 * byte);
        const uint8_t *payload = (const uint8_t *)bytes + number * size;
        uint8_t *place = sealed + (size_t)number * length;
        if (kymo_seal_datagram(id, key, (uint64_t)(number / count), payload, (size_t)size, place, length) < 0) return 0;
    }
    return (char *)sealed;
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "hold") == 0) {
        identity = argv[4];
        digits = argv[5];
        return hold(atoi(argv[2]), argv[3]);
    }
    if (argc < 6) return fprintf(stderr, "usage: send plain|dtls|sealed FILE SIZE PORT RATE [ID KEY]\n"), 2;
    int file = open(argv[2], O_RDONLY), size = atoi(argv[3]), is_dtls = strcmp(argv[1], "dtls") == 0;
    double rate = atof(argv[5]);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) < 0) return stop(argv[2]);
    long total = facts.st_size / size;
    char *bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (bytes == MAP_FAILED) return stop("mmap");
    struct sockaddr_in address = local(argv[4]);
    int fd = socket(AF_INET, SOCK_DGRAM, 0), room = 4 << 20;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) return stop("connect");
    identity = argc > 6 ? argv[6] : "";
    digits = argc > 7 ? argv[7] : "";
    SSL *connection = is_dtls ? associate(fd, &address) : NULL;
    if (is_dtls && !connection) return stop("there is no association");
    if (strcmp(argv[1], "sealed") == 0) {
        bytes = seal_all(bytes, total, size, (unsigned)atoi(identity));
        if (!bytes) return stop("seal");
        size += KYMO_SEAL_EXTRA_BYTES;
    }
    prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
    double begun = now();
    for (long sent = 0; sent < total; sent++) {
        const char *datagram = bytes + sent * size;
        if (connection) SSL_write(connection, datagram, size);
        else while (send(fd, datagram, (size_t)size, 0) < 0 && errno == ENOBUFS) usleep(50);
        double ahead = begun + sent / rate - now();
        if (ahead <= 20e-6) continue;
        // No spinning: the receiver may need the processor.
        struct timespec rest = {0, (long)(ahead * 1e9)};
        nanosleep(&rest, NULL);
    }
    double seconds = now() - begun;
    if (connection) SSL_shutdown(connection);
    printf("sent %ld in %.3f s\n", total, seconds);
    return 0;
}
