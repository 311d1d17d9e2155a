/* world.c: what is outside of the process: clients, a server, and whoever stops it and breaks things. Threads of the
   simulation carry out what the driver, another process, answers to what has happened. It answers at once, so that the
   same seed gives the same world. */
#include "simulation.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { MOST_CONNECTIONS = 64, MOST_BYTES = 1 << 20 };

static int to_driver = -1, from_driver = -1, server_port;

/* MARK: The driver */

struct answer {
    char action[16];
    int64_t number;
    int64_t size;
    uint8_t *bytes;
};

static _Noreturn void give_up(void) {
    raw(SYS_exit_group, BROKEN, 0, 0, 0, 0, 0);
    __builtin_unreachable();
}

static void put(const void *bytes, int64_t size) {
    for (int64_t done = 0; done < size;) {
        long count = raw(SYS_write, to_driver, (long)bytes + done, size - done, 0, 0, 0);
        if (count == -EINTR) continue;
        if (count <= 0) give_up();
        done += count;
    }
}

static void get(void *bytes, int64_t size) {
    for (int64_t done = 0; done < size;) {
        long count = raw(SYS_read, from_driver, (long)bytes + done, size - done, 0, 0, 0);
        if (count == -EINTR) continue;
        if (count <= 0) give_up();
        done += count;
    }
}

static struct answer ask(const char *who, const char *event, const void *bytes, int64_t size) {
    char line[128];
    put(line, snprintf(line, sizeof line, "%s %s %ld %ld\n", who, event, (long)clock_now(), (long)size));
    put(bytes, size);
    int length = 0;
    do get(line + length, 1);
    while (line[length] != '\n' && ++length < (int)sizeof line - 1);
    line[length] = 0;
    struct answer answer = {0};
    long number, count;
    if (sscanf(line, "%15s %ld %ld", answer.action, &number, &count) != 3) give_up();
    answer.number = number;
    answer.size = count;
    answer.bytes = malloc((size_t)count + 1);
    get(answer.bytes, count);
    answer.bytes[count] = 0;
    note(answer.action, number);
    return answer;
}

void tell_end(const char *how) {
    char text[96];
    if (to_driver < 0) return;
    is_active = 0;
    int size = snprintf(text, sizeof text, "%ld %016lx", (long)operations(), (unsigned long)trace_value());
    char line[128];
    put(line, snprintf(line, sizeof line, "end %s %ld %d\n", how, (long)clock_now(), size));
    put(text, size);
}

/* MARK: Sockets */

static socklen_t unix_address(struct sockaddr_un *address, const char *path) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    strncpy(address->sun_path, path, sizeof address->sun_path - 1);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (path[0] == '@') address->sun_path[0] = 0;
    return size;
}

static socklen_t port_address(struct sockaddr_un *address, int port) {
    char name[64];
    snprintf(name, sizeof name, "@kymo-simulation-%d-%d", (int)getpid(), port);
    return unix_address(address, name);
}

/* Puts a Unix socket in the place of one of the network, with all that the process has set of its descriptor. */
static void replace(int socket) {
    int own = (int)raw(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0);
    raw(SYS_dup3, own, socket, O_CLOEXEC, 0, 0, 0);
    raw(SYS_close, own, 0, 0, 0, 0, 0);
}

/* A connection to an address of the network is one to a Unix socket, which is as fast as it is read. */
int connect(int socket, const struct sockaddr *address, socklen_t size) {
    if (!is_active || !present || address->sa_family != AF_INET) {
        pass("connect", 0);
        return (int)result(raw(SYS_connect, socket, (long)address, size, 0, 0, 0));
    }
    int port = ntohs(((const struct sockaddr_in *)address)->sin_port);
    pass("connect", port);
    struct sockaddr_un local;
    socklen_t length = port_address(&local, port);
    replace(socket);
    if (raw(SYS_connect, socket, (long)&local, length, 0, 0, 0) == 0) return 0;
    errno = ECONNREFUSED;
    return -1;
}

