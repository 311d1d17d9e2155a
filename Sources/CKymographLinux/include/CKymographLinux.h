#ifndef CKYMOGRAPH_LINUX_H
#define CKYMOGRAPH_LINUX_H

// What Swift cannot say about Linux: GNU-only calls, cmsg macros, sockaddr casts, the packed epoll_event.
// Every function returns a negative errno instead of setting errno, which a Swift caller might read too late.

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/// Same layout as `struct mmsghdr`, which the system header shows only under _GNU_SOURCE. Defining that here would
/// change what other Clang modules see of the same headers. shim.c pins the layout.
struct kymo_mmsghdr {
    struct msghdr msg_hdr;
    unsigned int msg_len;
};

/// Fills up to `count` messages without waiting, after giving each its control buffer length back (the kernel
/// overwrites it). Returns how many arrived.
int kymo_recvmmsg(int fd, struct kymo_mmsghdr *messages, unsigned int count, size_t control_length);

/// Bytes that the control messages of a datagram need: SO_RXQ_OVFL, UDP_GRO and the address that it came to.
size_t kymo_control_length(void);

/// The length of each datagram but the last that the kernel has put into this message one behind the other (UDP_GRO),
/// or 0 when it is a single one.
int kymo_segment_length(const struct kymo_mmsghdr *message);

/// The SO_RXQ_OVFL counter that came with a message, or -1 when none did. (cmsg access is macros.)
int64_t kymo_overflow_count(const struct kymo_mmsghdr *message);

/// What SO_MEMINFO says of a socket. `error` is 0 or a negative errno.
struct kymo_memory_info {
    int error;
    uint32_t queued_bytes;
    uint32_t dropped;
};
struct kymo_memory_info kymo_memory_info(int fd);

/// Whether a crash may leave a core file, and processes of the same user may trace this one and read its memory.
/// (prctl is variadic.)
void kymo_set_dumpable(int dumpable);

/// Opens and binds a non-blocking UDP socket to a numeric host. Returns the descriptor; -EINVAL when the host is not
/// numeric.
int kymo_udp_open(const char *host, uint16_t port, int share_port);

/// Lets the kernel hand over datagrams of one sender that came together as one message (UDP_GRO). Not an error where
/// the kernel cannot.
void kymo_udp_coalesce(int fd);

/// Opens and binds a non-blocking TCP socket to a numeric host, which no client can connect to. Returns the descriptor;
/// -EINVAL when the host is not numeric.
int kymo_tcp_bind(const char *host, uint16_t port);

/// Opens, binds and listens to a non-blocking TCP socket on a numeric host. Returns the descriptor; -EINVAL when the
/// host is not numeric.
int kymo_tcp_listen(const char *host, uint16_t port);

/// Has the kernel end a TCP connection whose other end has gone without a word: after `idle` seconds of silence it asks
/// `probes` times, `interval` seconds apart; so it does when what was sent is not taken for `unread` seconds. (Options
/// are macros.)
void kymo_tcp_watch(int fd, int idle, int interval, int probes, int unread);

/// The numeric address a socket is bound to. (sockaddr casts.)
int kymo_inet_bound(int fd, char *host, size_t host_size, uint16_t *port);
/// The numeric address at the other end of a connection.
int kymo_inet_peer(int fd, char *host, size_t host_size, uint16_t *port);
/// The numeric address in `address`, of which there are `length` bytes; a negative errno when it is none of IP.
int kymo_inet_text(const struct sockaddr_storage *address, socklen_t length, char *host, size_t host_size, uint16_t *port);
/// Where a datagram is from, in a form that can be compared: family and port, the address and its scope. The family is 0
/// when it is none of IP.
struct kymo_endpoint {
    uint16_t family;
    uint16_t port;
    uint32_t scope;
    uint64_t high;
    uint64_t low;
};
struct kymo_endpoint kymo_endpoint_of(const struct sockaddr_storage *address, socklen_t length);
/// The local address that a datagram came to, without a port; family 0 where the kernel was not asked for it.
struct kymo_endpoint kymo_endpoint_local(const struct kymo_mmsghdr *message);
/// Has the kernel tell for each datagram which local address it came to. 0, or a negative errno.
int kymo_udp_locate(int fd);
/// Sends a datagram without waiting, from the local address `from` if it has one.
void kymo_udp_send(int fd, const void *bytes, size_t count, struct kymo_endpoint to, struct kymo_endpoint from);

