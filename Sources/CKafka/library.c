#include "CKafka.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/// The name that is looked for. The number is librdkafka's ABI, the same since 2013.
#define LIBRARY "librdkafka.so.1"

typedef struct rd_kafka rd_kafka;
typedef struct rd_kafka_queue rd_kafka_queue;
typedef struct rd_kafka_topic rd_kafka_topic;
typedef struct rd_kafka_headers rd_kafka_headers;
typedef kymo_kafka_properties rd_kafka_conf;

/// `rd_kafka_message_t`.
typedef struct {
    int error;
    rd_kafka_topic *topic;
    int32_t partition;
    void *payload;
    size_t payload_count;
    void *key;
    size_t key_count;
    int64_t offset;
    void *opaque;
} rd_kafka_message;

/// `rd_kafka_metadata_topic_t` and `rd_kafka_metadata_t`.
typedef struct {
    char *name;
    int partition_count;
    void *partitions;
    int error;
} rd_kafka_metadata_topic;

typedef struct {
    int broker_count;
    void *brokers;
    int topic_count;
    rd_kafka_metadata_topic *topics;
} rd_kafka_metadata;

/// `rd_kafka_vtype_t`: what follows in the arguments of `rd_kafka_producev`.
enum { END, TOPIC, TOPIC_OBJECT, PARTITION, VALUE, KEY, OPAQUE, FLAGS, TIMESTAMP, HEADER, HEADERS };
/// `RD_KAFKA_PRODUCER`, `RD_KAFKA_CONF_OK`, `RD_KAFKA_MSG_F_COPY`, `RD_KAFKA_PARTITION_UA`, and all
/// `RD_KAFKA_PURGE_F_…`, among them not to wait.
enum { PRODUCER = 0, IS_SET = 0, COPY = 2, ANY_PARTITION = -1, PURGE_ALL = 7 };

/// Every function that is called: its result, its name behind `rd_kafka_`, and its parameters.
#define FUNCTIONS(EACH) \
    EACH(const char *, version_str, (void)) \
    EACH(const char *, err2str, (int)) \
    EACH(rd_kafka_conf *, conf_new, (void)) \
    EACH(void, conf_destroy, (rd_kafka_conf *)) \
    EACH(int, conf_set, (rd_kafka_conf *, const char *, const char *, char *, size_t)) \
    EACH(void, conf_set_opaque, (rd_kafka_conf *, void *)) \
    EACH(void, conf_set_dr_msg_cb, (rd_kafka_conf *, void (*)(rd_kafka *, const rd_kafka_message *, void *))) \
    EACH(void, conf_set_error_cb, (rd_kafka_conf *, void (*)(rd_kafka *, int, const char *, void *))) \
    EACH(void, conf_set_log_cb, (rd_kafka_conf *, void (*)(const rd_kafka *, int, const char *, const char *))) \
    EACH(rd_kafka *, new, (int, rd_kafka_conf *, char *, size_t)) \
    EACH(void, destroy, (rd_kafka *)) \
    EACH(int, producev, (rd_kafka *, ...)) \
    EACH(rd_kafka_headers *, headers_new, (size_t)) \
    EACH(void, headers_destroy, (rd_kafka_headers *)) \
    EACH(int, header_add, (rd_kafka_headers *, const char *, ssize_t, const void *, ssize_t)) \
    EACH(int, poll, (rd_kafka *, int)) \
    EACH(int, purge, (rd_kafka *, int)) \
    EACH(int, fatal_error, (rd_kafka *, char *, size_t)) \
    EACH(rd_kafka_queue *, queue_get_main, (rd_kafka *)) \
    EACH(void, queue_destroy, (rd_kafka_queue *)) \
    EACH(void, queue_io_event_enable, (rd_kafka_queue *, int, const void *, size_t)) \
    EACH(rd_kafka_topic *, topic_new, (rd_kafka *, const char *, void *)) \
    EACH(void, topic_destroy, (rd_kafka_topic *)) \
    EACH(int, metadata, (rd_kafka *, int, rd_kafka_topic *, const rd_kafka_metadata **, int)) \
    EACH(void, metadata_destroy, (const rd_kafka_metadata *))

#define POINTER(result, name, parameters) result(*name) parameters;
static struct { FUNCTIONS(POINTER) } library;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[512];

static void note(const char *text) { snprintf(problem, sizeof problem, "%s", text ? text : "unknown"); }

static void load(void) {
    // Local: nobody else's functions are to be taken for librdkafka's, or the other way round.
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        note(dlerror());
        return;
    }
