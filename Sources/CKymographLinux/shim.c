#define _GNU_SOURCE
#include "CKymographLinux.h"

#include <errno.h>
#include <poll.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

_Static_assert(sizeof(struct kymo_mmsghdr) == sizeof(struct mmsghdr), "the mirror of mmsghdr has another size");
_Static_assert(offsetof(struct kymo_mmsghdr, msg_hdr) == offsetof(struct mmsghdr, msg_hdr), "msg_hdr moved");
_Static_assert(offsetof(struct kymo_mmsghdr, msg_len) == offsetof(struct mmsghdr, msg_len), "msg_len moved");

static int result(int value) {
    return value < 0 ? -errno : value;
}

/// Closes `fd` and returns the errno that made it useless.
static int failed(int fd) {
    int error = errno;
    close(fd);
    return -error;
}

int kymo_recvmmsg(int fd, struct kymo_mmsghdr *messages, unsigned int count, size_t control_length) {
    for (unsigned int i = 0; i < count; i++) {
        messages[i].msg_hdr.msg_controllen = control_length;
        messages[i].msg_hdr.msg_namelen = messages[i].msg_hdr.msg_name ? sizeof(struct sockaddr_storage) : 0;
    }
    return result(recvmmsg(fd, (struct mmsghdr *)messages, count, MSG_DONTWAIT, NULL));
}

size_t kymo_control_length(void) {
    return CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct in6_pktinfo));
}

int kymo_segment_length(const struct kymo_mmsghdr *message) {
    // As below.
    struct msghdr *header = (struct msghdr *)&message->msg_hdr;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        if (c->cmsg_level != SOL_UDP || c->cmsg_type != UDP_GRO) continue;
        int length;
        memcpy(&length, CMSG_DATA(c), sizeof length);
        return length < 0 ? 0 : length;
    }
    return 0;
}

int64_t kymo_overflow_count(const struct kymo_mmsghdr *message) {
    // CMSG_NXTHDR takes a pointer to non-const and does not write through it.
    struct msghdr *header = (struct msghdr *)&message->msg_hdr;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_RXQ_OVFL) continue;
        uint32_t value;
        memcpy(&value, CMSG_DATA(c), sizeof value);
        return value;
    }
    return -1;
}

struct kymo_memory_info kymo_memory_info(int fd) {
    uint32_t info[SK_MEMINFO_VARS] = {0};
    socklen_t size = sizeof info;
    struct kymo_memory_info answer = {0, 0, 0};
    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &size) < 0) {
        answer.error = -errno;
    } else if (size <= SK_MEMINFO_DROPS * sizeof info[0]) {
        answer.error = -ENOPROTOOPT;
    } else {
        answer.queued_bytes = info[SK_MEMINFO_RMEM_ALLOC];
        answer.dropped = info[SK_MEMINFO_DROPS];
    }
    return answer;
}

int kymo_receive_buffer(int fd, int bytes) {
    socklen_t size = sizeof bytes;
    // The first needs CAP_NET_ADMIN; the second is held to net.core.rmem_max.
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0
        && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) < 0)
        return -errno;
    if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size) < 0) return -errno;
    // The kernel doubles what it is asked for, to have room for its own bookkeeping (socket(7)).
    return bytes / 2;
}

int kymo_unix_open(int type) {
    return result(socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

static int unix_address(struct sockaddr_un *address, const char *path) {
    size_t length = strlen(path);
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (length == 0) return -EINVAL;
    if (length >= sizeof address->sun_path) return -ENAMETOOLONG;
    memcpy(address->sun_path, path, length + 1);
    return 0;
}

int kymo_unix_bind(int fd, const char *path) {
    struct sockaddr_un address;
    int error = unix_address(&address, path);
    return error ? error : result(bind(fd, (struct sockaddr *)&address, sizeof address));
}

int kymo_unix_connect(int fd, const char *path) {
    struct sockaddr_un address;
    int error = unix_address(&address, path);
    return error ? error : result(connect(fd, (struct sockaddr *)&address, sizeof address));
}

int kymo_unread(int fd) {
    int bytes = 0;
    int error = result(ioctl(fd, SIOCOUTQ, &bytes));
    return error < 0 ? error : bytes;
}

int kymo_unix_datagram(const char *path, const void *bytes, size_t size) {
    struct sockaddr_un address;
    int error = unix_address(&address, path);
    if (error) return error;
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    // A name in the abstract namespace begins with a zero byte and ends with the address.
    if (path[0] == '@') address.sun_path[0] = 0;
    int fd = result(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (fd < 0) return fd;
    // A queue of datagrams that is full, ten by default, is soon read.
    struct timeval patience = {.tv_sec = 1};
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    ssize_t sent = sendto(fd, bytes, size, MSG_NOSIGNAL, (struct sockaddr *)&address, length);
    error = sent < 0 ? -errno : 0;
    close(fd);
    return error;
}

int kymo_accept(int fd) {
    return result(accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

struct kymo_peer kymo_peer_of(int fd) {
    struct ucred found;
    socklen_t size = sizeof found;
    struct kymo_peer answer = {0, 0, 0, 0};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &found, &size) < 0) {
        answer.error = -errno;
    } else {
        answer.pid = found.pid;
        answer.uid = found.uid;
        answer.gid = found.gid;
    }
    return answer;
}

int kymo_epoll_create(void) {
    return result(epoll_create1(EPOLL_CLOEXEC));
}

int kymo_epoll_add(int epoll, int fd, uint64_t token) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = token};
    return result(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
}

int kymo_epoll_remove(int epoll, int fd) {
    struct epoll_event unused = {0};
    return result(epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &unused));
}

int kymo_epoll_wait(int epoll, uint64_t *tokens, int capacity, int timeout_ms) {
    struct epoll_event events[64];
    int ready = epoll_wait(epoll, events, capacity < 64 ? capacity : 64, timeout_ms);
    if (ready < 0) return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < ready; i++) tokens[i] = events[i].data.u64;
    return ready;
}

