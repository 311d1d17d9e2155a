/* Sealed datagrams for kymo: see docs/sealed-datagrams.md. C99, POSIX, and libcrypto of OpenSSL 3. flock is none of POSIX:
 * kymo_seal.c defines _DEFAULT_SOURCE for it.
 *
 *     K1 | key id 4 | sequence 8 | payload, encrypted by AES-128-GCM | tag 16
 *
 * A sequence number must never be used twice with one key, also not after a restart: whoever sees two datagrams of one
 * number can read both, and forge others. kymo_sequence keeps it in a file; a device without one must get a new key each
 * time that it begins again.
 */
#ifndef KYMO_SEAL_H
#define KYMO_SEAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KYMO_SEAL_KEY_BYTES 16
/* What is added to a payload. */
#define KYMO_SEAL_EXTRA_BYTES 30
/* Longest payload: a UDP datagram over IPv4 has at most 65,507 bytes. */
#define KYMO_SEAL_PAYLOAD_BYTES (65507 - KYMO_SEAL_EXTRA_BYTES)

/* Seals the `count` bytes of `payload` into `datagram`, which has room for `room` bytes. Gives the length of the datagram,
 * or -1 when there is no room, the payload is too long, or libcrypto fails. The payload must not overlap the datagram,
 * except that it may begin exactly at datagram + 14, where it is encrypted in place. */
int kymo_seal_datagram(
    uint32_t key_id, const uint8_t key[KYMO_SEAL_KEY_BYTES], uint64_t sequence, const uint8_t *payload, size_t count,
    uint8_t *datagram, size_t room);

/* The sequence numbers of one key, in a file that no other process may use at the same time. For one thread of one process:
 * threads that share it need a lock of their own, and a child that was forked opens a file and a key of its own. */
struct kymo_sequence {
    int file;
    uint64_t next;
    uint64_t bound;
    uint64_t step;
    pid_t process;
};

/* Makes the file at `path`, once for each key, and writes 0 there. Never in the place of one that was lost: its numbers
 * would come again, so that the device needs a new key first. 0, or a negative errno; -EEXIST when there is one. */
int kymo_sequence_create(const char *path);
/* Opens the file at `path`. Numbers are reserved there `step` at a time (1 or more), before they are used: a
 * start goes on behind those that were reserved, and kymo takes numbers that leave some out. 0, or a negative errno:
 * -ENOENT when it is missing, -EWOULDBLOCK when another process has it, and -EINVAL when it is empty or holds something
 * else: then its numbers are lost, and the device needs a new key and a new file. */
int kymo_sequence_open(struct kymo_sequence *sequence, const char *path, uint64_t step);
/* Gives the next number to `number`. 0, or a negative errno: then nothing may be sent. -ERANGE after the last one, which
 * is 2^64 - 2: the key is used up. -EPERM in a process that was forked from the one that opened it, and -EIO when the file
 * was written in part. */
int kymo_sequence_next(struct kymo_sequence *sequence, uint64_t *number);
/* Closes the file. */
void kymo_sequence_close(struct kymo_sequence *sequence);

#ifdef __cplusplus
}
#endif

#endif
