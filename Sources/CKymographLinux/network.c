#define _GNU_SOURCE
#include "CKymographLinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Sockets on numeric IPv4 and IPv6 addresses.

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

/// Closes `fd` and returns the errno that made it useless.
static int failed(int fd) {
    int error = errno;
    close(fd);
    return -error;
}

static int set(int fd, int level, int option, int value) {
    return setsockopt(fd, level, option, &value, sizeof value);
}

/// The numeric address `host`, to be freed; null when it is none.
static struct addrinfo *resolve(const char *host, uint16_t port, int type) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = type};
    struct addrinfo *found = NULL;
    char service[8];
    snprintf(service, sizeof service, "%u", (unsigned)port);
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
    return getaddrinfo(host, service, &hints, &found) == 0 ? found : NULL;
}

/// Opens a non-blocking socket that has `options`, each with 1, and binds it.
static int bind_to(const char *host, uint16_t port, int type, const int *options, int count) {
    struct addrinfo *address = resolve(host, port, type);
    if (!address) return -EINVAL;
    int fd = socket(address->ai_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? -errno : 0;
    // An IPv6 address listens to IPv6 only, so that 0.0.0.0 and [::] can be given together.
    if (!error && address->ai_family == AF_INET6 && set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) < 0) error = failed(fd);
    for (int i = 0; !error && i < count; i++)
        if (options[i] && set(fd, SOL_SOCKET, options[i], 1) < 0) error = failed(fd);
    if (!error && bind(fd, address->ai_addr, address->ai_addrlen) < 0) error = failed(fd);
    freeaddrinfo(address);
    return error ? error : fd;
}

int kymo_udp_open(const char *host, uint16_t port, int share_port) {
    int options[] = {share_port ? SO_REUSEPORT : 0, SO_RXQ_OVFL};
    return bind_to(host, port, SOCK_DGRAM, options, 2);
}

void kymo_udp_coalesce(int fd) {
    (void)set(fd, SOL_UDP, UDP_GRO, 1);
}

int kymo_tcp_bind(const char *host, uint16_t port) {
    // Connections of an earlier process that wait for their end must not keep the port.
    int options[] = {SO_REUSEADDR};
    return bind_to(host, port, SOCK_STREAM, options, 1);
}

int kymo_tcp_listen(const char *host, uint16_t port) {
    int fd = kymo_tcp_bind(host, port);
    if (fd < 0) return fd;
    return listen(fd, SOMAXCONN) < 0 ? failed(fd) : fd;
}

void kymo_tcp_watch(int fd, int idle, int interval, int probes, int unread) {
    (void)set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle);
    (void)set(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval);
    (void)set(fd, IPPROTO_TCP, TCP_KEEPCNT, probes);
    (void)set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, unread * 1000);
    (void)set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    (void)set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

static int numeric(const struct sockaddr_storage *address, socklen_t size, char *host, size_t host_size, uint16_t *port) {
    char service[8];
    int flags = NI_NUMERICHOST | NI_NUMERICSERV;
    if (getnameinfo((const struct sockaddr *)address, size, host, host_size, service, sizeof service, flags) != 0)
        return -EINVAL;
    *port = (uint16_t)strtoul(service, NULL, 10);
    return 0;
}

int kymo_inet_bound(int fd, char *host, size_t host_size, uint16_t *port) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) < 0) return -errno;
    return numeric(&address, size, host, host_size, port);
}

int kymo_inet_peer(int fd, char *host, size_t host_size, uint16_t *port) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (getpeername(fd, (struct sockaddr *)&address, &size) < 0) return -errno;
    return numeric(&address, size, host, host_size, port);
}

int kymo_inet_text(
    const struct sockaddr_storage *address, socklen_t length, char *host, size_t host_size, uint16_t *port) {
    if (length < sizeof(sa_family_t) || (address->ss_family != AF_INET && address->ss_family != AF_INET6)) return -EINVAL;
    return numeric(address, length, host, host_size, port);
}

struct kymo_endpoint kymo_endpoint_of(const struct sockaddr_storage *address, socklen_t length) {
    struct kymo_endpoint endpoint = {0};
    if (length >= sizeof(struct sockaddr_in) && address->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        endpoint.family = AF_INET;
        endpoint.port = v4->sin_port;
        endpoint.low = v4->sin_addr.s_addr;
    } else if (length >= sizeof(struct sockaddr_in6) && address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
        endpoint.family = AF_INET6;
        endpoint.port = v6->sin6_port;
        endpoint.scope = v6->sin6_scope_id;
        memcpy(&endpoint.high, &v6->sin6_addr, sizeof endpoint.high);
        memcpy(&endpoint.low, (const uint8_t *)&v6->sin6_addr + sizeof endpoint.high, sizeof endpoint.low);
    }
    return endpoint;
}

struct kymo_endpoint kymo_endpoint_local(const struct kymo_mmsghdr *message) {
    struct kymo_endpoint local = {0};
    // CMSG_NXTHDR takes a pointer to non-const and does not write through it.
    struct msghdr *header = (struct msghdr *)&message->msg_hdr;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            local.family = AF_INET;
            local.low = info.ipi_spec_dst.s_addr;
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            local.family = AF_INET6;
            memcpy(&local.high, &info.ipi6_addr, sizeof local.high);
            memcpy(&local.low, (const uint8_t *)&info.ipi6_addr + sizeof local.high, sizeof local.low);
        }
    }
    return local;
}

