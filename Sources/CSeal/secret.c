#define _GNU_SOURCE
#include "secret.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *kymo_locked(size_t size) {
    void *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 0;
    // Where the limit of locked memory (RLIMIT_MEMLOCK) is zero, it is not locked: no reason not to seal.
    mlock(memory, size);
    madvise(memory, size, MADV_DONTDUMP);
    return memory;
}

void kymo_unlocked(void *memory, size_t size) {
    if (!memory) return;
    OPENSSL_cleanse(memory, size);
    munmap(memory, size);
}

int kymo_random(uint8_t *bytes, size_t count) { return RAND_bytes(bytes, (int)count) == 1; }

static int digit(uint8_t character) {
    if (character >= '0' && character <= '9') return character - '0';
    if (character >= 'a' && character <= 'f') return character - 'a' + 10;
    if (character >= 'A' && character <= 'F') return character - 'A' + 10;
    return -1;
}

/// The key that `text` holds, in its first bytes; 0 when it holds none.
static int parse(uint8_t *text, size_t count) {
    if (count == key_bytes) return 1;
    if (count == 2 * key_bytes + 1 && text[count - 1] == '\n') count--;
    if (count != 2 * key_bytes) return 0;
    for (size_t place = 0; place < key_bytes; place++) {
        int high = digit(text[2 * place]), low = digit(text[2 * place + 1]);
        if (high < 0 || low < 0) return 0;
        text[place] = (uint8_t)(high << 4 | low);
    }
    return 1;
}

struct kymo_secret *kymo_secret_read(int file) {
    struct kymo_secret *secret = kymo_locked(sizeof *secret);
    if (!secret) return 0;
    size_t count = 0;
    while (count < sizeof secret->bytes) {
        ssize_t size = read(file, secret->bytes + count, sizeof secret->bytes - count);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        count += (size_t)size;
    }
    if (parse(secret->bytes, count)) return secret;
    kymo_secret_free(secret);
    return 0;
}

int kymo_secret_write_new(int file) {
    struct kymo_secret *secret = kymo_locked(sizeof *secret);
    if (!secret) return 0;
    uint8_t key[key_bytes];
    int is_done = RAND_priv_bytes(key, sizeof key) == 1;
    for (size_t place = 0; place < sizeof key; place++) {
        secret->bytes[2 * place] = (uint8_t)"0123456789abcdef"[key[place] >> 4];
        secret->bytes[2 * place + 1] = (uint8_t)"0123456789abcdef"[key[place] & 15];
    }
    OPENSSL_cleanse(key, sizeof key);
    secret->bytes[2 * key_bytes] = '\n';
    is_done = is_done && write(file, secret->bytes, 2 * key_bytes + 1) == 2 * key_bytes + 1;
    kymo_secret_free(secret);
    return is_done;
}

void kymo_secret_free(struct kymo_secret *secret) { kymo_unlocked(secret, sizeof *secret); }

void kymo_secret_code(const struct kymo_secret *secret, const uint8_t *message, size_t count, uint8_t code[32]) {
    // A key of its own, so that the one that wraps does nothing else.
    static const uint8_t purpose[] = "kymo list of data keys";
    uint8_t key[32];
    unsigned size = 0;
    HMAC(EVP_sha256(), secret->bytes, key_bytes, purpose, sizeof purpose - 1, key, &size);
    HMAC(EVP_sha256(), key, sizeof key, message, count, code, &size);
    OPENSSL_cleanse(key, sizeof key);
}

int kymo_memory_file(const uint8_t *bytes, size_t count) {
    int file = memfd_create("kymo", MFD_CLOEXEC);
    if (file < 0) return -errno;
    for (size_t done = 0; done < count;) {
        ssize_t size = write(file, bytes + done, count - done);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) {
            int code = size < 0 ? errno : ENOSPC;
            close(file);
            return -code;
        }
        done += (size_t)size;
    }
    lseek(file, 0, SEEK_SET);
    return file;
}