/* A port of the network that streams come by is the name of a Unix socket, too. */
int bind(int socket, const struct sockaddr *address, socklen_t size) {
    int type = 0;
    socklen_t length = sizeof type;
    raw(SYS_getsockopt, socket, SOL_SOCKET, SO_TYPE, (long)&type, (long)&length, 0);
    if (!is_active || !present || address->sa_family != AF_INET || type != SOCK_STREAM)
        return (int)result(raw(SYS_bind, socket, (long)address, size, 0, 0, 0));
    int port = ntohs(((const struct sockaddr_in *)address)->sin_port);
    pass("bind", port);
    struct sockaddr_un local;
    length = port_address(&local, port);
    replace(socket);
    return (int)result(raw(SYS_bind, socket, (long)&local, length, 0, 0, 0));
}

/* What such a connection says of its ends. */
static int network_name(long number, int socket, struct sockaddr *address, socklen_t *size) {
    struct sockaddr_storage found = {0};
    socklen_t length = sizeof found;
    long error = raw(number, socket, (long)&found, (long)&length, 0, 0, 0);
    if (error) return (int)result(error);
    if (is_active && present && found.ss_family == AF_UNIX && *size == sizeof(struct sockaddr_storage)) {
        const char *name = ((struct sockaddr_un *)&found)->sun_path, *port = name[0] ? NULL : strrchr(name + 1, '-');
        *(struct sockaddr_in *)&found = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_port = htons(port ? (uint16_t)atoi(port + 1) : 1),
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        length = sizeof(struct sockaddr_in);
    }
    memcpy(address, &found, length < *size ? length : *size);
    *size = length;
    return 0;
}

int getsockname(int socket, struct sockaddr *restrict address, socklen_t *restrict size) {
    return network_name(SYS_getsockname, socket, address, size);
}

int getpeername(int socket, struct sockaddr *restrict address, socklen_t *restrict size) {
    return network_name(SYS_getpeername, socket, address, size);
}

ssize_t send(int socket, const void *bytes, size_t size, int flags) {
    pass("send", (int64_t)size);
    // A network takes a part.
    if (is_active && present && size > 1 && one_in(20)) size = 1 + (size_t)draw_below((int64_t)size - 1);
    return result(raw(SYS_sendto, socket, (long)bytes, (long)size, flags, 0, 0));
}

ssize_t recv(int socket, void *bytes, size_t size, int flags) {
    pass("receive", (int64_t)size);
    return result(raw(SYS_recvfrom, socket, (long)bytes, (long)size, flags, 0, 0));
}

ssize_t read(int descriptor, void *bytes, size_t size) {
    if (is_active && present) {
        pass("read", (int64_t)size);
        struct pollfd wait = {.fd = descriptor, .events = POLLIN};
        int flags = (int)raw(SYS_fcntl, descriptor, 3 /* F_GETFL */, 0, 0, 0, 0);
        if (flags >= 0 && !(flags & 04000 /* O_NONBLOCK */) && raw(SYS_poll, (long)&wait, 1, 0, 0, 0, 0) == 0)
            wait_for(&wait, 1, NEVER);
        // Streams give what has come, which may be a part.
        if (size > 4096 && one_in(4)) size = 1 + (size_t)draw_below(4096);
    }
    return result(raw(SYS_read, descriptor, (long)bytes, (long)size, 0, 0, 0));
}

/* MARK: Clients */

struct client {
    char name[24];
    int socket, type;
    uint8_t *received;
};

static struct answer told(struct client *client, const char *event, int64_t size) {
    return ask(client->name, event, client->received, size);
}

static void leave(struct client *client) {
    if (client->socket >= 0) raw(SYS_close, client->socket, 0, 0, 0, 0, 0);
    client->socket = -1;
}

static struct answer wait_as(struct client *client, int64_t nanoseconds) {
    if (client->socket < 0 || client->type != SOCK_STREAM) {
        pause_for(nanoseconds);
        return told(client, "waited", 0);
    }
    struct pollfd wait = {.fd = client->socket, .events = POLLIN};
    int64_t deadline = nanoseconds < 0 ? NEVER : moment() + nanoseconds;
    if (!wait_for(&wait, 1, deadline)) return told(client, "waited", 0);
    long size = raw(SYS_recvfrom, client->socket, (long)client->received, MOST_BYTES, MSG_DONTWAIT, 0, 0);
    if (size > 0) return told(client, "received", size);
    if (size == -EAGAIN) return told(client, "waited", 0);
    leave(client);
    return told(client, "closed", 0);
}

