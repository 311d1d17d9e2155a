#include "CTestDTLS.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct test_dtls {
    SSL_CTX *context;
    SSL *connection;
    char identity[256];
    uint8_t key[64];
    size_t key_count;
    int is_established;
};

static unsigned give_key(
    SSL *connection, const char *hint, char *identity, unsigned room, unsigned char *key, unsigned key_room) {
    (void)hint;
    const struct test_dtls *client = SSL_get_app_data(connection);
    if (strlen(client->identity) >= room || client->key_count > key_room) return 0;
    strcpy(identity, client->identity);
    memcpy(key, client->key, client->key_count);
    return (unsigned)client->key_count;
}

/// Takes over `settings`; 0 when something of them cannot be used.
static int set(struct test_dtls *client, struct test_dtls_settings settings) {
    if (settings.ciphers && !SSL_CTX_set_cipher_list(client->context, settings.ciphers)) return 0;
    if (settings.fragment && !SSL_CTX_set_tlsext_max_fragment_length(client->context, settings.fragment)) return 0;
    if (settings.authority) {
        if (!SSL_CTX_load_verify_file(client->context, settings.authority)) return 0;
        SSL_CTX_set_verify(client->context, SSL_VERIFY_PEER, NULL);
    }
    if (settings.certificate) {
        if (SSL_CTX_use_certificate_file(client->context, settings.certificate, SSL_FILETYPE_PEM) != 1) return 0;
        if (SSL_CTX_use_PrivateKey_file(client->context, settings.certificate_key, SSL_FILETYPE_PEM) != 1) return 0;
    }
    if (!settings.identity) return 1;
    if (strlen(settings.identity) >= sizeof client->identity || settings.key_count > sizeof client->key) return 0;
    strcpy(client->identity, settings.identity);
    memcpy(client->key, settings.key, settings.key_count);
    client->key_count = settings.key_count;
    SSL_CTX_set_psk_client_callback(client->context, give_key);
    return 1;
}

struct test_dtls *test_dtls_new(int socket, struct test_dtls_settings settings) {
    struct test_dtls *client = calloc(1, sizeof *client);
    if (!client) return NULL;
    client->context = SSL_CTX_new(DTLS_client_method());
    client->connection = client->context && set(client, settings) ? SSL_new(client->context) : NULL;
    BIO *bio = client->connection ? BIO_new_dgram(socket, BIO_NOCLOSE) : NULL;
    struct sockaddr_storage server;
    socklen_t length = sizeof server;
    if (!bio || getpeername(socket, (struct sockaddr *)&server, &length) < 0) {
        BIO_free(bio);
        test_dtls_free(client);
        return NULL;
    }
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
    BIO_ctrl(bio, BIO_CTRL_DGRAM_SET_CONNECTED, 0, &server);
    SSL_set_bio(client->connection, bio, bio);
    SSL_set_app_data(client->connection, client);
    SSL_set_connect_state(client->connection);
    return client;
}

void test_dtls_free(struct test_dtls *client) {
    if (!client) return;
    SSL_free(client->connection);
    SSL_CTX_free(client->context);
    free(client);
}

/// Whether a call that has failed may go on later. A host where nobody listens refuses datagrams until somebody does.
static int is_waiting(struct test_dtls *client, int result) {
    int number = errno, error = SSL_get_error(client->connection, result);
    return error == SSL_ERROR_WANT_READ || (error == SSL_ERROR_SYSCALL && number == ECONNREFUSED);
}

int test_dtls_advance(struct test_dtls *client) {
    ERR_clear_error();
    DTLSv1_handle_timeout(client->connection);
    if (!client->is_established) {
        ERR_clear_error();
        int result = SSL_do_handshake(client->connection);
        if (result != 1) return is_waiting(client, result) ? 0 : -1;
        client->is_established = 1;
    }
    uint8_t bytes[1024];
    ERR_clear_error();
    int result = SSL_read(client->connection, bytes, sizeof bytes);
    return result > 0 || is_waiting(client, result) ? 1 : -1;
}

void test_dtls_send(struct test_dtls *client, const uint8_t *bytes, size_t count) {
    ERR_clear_error();
    SSL_write(client->connection, bytes, (int)count);
}

void test_dtls_send_plain(int socket, const uint8_t *bytes, size_t count) {
    send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Keys of the connection (RFC 5246, section 6.3): of AES-128-GCM those of the client, of the server, and both salts.
static int derive(SSL *connection, uint8_t block[40]) {
    static const char label[] = "key expansion";
    uint8_t secret[SSL_MAX_MASTER_KEY_LENGTH], seed[sizeof label - 1 + 2 * SSL3_RANDOM_SIZE];
    size_t count = SSL_SESSION_get_master_key(SSL_get_session(connection), secret, sizeof secret), size = 40;
    memcpy(seed, label, sizeof label - 1);
    SSL_get_server_random(connection, seed + sizeof label - 1, SSL3_RANDOM_SIZE);
    SSL_get_client_random(connection, seed + sizeof label - 1 + SSL3_RANDOM_SIZE, SSL3_RANDOM_SIZE);
    EVP_PKEY_CTX *kdf = EVP_PKEY_CTX_new_id(EVP_PKEY_TLS1_PRF, NULL);
    int is_done = kdf && EVP_PKEY_derive_init(kdf) == 1 && EVP_PKEY_CTX_set_tls1_prf_md(kdf, EVP_sha256()) == 1 &&
                  EVP_PKEY_CTX_set1_tls1_prf_secret(kdf, secret, (int)count) == 1 &&
                  EVP_PKEY_CTX_add1_tls1_prf_seed(kdf, seed, sizeof seed) == 1 && EVP_PKEY_derive(kdf, block, &size) == 1;
    EVP_PKEY_CTX_free(kdf);
    return is_done;
}

int test_dtls_send_empty(struct test_dtls *client, int socket, uint8_t sequence) {
    uint8_t block[40], nonce[12];
    // Application data, DTLS 1.2, epoch 1, number, 24 bytes: the nonce's second part, and the tag of nothing.
    uint8_t record[13 + 8 + 16] = {23, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, sequence, 0, 24};
    uint8_t said[13] = {0, 1, 0, 0, 0, 0, 0, sequence, 23, 0xFE, 0xFD, 0, 0};
    if (!derive(client->connection, block)) return 0;
    memcpy(record + 13, said, 8);
    memcpy(nonce, block + 32, 4);
    memcpy(nonce + 4, said, 8);
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int size = 0;
    int is_done = cipher && EVP_EncryptInit_ex(cipher, EVP_aes_128_gcm(), NULL, block, nonce) == 1 &&
                  EVP_EncryptUpdate(cipher, NULL, &size, said, sizeof said) == 1 &&
                  EVP_EncryptFinal_ex(cipher, record + 21, &size) == 1 &&
                  EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, 16, record + 21) == 1;
    EVP_CIPHER_CTX_free(cipher);
    if (is_done) test_dtls_send_plain(socket, record, sizeof record);
    return is_done;
}

void test_dtls_end(struct test_dtls *client) {
    ERR_clear_error();
    SSL_shutdown(client->connection);
}
