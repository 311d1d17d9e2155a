#include "CSQLiteChecksums.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sealed.h"

// The write-ahead log (SQLite's file format, section 4). SQLite takes it up to the first frame whose checksum is wrong
// and says nothing of what comes after that.

enum { header_bytes = 32, frame_head = 24, frame_bytes = frame_head + KYMO_PAGE_BYTES };

struct sums {
    uint32_t first, second;
};

static uint32_t big(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static struct sums add(struct sums sums, const uint8_t *bytes, size_t size, int is_big) {
    for (size_t place = 0; place + 8 <= size; place += 8) {
        uint32_t one, two;
        memcpy(&one, bytes + place, 4);
        memcpy(&two, bytes + place + 4, 4);
        if (is_big) {
            one = big(bytes + place);
            two = big(bytes + place + 4);
        }
        sums.first += one + sums.second;
        sums.second += two + sums.first;
    }
    return sums;
}

static int64_t lost_frames(
    int fd, const uint8_t *header, struct sums sums, uint8_t *frame, struct sealed_file *sealed) {
    int is_big = big(header) & 1;
    int is_broken = 0;
    int64_t commits = 0;
    for (off_t offset = header_bytes; pread(fd, frame, frame_bytes, offset) == frame_bytes; offset += frame_bytes) {
        // Other salts: left from before the log began anew.
        if (memcmp(frame + 8, header + 16, 8) != 0) {
            is_broken = 1;
            continue;
        }
        if (!is_broken && sealed) is_broken = !kymo_sealed_open_frame(sealed, frame, offset);
        if (!is_broken) {
            sums = add(add(sums, frame, 8, is_big), frame + frame_head, KYMO_PAGE_BYTES, is_big);
            is_broken = sums.first != big(frame + 16) || sums.second != big(frame + 20);
        }
        // A frame with a size ends a transaction.
        if (is_broken && big(frame + 4) != 0) commits++;
    }
    // One transaction is made durable after the other: the first that is broken may be one that a power cut tore.
    return commits > 1 ? commits - 1 : 0;
}

int64_t kymo_log_lost(const char *path) {
    uint8_t header[header_bytes];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    int64_t lost = 0;
    if (pread(fd, header, sizeof header, 0) == sizeof header) {
        int is_big = big(header) & 1;
        struct sums sums = add((struct sums){0, 0}, header, 24, is_big);
        int is_whole = (big(header) & ~1u) == 0x377f0682u && big(header + 8) == KYMO_PAGE_BYTES &&
                       sums.first == big(header + 24) && sums.second == big(header + 28);
        uint8_t *frame = malloc(frame_bytes);
        struct kymo_ring *ring = kymo_ring_of(path);
        struct sealed_file *sealed = ring ? kymo_sealed_new(ring, sealed_log) : 0;
        if (!frame || (ring && !sealed)) lost = 0;
        else if (is_whole) lost = lost_frames(fd, header, sums, frame, sealed);
        else if (pread(fd, frame, 1, header_bytes) == 1) lost = 1;
        free(frame);
        kymo_sealed_free(sealed);
    }
    close(fd);
    return lost;
}

int kymo_log_lacks_key(const char *path, struct kymo_ring *ring) {
    uint8_t header[header_bytes], head[frame_head], end[sealed_reserved];
    int fd = open(path, O_RDONLY | O_CLOEXEC), lacks_key = 0;
    if (fd < 0) return 0;
    if (pread(fd, header, sizeof header, 0) == sizeof header) {
        for (off_t offset = header_bytes; !lacks_key; offset += frame_bytes) {
            if (pread(fd, head, sizeof head, offset) != sizeof head) break;
            if (pread(fd, end, sizeof end, offset + frame_bytes - sealed_reserved) != sizeof end) break;
            // Of before the log began anew?
            lacks_key = memcmp(head + 8, header + 16, 8) == 0 && kymo_sealed_lacks_key(ring, end);
        }
    }
    close(fd);
    return lacks_key;
}
