// SHA256_Init and its like: see Digest256+OpenSSL.swift.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What OpenSSL has as macros that Swift does not see.

/// Most handshake messages that may come on a connection with no data between them: a handshake has about ten.
enum { kymo_tls_most_messages = 200 };

/// Ends a connection on which messages of the handshake, such as KeyUpdate (RFC 8446, section 4.6.3), come without end:
/// OpenSSL reads on until data comes, and nothing else on its thread would go on meanwhile.
static inline void kymo_tls_count_message(
    int is_sent, int version, int type, const void *bytes, size_t count, SSL *connection, void *argument) {
    (void)version, (void)bytes, (void)count, (void)argument;
    if (is_sent || type != SSL3_RT_HANDSHAKE) return;
    uintptr_t messages = (uintptr_t)SSL_get_app_data(connection) + 1;
    SSL_set_app_data(connection, (void *)messages);
    if (messages > kymo_tls_most_messages) SSL_set_shutdown(connection, SSL_RECEIVED_SHUTDOWN);
}

/// Whether too many have come.
static inline int kymo_tls_has_too_many_messages(const SSL *connection) {
    return (uintptr_t)SSL_get_app_data(connection) > kymo_tls_most_messages;
}

/// Notes that data has come.
static inline void kymo_tls_note_data(SSL *connection) {
    if (SSL_get_app_data(connection)) SSL_set_app_data(connection, NULL);
}

/// A context: TLS 1.2 and later, no renegotiation, no compression, no resumption. Null without memory.
static inline SSL_CTX *kymo_tls_context(const SSL_METHOD *method) {
    SSL_CTX *context = SSL_CTX_new(method);
    if (!context) return NULL;
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(
        context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_msg_callback(context, kymo_tls_count_message);
    // Records are read from the socket several at a time.
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, 128 * 1024);
    return context;
}

/// A context for servers: TLS 1.2 and later, no renegotiation, no compression, and no resumption, so that a certificate
/// that was revoked is refused from the next connection on. Null without memory.
static inline SSL_CTX *kymo_tls_server_context(void) {
    SSL_CTX *context = kymo_tls_context(TLS_server_method());
    if (!context) return NULL;
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_num_tickets(context, 0);
    return context;
}

/// A context for clients, which end the handshake unless the server's certificate is good. Null without memory.
static inline SSL_CTX *kymo_tls_client_context(void) {
    SSL_CTX *context = kymo_tls_context(TLS_client_method());
    if (context) SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return context;
}

/// Certificates of servers are checked against the authorities of the system: those that OpenSSL finds by itself, or
/// those in the file `bundle` where a system has that alone. 1 when they were read.
static inline int kymo_tls_trust_system(SSL_CTX *context, const char *bundle) {
    int is_stated = getenv(X509_get_default_cert_file_env()) || getenv(X509_get_default_cert_dir_env());
    if (is_stated || access(X509_get_default_cert_dir(), R_OK) == 0) return SSL_CTX_set_default_verify_paths(context);
    return SSL_CTX_load_verify_file(context, bundle);
}

/// Certificates of servers are checked against those in the file `authorities` alone, whether these are signed by
/// themselves or by others. 1 when it was read.
static inline int kymo_tls_trust(SSL_CTX *context, const char *authorities) {
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
    return SSL_CTX_load_verify_file(context, authorities);
}

/// The server's certificate must be for `host`, a name or else a numeric address: by its alternative names (RFC 9525),
/// not by its subject. The server is told which name is meant. 1 without a failure.
static inline int kymo_tls_expect(SSL *connection, const char *host, int is_address) {
    // An empty name would be looked for in none.
    if (!*host || *host == '.') return 0;
    if (is_address) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host);
    SSL_set_hostflags(connection, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return SSL_set_tlsext_host_name(connection, host) && SSL_set1_host(connection, host);
}

/// Certificates of clients are required, and checked against the authorities in the file `authorities`. 1 when it was
/// read.
static inline int kymo_tls_require_clients(SSL_CTX *context, const char *authorities) {
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(authorities);
    if (!names) return 0;
    SSL_CTX_set_client_CA_list(context, names);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return SSL_CTX_load_verify_file(context, authorities);
}

/// Certificates are also checked against the lists of revoked ones in the file `lists`, of which each authority must
/// have a valid one. 1 when it was read.
static inline int kymo_tls_refuse_revoked(SSL_CTX *context, const char *lists) {
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    X509_LOOKUP *lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
    if (!lookup || X509_load_crl_file(lookup, lists, X509_FILETYPE_PEM) < 1) return 0;
    return X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
}

/// Certificate `index` of those that a context shows: its own, and then those between it and an authority. Null beyond
/// the last.
static inline X509 *kymo_tls_own(SSL_CTX *context, int index) {
    if (index == 0) return SSL_CTX_get0_certificate(context);
    STACK_OF(X509) *chain = NULL;
    SSL_CTX_get0_chain_certs(context, &chain);
    return chain && index <= sk_X509_num(chain) ? sk_X509_value(chain, index - 1) : NULL;
}

/// Why a connection has failed, in OpenSSL's words: the verdict on the other side's certificate, or else the last error.
static inline const char *kymo_tls_fault(const SSL *connection) {
    long verdict = SSL_get_verify_result(connection);
    unsigned long code = ERR_peek_last_error();
    if (verdict != X509_V_OK) return X509_verify_cert_error_string(verdict);
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    return reason ? reason : "the connection broke";
}

/// Whether the last error is that the other side has gone without a word.
static inline int kymo_tls_is_cut(void) {
    return ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
}

/// The subject alternative names of a certificate, to be freed; null without any.
static inline GENERAL_NAMES *kymo_tls_names(X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

/// The text of name `index`, when it is of a host, an address of mail or a URI; null for others and beyond the last.
/// `count` gets its bytes, and `type` which of them it is, as GEN_DNS.
static inline const unsigned char *kymo_tls_name(const GENERAL_NAMES *names, int index, int *count, int *type) {
    if (index < 0 || index >= sk_GENERAL_NAME_num(names)) return NULL;
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    if (name->type != GEN_DNS && name->type != GEN_EMAIL && name->type != GEN_URI) return NULL;
    const ASN1_IA5STRING *text = name->d.ia5;
    *count = ASN1_STRING_length(text);
    *type = name->type;
    return ASN1_STRING_get0_data(text);
}

/// The text of name `index`, when it is of a host or a numeric address, in `text`, which has room for `size` bytes. How
/// many bytes it has; 0 for others, and for those that do not fit.
static inline int kymo_tls_host(const GENERAL_NAMES *names, int index, char *text, int size) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    if (name->type == GEN_DNS) {
        int count = ASN1_STRING_length(name->d.dNSName);
        if (count > size) return 0;
        memcpy(text, ASN1_STRING_get0_data(name->d.dNSName), (size_t)count);
        return count;
    }
    if (name->type != GEN_IPADD) return 0;
    int count = ASN1_STRING_length(name->d.iPAddress);
    if (count != 4 && count != 16) return 0;
    const char *address =
        inet_ntop(count == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name->d.iPAddress), text, (socklen_t)size);
    return address ? (int)strlen(address) : 0;
}

/// The certificate that the other side has shown first, whether it is good or not; null without one.
static inline X509 *kymo_tls_shown(const SSL *connection) {
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(connection);
    return chain && sk_X509_num(chain) > 0 ? sk_X509_value(chain, 0) : NULL;
}

/// How many names there are.
static inline int kymo_tls_name_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }

static inline void kymo_tls_names_free(GENERAL_NAMES *names) { GENERAL_NAMES_free(names); }
