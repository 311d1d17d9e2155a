#include "library.h"

#include <stdio.h>
#include <stdlib.h>

struct kymo_kafka_consumer {
    rd_kafka *client;
    kymo_kafka_consumer_calls calls;
    void *context;
};

static void failed(rd_kafka *client, int error, const char *text, void *opaque) {
    kymo_kafka_consumer *consumer = opaque;
    consumer->calls.failed(consumer->context, error, text);
    (void)client;
}

static void committed(rd_kafka *client, int error, rd_kafka_topic_partition_list *list, void *opaque) {
    kymo_kafka_consumer *consumer = opaque;
    for (int place = 0; list && place < list->count; place++) {
        const rd_kafka_topic_partition *one = &list->all[place];
        consumer->calls.committed(consumer->context, one->partition, one->offset, error ? error : one->error);
    }
    (void)client;
}

kymo_kafka_consumer *kymo_kafka_consumer_open(
    kymo_kafka_properties *properties, kymo_kafka_consumer_calls calls, void *context, int descriptor, char *problem,
    size_t size) {
    kymo_kafka_consumer *consumer = calloc(1, sizeof *consumer);
    if (!consumer) {
        snprintf(problem, size, "no memory for a consumer");
        library.conf_destroy(properties);
        return NULL;
    }
    consumer->calls = calls;
    consumer->context = context;
    library.conf_set_opaque(properties, consumer);
    library.conf_set_error_cb(properties, failed);
    library.conf_set_offset_commit_cb(properties, committed);
    library.conf_set_log_cb(properties, kymo_kafka_ignore);
    consumer->client = library.new(CONSUMER, properties, problem, size);
    if (!consumer->client) {
        // It has not taken them.
        library.conf_destroy(properties);
        free(consumer);
        return NULL;
    }
    // Two queues: what is told of brokers does not wait behind records that nobody takes.
    if (descriptor >= 0) {
        kymo_kafka_watch(library.queue_get_main(consumer->client), descriptor);
        kymo_kafka_watch(library.queue_get_consumer(consumer->client), descriptor);
    }
    return consumer;
}

int kymo_kafka_consumer_ask(kymo_kafka_consumer *consumer, const char *topic, int milliseconds, int *partitions) {
    return kymo_kafka_count(consumer->client, topic, milliseconds, partitions);
}

void kymo_kafka_cluster(kymo_kafka_consumer *consumer, char *text, size_t size) {
    char *name = library.clusterid(consumer->client, 0);
    snprintf(text, size, "%s", name ? name : "");
    if (name) library.mem_free(consumer->client, name);
}

/// A list of the places `all` of `topic`; NULL when there is no memory.
static rd_kafka_topic_partition_list *listed(const char *topic, const kymo_kafka_position *all, size_t count) {
    rd_kafka_topic_partition_list *list = library.topic_partition_list_new((int)count);
    for (size_t place = 0; list && place < count; place++)
        library.topic_partition_list_add(list, topic, all[place].partition)->offset = all[place].offset;
    return list;
}

int kymo_kafka_positions(
    kymo_kafka_consumer *consumer, const char *topic, kymo_kafka_position *all, size_t count, int milliseconds) {
    rd_kafka_topic_partition_list *list = listed(topic, all, count);
    if (!list) return KYMO_KAFKA_QUEUE_FULL;
    int error = library.committed(consumer->client, list, milliseconds);
    for (size_t place = 0; !error && place < count; place++) {
        error = list->all[place].error;
        all[place].offset = list->all[place].offset;
    }
    library.topic_partition_list_destroy(list);
    return error;
}

int kymo_kafka_bounds(
    kymo_kafka_consumer *consumer, const char *topic, int32_t partition, int64_t *first, int64_t *end,
    int milliseconds) {
    return library.query_watermark_offsets(consumer->client, topic, partition, first, end, milliseconds);
}

int64_t kymo_kafka_known_end(kymo_kafka_consumer *consumer, const char *topic, int32_t partition) {
    int64_t first = -1, end = -1;
    return library.get_watermark_offsets(consumer->client, topic, partition, &first, &end) ? -1 : end;
}

int kymo_kafka_assign(
    kymo_kafka_consumer *consumer, const char *topic, const kymo_kafka_position *all, size_t count) {
    rd_kafka_topic_partition_list *list = listed(topic, all, count);
    if (!list) return KYMO_KAFKA_QUEUE_FULL;
    int error = library.assign(consumer->client, list);
    library.topic_partition_list_destroy(list);
    return error;
}

void kymo_kafka_consumer_poll(kymo_kafka_consumer *consumer) {
    while (library.poll(consumer->client, 0) > 0) continue;
}

int kymo_kafka_next(kymo_kafka_consumer *consumer, kymo_kafka_record *record) {
    const rd_kafka_message *message = library.consumer_poll(consumer->client, 0);
    if (!message) return 0;
    *record = (kymo_kafka_record){
        .message = (void *)message,
        .error = message->error,
        .partition = message->partition,
        .offset = message->offset,
        .value = {.bytes = message->payload, .count = message->payload_count},
        .key = {.bytes = message->key, .count = message->key_count},
        .milliseconds = library.message_timestamp(message, NULL),
    };
    return 1;
}

int kymo_kafka_record_header(const void *message, size_t place, kymo_kafka_header *header) {
    rd_kafka_headers *headers = NULL;
    int error = library.message_headers(message, &headers);
    if (error) return error == NO_ENTRY ? 0 : -1;
    const void *bytes = NULL;
    if (library.header_get_all(headers, place, &header->name, &bytes, &header->value.count)) return 0;
    header->value.bytes = bytes;
    return 1;
}

void kymo_kafka_record_free(kymo_kafka_record *record) { library.message_destroy(record->message); }

int kymo_kafka_commit(
    kymo_kafka_consumer *consumer, const char *topic, const kymo_kafka_position *all, size_t count) {
    rd_kafka_topic_partition_list *list = listed(topic, all, count);
    if (!list) return KYMO_KAFKA_QUEUE_FULL;
    int error = library.commit(consumer->client, list, 1);
    library.topic_partition_list_destroy(list);
    return error;
}

int kymo_kafka_consumer_fatal(kymo_kafka_consumer *consumer, char *problem, size_t size) {
    return library.fatal_error(consumer->client, problem, size);
}

/// For what is told of while a consumer ends.
static void unsaid(void *context, int error, const char *text) { (void)context, (void)error, (void)text; }
static void undone(void *context, int32_t partition, int64_t offset, int error) {
    (void)context, (void)partition, (void)offset, (void)error;
}

void kymo_kafka_consumer_close(kymo_kafka_consumer *consumer) {
    consumer->calls = (kymo_kafka_consumer_calls){.failed = unsaid, .committed = undone};
    // There is no membership to leave, and closing would wait for the answer to each commit, for ever if need be.
    library.destroy_flags(consumer->client, NO_CLOSE);
    free(consumer);
}
