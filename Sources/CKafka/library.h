// What is used of librdkafka, as its header declares it. For the files of this folder.
#ifndef CKAFKA_LIBRARY_H
#define CKAFKA_LIBRARY_H

#include "CKafka.h"

#include <sys/types.h>

typedef struct rd_kafka rd_kafka;
typedef struct rd_kafka_queue rd_kafka_queue;
typedef struct rd_kafka_topic rd_kafka_topic;
typedef struct rd_kafka_headers rd_kafka_headers;
typedef kymo_kafka_properties rd_kafka_conf;

/// `rd_kafka_topic_partition_t` and `rd_kafka_topic_partition_list_t`.
typedef struct {
    char *topic;
    int32_t partition;
    int64_t offset;
    void *metadata;
    size_t metadata_size;
    void *opaque;
    int error;
    void *inner;
} rd_kafka_topic_partition;

typedef struct {
    int count;
    int size;
    rd_kafka_topic_partition *all;
} rd_kafka_topic_partition_list;

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
/// `RD_KAFKA_PRODUCER`, `RD_KAFKA_CONSUMER`, `RD_KAFKA_CONF_OK`, `RD_KAFKA_MSG_F_COPY`, `RD_KAFKA_PARTITION_UA`, and all
/// `RD_KAFKA_PURGE_F_…`, among them not to wait; `RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE`, `RD_KAFKA_RESP_ERR__NOENT`.
enum {
    PRODUCER = 0,
    CONSUMER = 1,
    IS_SET = 0,
    COPY = 2,
    ANY_PARTITION = -1,
    PURGE_ALL = 7,
    NO_CLOSE = 8,
    NO_ENTRY = -156,
};

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
    EACH(void, metadata_destroy, (const rd_kafka_metadata *)) \
    EACH(void, conf_set_offset_commit_cb, \
        (rd_kafka_conf *, void (*)(rd_kafka *, int, rd_kafka_topic_partition_list *, void *))) \
    EACH(void, destroy_flags, (rd_kafka *, int)) \
    EACH(rd_kafka_queue *, queue_get_consumer, (rd_kafka *)) \
    EACH(rd_kafka_topic_partition_list *, topic_partition_list_new, (int)) \
    EACH(rd_kafka_topic_partition *, topic_partition_list_add, (rd_kafka_topic_partition_list *, const char *, int32_t)) \
    EACH(void, topic_partition_list_destroy, (rd_kafka_topic_partition_list *)) \
    EACH(int, committed, (rd_kafka *, rd_kafka_topic_partition_list *, int)) \
    EACH(int, query_watermark_offsets, (rd_kafka *, const char *, int32_t, int64_t *, int64_t *, int)) \
    EACH(int, get_watermark_offsets, (rd_kafka *, const char *, int32_t, int64_t *, int64_t *)) \
    EACH(int, assign, (rd_kafka *, const rd_kafka_topic_partition_list *)) \
    EACH(rd_kafka_message *, consumer_poll, (rd_kafka *, int)) \
    EACH(void, message_destroy, (rd_kafka_message *)) \
    EACH(int64_t, message_timestamp, (const rd_kafka_message *, int *)) \
    EACH(int, message_headers, (const rd_kafka_message *, rd_kafka_headers **)) \
    EACH(int, header_get_all, (const rd_kafka_headers *, size_t, const char **, const void **, size_t *)) \
    EACH(char *, clusterid, (rd_kafka *, int)) \
    EACH(void, mem_free, (rd_kafka *, void *)) \
    EACH(int, commit, (rd_kafka *, const rd_kafka_topic_partition_list *, int))

#define POINTER(result, name, parameters) result(*name) parameters;
/// The functions, once `kymo_kafka_load` has given NULL.
extern struct kymo_kafka_library { FUNCTIONS(POINTER) } kymo_kafka_library;
#define library kymo_kafka_library

/// Passes over what librdkafka would write to standard error: what matters of it is told of, too.
void kymo_kafka_ignore(const rd_kafka *client, int level, const char *facility, const char *text);

/// Asks for the number of partitions of `topic`.
int kymo_kafka_count(rd_kafka *client, const char *topic, int milliseconds, int *partitions);

/// Has librdkafka write the eight bytes of a 1 to `descriptor` when `queue`, which is released, gets something.
void kymo_kafka_watch(rd_kafka_queue *queue, int descriptor);

#endif