int kymo_event_create(void) {
    return result(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

int kymo_event_raise(int fd) {
    uint64_t one = 1;
    return write(fd, &one, sizeof one) == sizeof one ? 0 : -errno;
}

int kymo_event_wait(int fd, int timeout_ms) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, timeout_ms) <= 0) return 0;
    uint64_t count;
    return read(fd, &count, sizeof count) == sizeof count;
}

int kymo_wait_either(int first, int second, int timeout_ms) {
    struct pollfd waits[2] = {{.fd = first, .events = POLLIN}, {.fd = second, .events = POLLIN}};
    if (poll(waits, 2, timeout_ms) <= 0) return 0;
    return (waits[0].revents != 0) | (waits[1].revents != 0) << 1;
}

int kymo_wait_socket(int socket, int writes, int event, int timeout_ms) {
    struct pollfd waits[2] = {
        {.fd = socket, .events = (short)(POLLIN | (writes ? POLLOUT : 0))}, {.fd = event, .events = POLLIN}};
    if (poll(waits, 2, timeout_ms) <= 0) return 0;
    uint64_t count;
    if (waits[1].revents && read(event, &count, sizeof count) < 0) waits[1].revents = 0;
    int reads = (waits[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
    return reads | ((waits[0].revents & POLLOUT) != 0) << 1 | (waits[1].revents != 0) << 2;
}

int kymo_reserve(int fd, long offset, long count) { return result(fallocate(fd, FALLOC_FL_KEEP_SIZE, offset, count)); }

int kymo_rename_exclusive(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -errno;
    // A file system without RENAME_NOREPLACE: a hard link does not overwrite either.
    if (link(from, to) < 0) return -errno;
    return result(unlink(from));
}

int kymo_signals_open(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    int error = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (error) return -error;
    kymo_ignore_broken_pipe();
    return result(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int kymo_signals_next(int fd) {
    struct signalfd_siginfo info;
    ssize_t size = read(fd, &info, sizeof info);
    if (size == sizeof info) return (int)info.ssi_signo;
    return size < 0 && errno != EAGAIN && errno != EINTR ? -errno : 0;
}

void kymo_ignore_broken_pipe(void) {
    signal(SIGPIPE, SIG_IGN);
}

static const size_t large_page = 2u << 20;

/// Address space of `size` bytes at a multiple of `large_page`, with nothing behind it; null on failure.
static void *aligned_space(size_t size) {
    void *space = mmap(NULL, size + large_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return NULL;
    uintptr_t start = ((uintptr_t)space + large_page - 1) / large_page * large_page;
    size_t before = start - (uintptr_t)space;
    if (before > 0) munmap(space, before);
    if (before < large_page) munmap((char *)start + size, large_page - before);
    return (void *)start;
}

void *kymo_memory_take(size_t size) {
    void *space = aligned_space(size);
    if (!space) return NULL;
    if (mprotect(space, size, PROT_READ | PROT_WRITE) != 0) {
        munmap(space, size);
        return NULL;
    }
    // Only advice: without large pages it is memory like any other.
    madvise(space, size, MADV_HUGEPAGE);
    return space;
}

void *kymo_memory_grow(void *block, size_t size, size_t wanted) {
    void *space = aligned_space(wanted);
    if (!space) return NULL;
    void *moved = mremap(block, size, wanted, MREMAP_MAYMOVE | MREMAP_FIXED, space);
    if (moved != MAP_FAILED) return moved;
    munmap(space, wanted);
    return NULL;
}

void kymo_memory_give(void *block, size_t size) {
    munmap(block, size);
}

void kymo_thread_name(const char *name) {
    char kept[16];
    snprintf(kept, sizeof kept, "%s", name);
    pthread_setname_np(pthread_self(), kept);
}

void kymo_rest(int64_t nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&time, NULL);
}

int kymo_thread_bind(int processor) {
    cpu_set_t set;
    if (processor < 0 || processor >= CPU_SETSIZE) return -EINVAL;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return -pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

int kymo_processor_allowed(int processor) {
    cpu_set_t set;
    if (processor < 0 || processor >= CPU_SETSIZE || sched_getaffinity(0, sizeof set, &set) < 0) return 0;
    return CPU_ISSET(processor, &set) != 0;
}

int kymo_processor_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) < 0) return 1;
    return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
}
