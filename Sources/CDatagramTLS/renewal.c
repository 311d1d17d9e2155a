#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <string.h>
#include <time.h>

#include "association.h"
#include "keys.h"

// Files of keys, authorities and revoked certificates change while associations go on.

/// Why `certificate` is not good in `context`; null when it is.
static const char *check(SSL *connection, X509 *certificate, SSL_CTX *context) {
    int code = X509_V_ERR_UNSPECIFIED;
    X509_STORE_CTX *chain = X509_STORE_CTX_new();
    if (chain
        && X509_STORE_CTX_init(
            chain, SSL_CTX_get_cert_store(context), certificate, SSL_get_peer_cert_chain(connection))) {
        X509_VERIFY_PARAM *parameters = X509_STORE_CTX_get0_param(chain);
        X509_VERIFY_PARAM_set_auth_level(parameters, SSL_CTX_get_security_level(context));
        X509_STORE_CTX_set_default(chain, "ssl_client");
        X509_VERIFY_PARAM_set1(parameters, SSL_CTX_get0_param(context));
        if (X509_verify_cert(chain) == 1)
            code = X509_V_OK;
        else if (X509_STORE_CTX_get_error(chain) != X509_V_OK)
            code = X509_STORE_CTX_get_error(chain);
    }
    X509_STORE_CTX_free(chain);
    return code == X509_V_OK ? NULL : X509_verify_cert_error_string(code);
}

/// The earlier of `first` and the end of `certificate`.
static int64_t earlier(int64_t first, const X509 *certificate) {
    struct tm end;
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1) return first;
    int64_t seconds = timegm(&end);
    return seconds < first ? seconds : first;
}

int64_t kymo_dtls_good_until(const struct kymo_dtls *one, int with_authorities) {
    X509 *certificate = SSL_get0_peer_certificate(one->connection);
    if (!certificate) return INT64_MAX;
    int64_t first = earlier(INT64_MAX, certificate);
    if (!with_authorities) return first;
    STACK_OF(X509) *chain = SSL_get0_verified_chain(one->connection);
    for (int place = 0; chain && place < sk_X509_num(chain); place++)
        first = earlier(first, sk_X509_value(chain, place));
    return first;
}

const char *kymo_dtls_withdrawn(const struct kymo_dtls *one, SSL_CTX *context) {
    size_t count = 0;
    const char *identity = kymo_dtls_identity(one, &count);
    if (identity) {
        const struct kymo_psk_keys *former = kymo_dtls_keys(SSL_get_SSL_CTX(one->connection));
        const struct kymo_psk_keys *keys = kymo_dtls_keys(context);
        int is_same = former && keys && kymo_psk_agree(former, keys, (const uint8_t *)identity, count);
        return is_same ? NULL : "its pre-shared key was removed or changed";
    }
    X509 *certificate = SSL_get0_peer_certificate(one->connection);
    return certificate ? check(one->connection, certificate, context) : NULL;
}