/// The 4 or 16 bytes of a numeric host, to `bytes`; how many, or 0 when it is not numeric.
int kymo_inet_bytes(const char *host, uint8_t bytes[16]);

/// Writes the text of the address in `bytes`, 4 of IPv4 or 16 of IPv6, to `text`, which has room for `size` bytes. 1, or 0
/// for another number of bytes.
int kymo_inet_host(const uint8_t *bytes, int count, char *text, size_t size);
/// Whether only this machine can reach a numeric host.
int kymo_inet_is_loopback(const char *host);

/// Writes the numeric addresses of `host`, at most `most` of them, each as a text that ends with a zero into `width`
/// bytes of `hosts`; how many, or a negative code. Blocks.
int kymo_inet_lookup(const char *host, char *hosts, int most, int width);
/// What such a code means.
const char *kymo_inet_lookup_error(int code);
/// Opens a non-blocking TCP socket and begins to connect it to a numeric host. Returns the descriptor.
int kymo_tcp_connect(const char *host, uint16_t port);

/// Asks for a receive buffer, beyond the system's limit where the process may. Returns what the kernel granted.
int kymo_receive_buffer(int fd, int bytes);

/// Opens a non-blocking Unix socket of `type`. Returns the descriptor.
int kymo_unix_open(int type);
/// Binds to a path; -ENAMETOOLONG when it does not fit into sun_path.
int kymo_unix_bind(int fd, const char *path);
/// Connects to a path; -ENAMETOOLONG when it does not fit into sun_path.
int kymo_unix_connect(int fd, const char *path);
/// Bytes, about, that were sent into a Unix stream socket and that its other end has not read: 0 only when it has read
/// all of them, or has closed. Or a negative errno.
int kymo_unread(int fd);
/// Sends one datagram of `size` bytes to the Unix socket `path`, from a socket made for it; waits for room for a
/// second at most. A path that begins with '@' is a name in the abstract namespace (unix(7)). 0 or a negative errno.
int kymo_unix_datagram(const char *path, const void *bytes, size_t size);
/// Accepts a connection, non-blocking. (accept4 is a GNU call.)
int kymo_accept(int fd);

/// Who connected a Unix socket (SO_PEERCRED). `error` is 0 or a negative errno. (struct ucred is a GNU type.)
struct kymo_peer {
    int error;
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};
struct kymo_peer kymo_peer_of(int fd);

/// Opens a serial line for this process alone, raw, without flow control: `data_bits` 5 to 8, `parity` 'N', 'E' or 'O',
/// `stop_bits` 1 or 2. Drops what has come before. Returns the descriptor, non-blocking; -ENOTTY for what is no serial
/// line, -EBUSY or -EWOULDBLOCK when another process has it. (Speeds are macros.)
int kymo_serial_open(const char *path, int speed, int data_bits, int parity, int stop_bits);
/// Whether serial lines know `speed`.
int kymo_serial_has_speed(int speed);

/// An epoll instance. (struct epoll_event is packed on some machines.)
int kymo_epoll_create(void);
int kymo_epoll_add(int epoll, int fd, uint64_t token);
int kymo_epoll_remove(int epoll, int fd);
/// Writes the tokens of the ready descriptors; returns how many, 0 on timeout or interruption.
int kymo_epoll_wait(int epoll, uint64_t *tokens, int capacity, int timeout_ms);

/// An event counter for waking a thread.
int kymo_event_create(void);
/// Wakes whoever waits for `fd`; safe from any thread.
int kymo_event_raise(int fd);

