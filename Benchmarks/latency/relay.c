// relay ADDRESS PORT: the least that a pipeline can do, for latency.sh. Takes readings of `kymo simulate --latency` from
// UDP, and writes for each a line as long as an Observation, with its time, to standard output: one thread, which sleeps
// in the kernel until there is something; nothing is parsed, kept or checked.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { batch = 64, largest = 512, line = 810 };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int listening(const char *address, const char *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    inet_pton(AF_INET, address, &at.sin_addr);
    // As much room as the pipeline asks for.
    int descriptor = socket(AF_INET, SOCK_DGRAM, 0), room = 4 << 20;
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room))
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (bind(descriptor, (struct sockaddr *)&at, sizeof at)) fail("bind");
    return descriptor;
}

/// Writes the line of a reading to `to`; its length, or 0 when there is no time in it.
static size_t relay(const char *reading, size_t length, char *to) {
    static const char name[] = "\"timestamp\":\"", start[] = "{\"effectiveDateTime\":\"", end[] = "\",\"pad\":\"";
    const char *time = memmem(reading, length, name, sizeof name - 1);
    if (!time) return 0;
    time += sizeof name - 1;
    const char *quote = memchr(time, '"', (size_t)(reading + length - time));
    if (!quote) return 0;
    char *next = mempcpy(mempcpy(mempcpy(to, start, sizeof start - 1), time, (size_t)(quote - time)), end, sizeof end - 1);
    memset(next, '-', (size_t)(to + line - 3 - next));
    memcpy(to + line - 3, "\"}\n", 3);
    return line;
}

static void write_all(const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(STDOUT_FILENO, bytes, count);
        if (written <= 0) fail("write");
        bytes += written;
        count -= (size_t)written;
    }
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: relay ADDRESS PORT\n");
        return 2;
    }
    // Nothing that it waits for would tell it that whoever measures has ended.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    static char readings[batch][largest], lines[batch * line];
    struct iovec parts[batch];
    struct mmsghdr messages[batch];
    memset(messages, 0, sizeof messages);
    for (int index = 0; index < batch; index++) {
        parts[index] = (struct iovec){readings[index], largest};
        messages[index].msg_hdr = (struct msghdr){.msg_iov = &parts[index], .msg_iovlen = 1};
    }
    int descriptor = listening(words[1], words[2]);
    while (1) {
        int received = recvmmsg(descriptor, messages, batch, MSG_WAITFORONE, NULL);
        if (received < 0) fail("recvmmsg");
        size_t length = 0;
        for (int index = 0; index < received; index++)
            length += relay(readings[index], messages[index].msg_len, lines + length);
        write_all(lines, length);
    }
}