int kymo_udp_locate(int fd) {
    int family = 0;
    socklen_t size = sizeof family;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) < 0) return -errno;
    int is_v4 = family == AF_INET;
    int level = is_v4 ? IPPROTO_IP : IPPROTO_IPV6, option = is_v4 ? IP_PKTINFO : IPV6_RECVPKTINFO;
    return set(fd, level, option, 1) < 0 ? -errno : 0;
}

static socklen_t address_of(struct kymo_endpoint endpoint, struct sockaddr_storage *address) {
    memset(address, 0, sizeof *address);
    if (endpoint.family == AF_INET) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)address;
        v4->sin_family = AF_INET;
        v4->sin_port = endpoint.port;
        v4->sin_addr.s_addr = (in_addr_t)endpoint.low;
        return sizeof *v4;
    }
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = endpoint.port;
    v6->sin6_scope_id = endpoint.scope;
    memcpy(&v6->sin6_addr, &endpoint.high, sizeof endpoint.high);
    memcpy((uint8_t *)&v6->sin6_addr + sizeof endpoint.high, &endpoint.low, sizeof endpoint.low);
    return sizeof *v6;
}

void kymo_udp_send(int fd, const void *bytes, size_t count, struct kymo_endpoint to, struct kymo_endpoint from) {
    struct sockaddr_storage address;
    struct iovec part = {(void *)(uintptr_t)bytes, count};
    struct msghdr message = {.msg_name = &address, .msg_iov = &part, .msg_iovlen = 1};
    message.msg_namelen = address_of(to, &address);
    union {
        struct cmsghdr head;
        uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
    } control = {0};
    struct in_pktinfo v4 = {.ipi_spec_dst.s_addr = (in_addr_t)from.low};
    struct in6_pktinfo v6 = {0};
    memcpy(&v6.ipi6_addr, &from.high, sizeof from.high);
    memcpy((uint8_t *)&v6.ipi6_addr + sizeof from.high, &from.low, sizeof from.low);
    int is_v4 = from.family == AF_INET;
    size_t size = is_v4 ? sizeof v4 : sizeof v6;
    control.head.cmsg_level = is_v4 ? IPPROTO_IP : IPPROTO_IPV6;
    control.head.cmsg_type = is_v4 ? IP_PKTINFO : IPV6_PKTINFO;
    control.head.cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(&control.head), is_v4 ? (const void *)&v4 : (const void *)&v6, size);
    if (from.family) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(size);
    }
    (void)sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int kymo_inet_bytes(const char *host, uint8_t bytes[16]) {
    struct addrinfo *address = resolve(host, 0, SOCK_STREAM);
    if (!address) return 0;
    int count = 0;
    if (address->ai_family == AF_INET) {
        count = sizeof(struct in_addr);
        memcpy(bytes, &((const struct sockaddr_in *)address->ai_addr)->sin_addr, (size_t)count);
    } else if (address->ai_family == AF_INET6) {
        count = sizeof(struct in6_addr);
        memcpy(bytes, &((const struct sockaddr_in6 *)address->ai_addr)->sin6_addr, (size_t)count);
    }
    freeaddrinfo(address);
    return count;
}

int kymo_inet_is_loopback(const char *host) {
    struct addrinfo *address = resolve(host, 0, SOCK_STREAM);
    if (!address) return 0;
    int is_loopback = 0;
    if (address->ai_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address->ai_addr;
        is_loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    } else if (address->ai_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address->ai_addr;
        is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) != 0;
    }
    freeaddrinfo(address);
    return is_loopback;
}

int kymo_inet_lookup(const char *host, char *hosts, int most, int width) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int code = getaddrinfo(host, NULL, &hints, &found);
    if (code != 0) return code < 0 ? code : -code;
    int count = 0;
    for (struct addrinfo *one = found; one && count < most; one = one->ai_next) {
        char *text = hosts + (size_t)count * (size_t)width;
        if (getnameinfo(one->ai_addr, one->ai_addrlen, text, (socklen_t)width, NULL, 0, NI_NUMERICHOST) == 0) count++;
    }
    freeaddrinfo(found);
    return count > 0 ? count : EAI_NONAME;
}

const char *kymo_inet_lookup_error(int code) {
    return gai_strerror(code);
}

int kymo_tcp_connect(const char *host, uint16_t port) {
    struct addrinfo *address = resolve(host, port, SOCK_STREAM);
    if (!address) return -EINVAL;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? -errno : 0;
    if (!error && connect(fd, address->ai_addr, address->ai_addrlen) < 0 && errno != EINPROGRESS) error = failed(fd);
    freeaddrinfo(address);
    return error ? error : fd;
}

int kymo_inet_host(const uint8_t *bytes, int count, char *text, size_t size) {
    if (count != 4 && count != 16) return 0;
    return inet_ntop(count == 4 ? AF_INET : AF_INET6, bytes, text, (socklen_t)size) != NULL;
}