/// Waits until `fd` was raised, or `timeout_ms` passed (-1: without limit), and takes the event. 1 when it was raised.
int kymo_event_wait(int fd, int timeout_ms);
/// Waits until one of two descriptors is readable: bit 0 for `first`, bit 1 for `second`, 0 on timeout. An event
/// counter that is readable stays so until ``kymo_event_wait`` takes it.
int kymo_wait_either(int first, int second, int timeout_ms);
/// Waits until `socket` has bytes or has ended (bit 0), has room for bytes, where it `writes` (bit 1), or the event
/// counter `event` was raised, which is taken (bit 2); 0 on timeout.
int kymo_wait_socket(int socket, int writes, int event, int timeout_ms);

/// Names the calling thread for top(1) and perf(1); the system keeps 15 bytes. (pthread_setname_np is a GNU call.)
void kymo_thread_name(const char *name);
/// Puts the calling thread to sleep, until a signal at the longest.
void kymo_rest(int64_t nanoseconds);
/// Binds the calling thread to one processor. (cpu_set_t is a GNU type, filled by macros.)
int kymo_thread_bind(int processor);
/// Whether this process may run on `processor`.
int kymo_processor_allowed(int processor);
/// How many processors this process may run on, at least 1.
int kymo_processor_count(void);

/// Renames unless `to` exists (-EEXIST). (renameat2 is a GNU call.)
int kymo_rename_exclusive(const char *from, const char *to);

/// Sets `count` bytes from `offset` on aside for a file, whose size stays as it is; 0 or a negative errno. (fallocate
/// is a GNU call.)
int kymo_reserve(int fd, long offset, long count);

/// Blocks SIGINT, SIGTERM and SIGHUP in the calling thread, ignores SIGPIPE, and returns a descriptor that tells of
/// them. (sigset_t is filled by macros.)
int kymo_signals_open(void);
/// The next signal, 0 when none waits.
int kymo_signals_next(int fd);
/// Ignores SIGPIPE. (SIG_IGN is a cast.)
void kymo_ignore_broken_pipe(void);

/// Maps `size` bytes of zeros, aligned to large pages and advised to use them; null on failure. Sizes are multiples of
/// 2 MiB. (MAP_FAILED is a cast.)
void *kymo_memory_take(size_t size);
/// Makes a mapping larger without copying its content, perhaps at another address; null on failure, and then the old
/// one is still there. (mremap is variadic.)
void *kymo_memory_grow(void *block, size_t size, size_t wanted);
/// Ends a mapping.
void kymo_memory_give(void *block, size_t size);
/// Takes all pages of code and constants from this process, and what the heap does not need any more: most of them
/// were used once, by the start or by the first readings. What is used again comes back from the page cache, sixteen
/// pages at a time.
void kymo_memory_forget_unused(void);

/// Tells the processor that this thread only looks whether another one has done something.
static inline void kymo_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `size` bytes, continuing `crc` (0 at first). By the processor's
/// instruction where it has one.
uint32_t kymo_crc32c(uint32_t crc, const uint8_t *bytes, size_t size);

// Landlock: rights that a thread, and threads that it starts later, give up for good.

/// Which version of it the kernel has; 0 without any that is of use (Linux 5.19 and later).
int kymo_landlock_version(void);
/// Rules by which nothing may be written, made, removed or executed: a descriptor, or a negative errno.
int kymo_landlock_new(void);
/// Lets files be written below `path`, or the file `path`; with `everything` also made, renamed and removed there, which
/// must be a folder. 0 or a negative errno.
int kymo_landlock_allow(int rules, const char *path, int everything);
/// From here on the rules hold for this thread and those that it starts. 0 or a negative errno.
int kymo_landlock_enter(int rules);

// What is built.

/// The commit, as the build was told (`KYMO_COMMIT`); empty when it was not.
const char *kymo_commit(void);

/// Version of the C library that is loaded.
const char *kymo_libc_version(void);

#endif
