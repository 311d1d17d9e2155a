// send FILE SIZE PORT RATE [TOGETHER]: the datagrams of FILE, SIZE bytes each, to 127.0.0.1:PORT, RATE a second (0: as fast
// as they are taken). With TOGETHER, so many leave as one message (UDP_SEGMENT), as far as 65,507 bytes hold them.
// Prints how many were sent, and in how many seconds.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

enum { most = 32 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static int stop(const char *what) {
    perror(what);
    return 1;
}

/// Sends `count` messages, waiting for room. 0, or -1 when nobody listens.
static int send_all(int fd, struct mmsghdr *messages, int count) {
    for (int done = 0; done < count;) {
        int sent = sendmmsg(fd, messages + done, (unsigned)(count - done), 0);
        if (sent > 0) done += sent;
        else if (errno == ECONNREFUSED) return -1;
        else usleep(50);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 5) return fprintf(stderr, "usage: send FILE SIZE PORT RATE [TOGETHER]\n"), 2;
    int file = open(argv[1], O_RDONLY), size = atoi(argv[2]), together = argc > 5 ? atoi(argv[5]) : 1;
    double rate = atof(argv[4]);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) < 0) return stop(argv[1]);
    long total = facts.st_size / size, sent = 0;
    char *bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (bytes == MAP_FAILED) return stop("mmap");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[3]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_DGRAM, 0), room = 4 << 20;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) return stop("connect");
    if (together > 65507 / size) together = 65507 / size;
    if (together > 1 && setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof size) < 0) return stop("UDP_SEGMENT");
    prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
    // Few at a time where they are rare, so that a rate is a rate and not bursts.
    long burst = rate > 0 ? (long)(rate * 100e-6 / together) + 1 : most;
    if (burst > most) burst = most;
    double begun = now();
    while (sent < total) {
        struct mmsghdr messages[most] = {0};
        struct iovec parts[most];
        int count = 0;
        for (; count < burst && sent < total; count++) {
            long left = total - sent, taken = left < together ? left : together;
            parts[count] = (struct iovec){bytes + sent * size, (size_t)(taken * size)};
            messages[count].msg_hdr.msg_iov = parts + count;
            messages[count].msg_hdr.msg_iovlen = 1;
            sent += taken;
        }
        if (send_all(fd, messages, count) < 0) return stop("send");
        for (double ahead; rate > 0 && (ahead = begun + sent / rate - now()) > 0;) {
            // No spinning: the receiver may need the processor.
            struct timespec rest = {0, (long)(ahead * 1e9)};
            nanosleep(&rest, NULL);
        }
    }
    double seconds = now() - begun;
    printf("sent %ld in %.3f s, %.0f a second\n", sent, seconds, sent / seconds);
    return 0;
}
