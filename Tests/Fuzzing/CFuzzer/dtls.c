#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CDatagramTLS.h"
#include "CFuzzer.h"
#include "CSeal.h"
#include "CTestDTLS.h"

// A server by DTLS, and a client that has its key, by sockets of this process. What is fuzzed comes from a stranger who
// sends with the client's address.

static struct ssl_ctx_st *context;
static int server = -1, client_socket = -1;
static struct kymo_endpoint sender, local;

static struct kymo_dtls *one;
static struct test_dtls *client;
static enum fuzz_dtls_stage stage;
static int has_ended;

static const uint8_t key[16] = "fuzz-key-16bytes";
static const char key_line[] = "device:66757a7a2d6b65792d31366279746573\n";

static int bound(struct sockaddr_in *address) {
    int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t length = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (file < 0 || bind(file, (struct sockaddr *)address, length) < 0) return -1;
    return getsockname(file, (struct sockaddr *)address, &length) < 0 ? -1 : file;
}

/// Makes what all inputs share; 0 when the system lacks something.
static int prepare(void) {
    if (context) return 1;
    struct sockaddr_in here, there;
    server = bound(&here);
    client_socket = bound(&there);
    if (server < 0 || client_socket < 0 || connect(client_socket, (struct sockaddr *)&here, sizeof here) < 0) return 0;
    struct sockaddr_storage from = {0};
    memcpy(&from, &there, sizeof there);
    sender = kymo_endpoint_of(&from, sizeof there);
    int file = kymo_memory_file((const uint8_t *)key_line, sizeof key_line - 1), line = 0;
    const char *fault = NULL;
    struct kymo_psk_keys *keys = file < 0 ? NULL : kymo_psk_read(file, &line, &fault);
    if (file >= 0) close(file);
    context = keys ? kymo_dtls_context(KYMO_DTLS_PSK, keys) : NULL;
    return context != NULL;
}

static void drain(int file) {
    uint8_t bytes[2048];
    while (recv(file, bytes, sizeof bytes, MSG_DONTWAIT) >= 0) {}
}

/// Has the client and the server say what they have to say; whether the handshake has come as far as is wanted.
static int shake(void) {
    uint8_t bytes[2048];
    int is_known = 0, is_done = 0;
    for (int round = 0; round < 20; round++) {
        int state = test_dtls_advance(client);
        if (is_done && state == 1) return 1;
        for (ssize_t count; (count = recv(server, bytes, sizeof bytes, MSG_DONTWAIT)) > 0;) {
            if (!is_known) is_known = kymo_dtls_listen(one, sender, local, bytes, (size_t)count);
            else kymo_dtls_give(one, bytes, (size_t)count);
            if (is_known && !is_done) is_done = kymo_dtls_establish(one) == 1;
        }
        if (is_known && stage == fuzz_dtls_shaking) return 1;
    }
    return 0;
}

const char *fuzz_dtls_begin(enum fuzz_dtls_stage wanted) {
    if (!prepare()) return "there is no server by DTLS";
    (stage = wanted, has_ended = 0);
    drain(server);
    drain(client_socket);
    one = kymo_dtls_new(context, server);
    struct test_dtls_settings settings = {
        .identity = "device", .key = key, .key_count = sizeof key, .ciphers = "PSK-AES128-GCM-SHA256"};
    client = stage == fuzz_dtls_listening ? NULL : test_dtls_new(client_socket, settings);
    if (!one || (stage != fuzz_dtls_listening && (!client || !shake()))) return "there is no handshake";
    return NULL;
}

static const char *read_nothing(void) {
    static uint8_t plain[KYMO_DTLS_PLAIN_BYTES];
    int count = kymo_dtls_read(one, plain);
    if (count > 0) return "a payload is read that no key has sealed";
    return count < 0 ? "a stranger has ended an association" : NULL;
}

const char *fuzz_dtls_give(const uint8_t *bytes, size_t count) {
    uint8_t random[32];
    int is_hello = kymo_dtls_is_hello(bytes, count, random), epoch = kymo_dtls_epoch(bytes, count);
    if (is_hello && epoch != 0) return "a ClientHello is encrypted";
    switch (stage) {
    case fuzz_dtls_listening:
        return kymo_dtls_listen(one, sender, local, bytes, count) ? "a client is let in without a cookie" : NULL;
    case fuzz_dtls_shaking:
        if (has_ended) return NULL;
        kymo_dtls_give(one, bytes, count);
        int state = kymo_dtls_establish(one);
        has_ended = state < 0;
        return state == 1 ? "a handshake is done without the key" : NULL;
    case fuzz_dtls_established: break;
    }
    kymo_dtls_give(one, bytes, count);
    return read_nothing();
}

/// Whether what the client itself sends is read after all that.
static const char *read_own(void) {
    uint8_t bytes[256], plain[KYMO_DTLS_PLAIN_BYTES];
    drain(server);
    test_dtls_send(client, (const uint8_t *)"own", 3);
    ssize_t count = recv(server, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count <= 0) return "the client has sent nothing";
    kymo_dtls_give(one, bytes, (size_t)count);
    int size = kymo_dtls_read(one, plain);
    return size == 3 && memcmp(plain, "own", 3) == 0 ? NULL : "a record of the client is lost";
}

const char *fuzz_dtls_end(void) {
    const char *fault = stage == fuzz_dtls_established ? read_own() : NULL;
    kymo_dtls_free(one);
    test_dtls_free(client);
    (one = NULL, client = NULL);
    return fault;
}
