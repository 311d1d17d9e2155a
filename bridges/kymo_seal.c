#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* flock, fsync, ftruncate and pwrite in C99 */
#endif

#include "kymo_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { head_bytes = 14, tag_bytes = 16, nonce_start = 2, number_digits = 20 };

static void put(uint8_t *place, uint64_t number, int count) {
    for (int byte = 0; byte < count; byte++) place[byte] = (uint8_t)(number >> 8 * (count - 1 - byte));
}

int kymo_seal_datagram(
    uint32_t key_id, const uint8_t key[KYMO_SEAL_KEY_BYTES], uint64_t sequence, const uint8_t *payload, size_t count,
    uint8_t *datagram, size_t room) {
    if (count > KYMO_SEAL_PAYLOAD_BYTES || room < count + KYMO_SEAL_EXTRA_BYTES) return -1;
    memcpy(datagram, "K1", 2);
    put(datagram + nonce_start, key_id, 4);
    put(datagram + 6, sequence, 8);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (!context) return -1;
    uint8_t *text = datagram + head_bytes;
    int size = 0, rest = 0;
    /* The nonce is the key id and the number; the head is authenticated with the payload. */
    int is_done = EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, key, datagram + nonce_start) == 1 &&
                  EVP_EncryptUpdate(context, NULL, &size, datagram, head_bytes) == 1 &&
                  (count == 0 || EVP_EncryptUpdate(context, text, &size, payload, (int)count) == 1) &&
                  EVP_EncryptFinal_ex(context, text + count, &rest) == 1 &&
                  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_bytes, text + count) == 1;
    EVP_CIPHER_CTX_free(context);
    return is_done ? (int)(count + KYMO_SEAL_EXTRA_BYTES) : -1;
}

/* The file has 20 digits and a line feed, so that it is written over in one piece. Of a new file, for which `size` is 0, what
 * was written in part is cut off. Over a lower bound that is there, it is none that is lower still: nothing comes again. */
static int write_bound(int file, uint64_t bound, off_t size) {
    char text[number_digits + 1];
    for (int place = number_digits - 1; place >= 0; place--, bound /= 10) text[place] = (char)('0' + bound % 10);
    text[number_digits] = '\n';
    ssize_t count = pwrite(file, text, sizeof text, 0);
    if (count < 0) return -errno;
    if (count < (ssize_t)sizeof text) return ftruncate(file, size) ? -errno : -EIO;
    return fsync(file) ? -errno : 0;
}

static int read_bound(int file, uint64_t *bound) {
    char text[number_digits + 2];
    ssize_t count = pread(file, text, sizeof text, 0);
    *bound = 0;
    if (count < 0) return -errno;
    if (count != number_digits + 1 || text[number_digits] != '\n') return -EINVAL;
    for (int place = 0; place < number_digits; place++) {
        uint64_t digit = (uint64_t)(text[place] - '0');
        if (text[place] < '0' || text[place] > '9' || *bound > (UINT64_MAX - digit) / 10) return -EINVAL;
        *bound = *bound * 10 + digit;
    }
    return 0;
}

/* Makes the name of a new file last. */
static int sync_folder(const char *path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t count = slash ? (size_t)(slash - path) : 0;
    if (count >= sizeof folder) return -ENAMETOOLONG;
    memcpy(folder, path, count);
    folder[count] = 0;
    int file = open(count ? folder : slash ? "/" : ".", O_RDONLY);
    if (file < 0) return -errno;
    int code = fsync(file) ? -errno : 0;
    close(file);
    return code;
}

int kymo_sequence_create(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return -errno;
    int code = flock(file, LOCK_EX | LOCK_NB) ? -errno : write_bound(file, 0, 0);
    if (!code) code = sync_folder(path);
    /* It has given no number. */
    if (code) unlink(path);
    close(file);
    return code;
}

int kymo_sequence_open(struct kymo_sequence *sequence, const char *path, uint64_t step) {
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return -errno;
    struct kymo_sequence opened = {.file = file, .step = step ? step : 1, .process = getpid()};
    int code = flock(file, LOCK_EX | LOCK_NB) ? -errno : read_bound(file, &opened.bound);
    if (!code) code = sync_folder(path);
    if (code) {
        close(file);
        return code;
    }
    opened.next = opened.bound;
    *sequence = opened;
    return 0;
}

int kymo_sequence_next(struct kymo_sequence *sequence, uint64_t *number) {
    if (sequence->process != getpid()) return -EPERM;
    if (sequence->next == sequence->bound) {
        if (sequence->bound == UINT64_MAX) return -ERANGE;
        uint64_t left = UINT64_MAX - sequence->bound, step = sequence->step < left ? sequence->step : left;
        int code = write_bound(sequence->file, sequence->bound + step, number_digits + 1);
        if (code) return code;
        sequence->bound += step;
    }
    *number = sequence->next++;
    return 0;
}

void kymo_sequence_close(struct kymo_sequence *sequence) {
    close(sequence->file);
    sequence->file = -1;
}
