#include "library.h"

#include <stdio.h>
#include <stdlib.h>

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

kymo_kafka *kymo_kafka_open(
    kymo_kafka_properties *properties, kymo_kafka_calls calls, void *context, int descriptor, char *problem,
    size_t size) {
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
    library.conf_set_log_cb(properties, kymo_kafka_ignore);
    producer->client = library.new(PRODUCER, properties, problem, size);
    if (!producer->client) {
        // It has not taken them.
        library.conf_destroy(properties);
        free(producer);
        return NULL;
    }
    kymo_kafka_watch(library.queue_get_main(producer->client), descriptor);
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
    return kymo_kafka_count(producer->client, topic, milliseconds, partitions);
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