/* `path` is that of a Unix socket, or a colon and a port of the network. */
static struct answer connect_as(struct client *client, int type, const char *path) {
    struct sockaddr_un address;
    leave(client);
    socklen_t size = path[0] == ':' ? port_address(&address, atoi(path + 1)) : unix_address(&address, path);
    client->type = type;
    client->socket = (int)raw(SYS_socket, AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0);
    if (raw(SYS_connect, client->socket, (long)&address, size, 0, 0, 0) == 0) return told(client, "connected", 0);
    leave(client);
    return told(client, "failed", 0);
}

static struct answer send_as(struct client *client, const uint8_t *bytes, int64_t size) {
    for (int64_t done = 0; done < size && client->socket >= 0;) {
        int64_t part = client->type == SOCK_STREAM && one_in(3) ? 1 + draw_below(size - done) : size - done;
        long count = raw(SYS_sendto, client->socket, (long)bytes + done, part, MSG_NOSIGNAL, 0, 0);
        if (count > 0) {
            done += count;
            // What is sent in parts may be read in parts.
            if (done < size) pause_for(draw_below(3000000));
        } else if (count == -EAGAIN) {
            struct pollfd wait = {.fd = client->socket, .events = POLLOUT};
            wait_for(&wait, 1, moment() + SECOND);
        } else {
            leave(client);
            return told(client, "closed", 0);
        }
    }
    return told(client, "sent", 0);
}

static void *run_client(void *argument) {
    struct client *client = argument;
    client->received = calloc(1, MOST_BYTES);
    struct answer answer = told(client, "begun", 0);
    while (strcmp(answer.action, "end") != 0) {
        struct answer next;
        if (!strcmp(answer.action, "wait")) next = wait_as(client, answer.number);
        else if (!strcmp(answer.action, "connect"))
            next = connect_as(client, (int)answer.number, (const char *)answer.bytes);
        else if (!strcmp(answer.action, "send")) next = send_as(client, answer.bytes, answer.size);
        else if (!strcmp(answer.action, "finish")) {
            raw(SYS_shutdown, client->socket, SHUT_WR, 0, 0, 0, 0);
            next = told(client, "finished", 0);
        } else if (!strcmp(answer.action, "signal")) {
            kill(getpid(), (int)answer.number);
            next = told(client, "signalled", 0);
        } else {
            leave(client);
            next = told(client, "left", 0);
        }
        free(answer.bytes);
        answer = next;
    }
    leave(client);
    return NULL;
}

/* MARK: Who stops it and breaks things */

static void *run_director(void *unused) {
    (void)unused;
    struct answer answer = ask("director", "begun", NULL, 0);
    while (strcmp(answer.action, "end") != 0) {
        if (!strcmp(answer.action, "wait")) pause_for(answer.number);
        else if (!strcmp(answer.action, "signal")) kill(getpid(), (int)answer.number);
        else if (!strcmp(answer.action, "disk")) disk_error = (int)answer.number;
        else if (!strcmp(answer.action, "clock")) step_wall_clock(answer.number);
        else if (!strcmp(answer.action, "crash")) crash((int)answer.number);
        free(answer.bytes);
        answer = ask("director", "done", NULL, 0);
    }
    return NULL;
}

/* MARK: A server */

struct connection {
    int socket;
    int64_t size, due;
    uint8_t *request;
    struct answer reply;
};

static struct connection connections[MOST_CONNECTIONS];
static int connection_count;

static void end_connection(struct connection *one) {
    raw(SYS_close, one->socket, 0, 0, 0, 0, 0);
    free(one->request);
    free(one->reply.bytes);
    *one = connections[--connection_count];
}

