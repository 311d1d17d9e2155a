#include "cookie.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <time.h>

#include "CSeal.h"

// Nothing is kept of a client that has not sent its cookie back: it is a code of the client's address and the minute,
// by a key that lives as long as the process.

enum { key_bytes = 32, minute = 60 };

static uint8_t *key;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make_key(void) {
    key = kymo_locked(key_bytes);
    if (key && RAND_priv_bytes(key, key_bytes) != 1) key = NULL;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec / minute;
}

static int code(struct kymo_endpoint sender, uint64_t slot, uint8_t cookie[cookie_bytes]) {
    pthread_once(&made, make_key);
    if (!key) return 0;
    uint64_t message[4] = {
        (uint64_t)sender.family << 48 | (uint64_t)sender.port << 32 | sender.scope, sender.high, sender.low, slot};
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (!HMAC(EVP_sha256(), key, key_bytes, (const uint8_t *)message, sizeof message, digest, &size)) return 0;
    for (int place = 0; place < cookie_bytes; place++) cookie[place] = digest[place];
    return 1;
}

int kymo_cookie_make(struct kymo_endpoint sender, uint8_t cookie[cookie_bytes]) { return code(sender, now(), cookie); }

int kymo_cookie_is_good(struct kymo_endpoint sender, const uint8_t *cookie, size_t count) {
    uint8_t good[cookie_bytes];
    if (count != cookie_bytes) return 0;
    uint64_t slot = now();
    if (code(sender, slot, good) && CRYPTO_memcmp(good, cookie, cookie_bytes) == 0) return 1;
    return slot > 0 && code(sender, slot - 1, good) && CRYPTO_memcmp(good, cookie, cookie_bytes) == 0;
}