#define FIND(result, name, parameters) \
    library.name = (__typeof__(library.name))dlsym(handle, "rd_kafka_" #name); \
    if (!library.name) { \
        note(LIBRARY " has no rd_kafka_" #name); \
        return; \
    }
    FUNCTIONS(FIND)
}

const char *kymo_kafka_load(void) {
    pthread_once(&once, load);
    return problem[0] ? problem : NULL;
}

const char *kymo_kafka_version(void) { return library.version_str(); }

const char *kymo_kafka_text(int error) { return library.err2str(error); }

kymo_kafka_properties *kymo_kafka_properties_new(void) { return library.conf_new(); }

void kymo_kafka_properties_free(kymo_kafka_properties *properties) { library.conf_destroy(properties); }

int kymo_kafka_set(
    kymo_kafka_properties *properties, const char *name, const char *value, char *problem, size_t size) {
    return library.conf_set(properties, name, value, problem, size) == IS_SET ? 0 : -1;
}

struct kymo_kafka {
    rd_kafka *client;
    kymo_kafka_calls calls;
    void *context;
};

/// The producer whose pointer is in `opaque`.
static void told(rd_kafka *client, const rd_kafka_message *message, void *opaque) {
    kymo_kafka *producer = opaque;
    producer->calls.told(producer->context, (uint64_t)(uintptr_t)message->opaque, message->error);
    (void)client;
}

static void failed(rd_kafka *client, int error, const char *text, void *opaque) {
    kymo_kafka *producer = opaque;
    producer->calls.failed(producer->context, error, text);
    (void)client;
}

/// What librdkafka would write to standard error: what matters of it comes to `failed`, too.
static void ignore(const rd_kafka *client, int level, const char *facility, const char *text) {
    (void)client, (void)level, (void)facility, (void)text;
}

kymo_kafka *kymo_kafka_open(
    kymo_kafka_properties *properties, kymo_kafka_calls calls, void *context, int descriptor, char *problem,
    size_t size) {
    static const uint64_t one = 1;
    kymo_kafka *producer = calloc(1, sizeof *producer);
    if (!producer) {
        snprintf(problem, size, "no memory for a producer");
        library.conf_destroy(properties);
        return NULL;
    }
    producer->calls = calls;
    producer->context = context;
    library.conf_set_opaque(properties, producer);
    library.conf_set_dr_msg_cb(properties, told);
    library.conf_set_error_cb(properties, failed);
    library.conf_set_log_cb(properties, ignore);
    producer->client = library.new(PRODUCER, properties, problem, size);
    if (!producer->client) {
        // It has not taken them.
        library.conf_destroy(properties);
        free(producer);
        return NULL;
    }
    rd_kafka_queue *queue = library.queue_get_main(producer->client);
    library.queue_io_event_enable(queue, descriptor, &one, sizeof one);
    library.queue_destroy(queue);
    return producer;
}

/// The headers of a message; NULL when there is no memory.
static rd_kafka_headers *made(const kymo_kafka_header *headers, size_t count) {
    rd_kafka_headers *list = library.headers_new(count);
    for (size_t place = 0; list && place < count; place++) {
        const kymo_kafka_piece value = headers[place].value;
        if (!library.header_add(list, headers[place].name, -1, value.bytes, (ssize_t)value.count)) continue;
        library.headers_destroy(list);
        return NULL;
    }
    return list;
}

int kymo_kafka_send(
    kymo_kafka *producer, const char *topic, kymo_kafka_piece key, kymo_kafka_piece value,
    const kymo_kafka_header *headers, size_t header_count, int64_t milliseconds, uint64_t number) {
    rd_kafka_headers *list = made(headers, header_count);
    if (!list) return KYMO_KAFKA_QUEUE_FULL;
    int error = library.producev(
        producer->client, TOPIC, topic, PARTITION, (int)ANY_PARTITION, FLAGS, (int)COPY, KEY,
        key.count ? key.bytes : NULL, key.count, VALUE, value.bytes, value.count, TIMESTAMP, milliseconds, HEADERS,
        list, OPAQUE, (void *)(uintptr_t)number, END);
    // They are the message's only if it was taken.
    if (error) library.headers_destroy(list);
    return error;
}

void kymo_kafka_poll(kymo_kafka *producer) {
    while (library.poll(producer->client, 0) > 0) continue;
}

int kymo_kafka_ask(kymo_kafka *producer, const char *topic, int milliseconds, int *partitions) {
    rd_kafka_topic *object = library.topic_new(producer->client, topic, NULL);
    if (!object) return KYMO_KAFKA_UNKNOWN_TOPIC;
    const rd_kafka_metadata *found = NULL;
    int error = library.metadata(producer->client, 0, object, &found, milliseconds);
    if (!error) {
        if (found->topic_count == 1) {
            error = found->topics[0].error;
            *partitions = found->topics[0].partition_count;
        } else {
            error = KYMO_KAFKA_UNKNOWN_TOPIC;
        }
        library.metadata_destroy(found);
    }
    library.topic_destroy(object);
    return error;
}

int kymo_kafka_fatal(kymo_kafka *producer, char *problem, size_t size) {
    return library.fatal_error(producer->client, problem, size);
}

/// For what is told of while a producer ends.
static void untold(void *context, uint64_t number, int error) { (void)context, (void)number, (void)error; }
static void unsaid(void *context, int error, const char *text) { (void)context, (void)error, (void)text; }

void kymo_kafka_close(kymo_kafka *producer) {
    producer->calls = (kymo_kafka_calls){.told = untold, .failed = unsaid};
    library.purge(producer->client, PURGE_ALL);
    library.destroy(producer->client);
    free(producer);
}