/* The size of the first request; 0 while it is not complete. */
static int64_t request_size(struct connection *one) {
    one->request[one->size] = 0;
    char *end = strstr((char *)one->request, "\r\n\r\n");
    if (!end) return 0;
    char *length = strcasestr((char *)one->request, "\r\nContent-Length:");
    int64_t size = end + 4 - (char *)one->request + (length && length < end ? atol(length + 17) : 0);
    return size <= one->size ? size : 0;
}

/* Takes what has come; false when the client has gone. */
static int take(struct connection *one) {
    long count = raw(
        SYS_recvfrom, one->socket, (long)one->request + one->size, MOST_BYTES - one->size, MSG_DONTWAIT, 0, 0);
    if (count == -EAGAIN) return 1;
    if (count <= 0) return 0;
    one->size += count;
    int64_t size = request_size(one);
    if (size == 0 || one->due) return 1;
    one->reply = ask("server", "request", one->request, size);
    memmove(one->request, one->request + size, (size_t)(one->size -= size));
    one->due = moment() + one->reply.number + 1;
    return 1;
}

/* Sends the reply; false when the connection is to end. */
static int reply(struct connection *one) {
    one->due = 0;
    for (int64_t done = 0; done < one->reply.size;) {
        long count = raw(
            SYS_sendto, one->socket, (long)one->reply.bytes + done, one->reply.size - done, MSG_NOSIGNAL, 0, 0);
        struct pollfd wait = {.fd = one->socket, .events = POLLOUT};
        if (count == -EAGAIN) wait_for(&wait, 1, moment() + SECOND);
        else if (count <= 0) return 0;
        else done += count;
    }
    int goes_on = !strcmp(one->reply.action, "reply");
    free(one->reply.bytes);
    one->reply.bytes = NULL;
    return goes_on;
}

static void take_client(int listener) {
    int socket = (int)raw(SYS_accept4, listener, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0);
    if (socket < 0) return;
    if (connection_count == MOST_CONNECTIONS) give_up();
    connections[connection_count++] = (struct connection){.socket = socket, .request = malloc(MOST_BYTES + 1)};
}

static void *run_server(void *unused) {
    (void)unused;
    struct sockaddr_un address;
    socklen_t length = port_address(&address, server_port);
    int listener = (int)raw(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0);
    if (raw(SYS_bind, listener, (long)&address, length, 0, 0, 0) || raw(SYS_listen, listener, 64, 0, 0, 0, 0))
        give_up();
    for (;;) {
        struct pollfd waits[MOST_CONNECTIONS + 1] = {{.fd = listener, .events = POLLIN}};
        int64_t due = NEVER;
        for (int i = 0; i < connection_count; i++) {
            waits[i + 1] = (struct pollfd){.fd = connections[i].due ? -1 : connections[i].socket, .events = POLLIN};
            if (connections[i].due && connections[i].due < due) due = connections[i].due;
        }
        int count = connection_count;
        wait_for(waits, (nfds_t)count + 1, due);
        // From the last: those that end are replaced by it.
        for (int i = count - 1; i >= 0; i--) {
            struct connection *one = &connections[i];
            int goes_on = 1;
            if (one->due && one->due <= moment()) goes_on = reply(one);
            else if (waits[i + 1].revents) goes_on = take(one);
            if (!goes_on) end_connection(one);
        }
        if (waits[0].revents) take_client(listener);
    }
    return NULL;
}

void begin_world(void) {
    const char *out = getenv("KYMO_SIMULATION_OUT"), *in = getenv("KYMO_SIMULATION_IN");
    const char *clients = getenv("KYMO_SIMULATION_CLIENTS"), *port = getenv("KYMO_SIMULATION_PORT");
    if (!out || !in) return;
    (to_driver = atoi(out)), (from_driver = atoi(in));
    server_port = port ? atoi(port) : 0;
    start_thread(run_director, NULL);
    for (int i = 0; i < (clients ? atoi(clients) : 0); i++) {
        struct client *client = calloc(1, sizeof *client);
        snprintf(client->name, sizeof client->name, "client%d", i);
        client->socket = -1;
        start_thread(run_client, client);
    }
    if (server_port) start_thread(run_server, NULL);
}
