#ifndef CKAFKA_H
#define CKAFKA_H

// Producers and consumers of librdkafka, loaded when a Kafka topic is configured and not before. What is used of it has been the same
// since version 1.6 (2021), and is declared here: its headers are not needed. Nothing but `kymo_kafka_load` may be called
// before that has given NULL.

#include <stddef.h>
#include <stdint.h>

/// Properties of a producer or consumer, by the names that librdkafka documents (CONFIGURATION.md).
typedef struct kymo_kafka_properties kymo_kafka_properties;

/// A producer. Belongs to one thread.
typedef struct kymo_kafka kymo_kafka;

/// Errors of librdkafka (`rd_kafka_resp_err_t`) that are looked at: those of its own below zero, those of brokers above.
enum {
    KYMO_KAFKA_BAD_MESSAGE = -199,
    KYMO_KAFKA_BAD_COMPRESSION = -198,
    KYMO_KAFKA_TRANSPORT = -195,
    KYMO_KAFKA_RESOLVE = -193,
    KYMO_KAFKA_UNKNOWN_PARTITION = -190,
    KYMO_KAFKA_UNKNOWN_TOPIC = -188,
    KYMO_KAFKA_ALL_BROKERS_DOWN = -187,
    KYMO_KAFKA_QUEUE_FULL = -184,
    KYMO_KAFKA_SSL = -181,
    KYMO_KAFKA_NOT_IMPLEMENTED = -170,
    KYMO_KAFKA_AUTHENTICATION = -169,
    KYMO_KAFKA_FATAL = -150,
    KYMO_KAFKA_NO_SUCH_OFFSET = -140,
    KYMO_KAFKA_CORRUPT_MESSAGE = 2,
    KYMO_KAFKA_NO_TOPIC_OR_PARTITION = 3,
    KYMO_KAFKA_MESSAGE_TOO_LARGE = 10,
    KYMO_KAFKA_TOPIC_NAME = 17,
    KYMO_KAFKA_BATCH_TOO_LARGE = 18,
    KYMO_KAFKA_TOPIC_FORBIDDEN = 29,
    KYMO_KAFKA_GROUP_FORBIDDEN = 30,
    KYMO_KAFKA_CLUSTER_FORBIDDEN = 31,
    KYMO_KAFKA_POLICY_VIOLATION = 44,
    KYMO_KAFKA_SASL_FAILED = 58,
    KYMO_KAFKA_UNSUPPORTED_COMPRESSION = 76,
    KYMO_KAFKA_INVALID_RECORD = 87,
};

/// What a producer tells while it is polled, with the context that it was opened with.
typedef struct {
    /// Message `number` is stored with as many copies as the topic wants, or with an `error` other than 0 will not be sent again.
    void (*told)(void *context, uint64_t number, int error);
    /// Something is wrong that is no message's: `text` says what, without secrets.
    void (*failed)(void *context, int error, const char *text);
} kymo_kafka_calls;

/// A piece of a message.
typedef struct {
    const void *bytes;
    size_t count;
} kymo_kafka_piece;

/// A header of a message.
typedef struct {
    const char *name;
    kymo_kafka_piece value;
} kymo_kafka_header;

/// Loads librdkafka, once in a process. Gives NULL, or why it cannot be used: a text that lives on.
const char *kymo_kafka_load(void);

/// Its version.
const char *kymo_kafka_version(void);

/// What `error` is in words.
const char *kymo_kafka_text(int error);

kymo_kafka_properties *kymo_kafka_properties_new(void);
void kymo_kafka_properties_free(kymo_kafka_properties *properties);

/// Sets a property; 0, or else `problem` says why it is not taken.
int kymo_kafka_set(
    kymo_kafka_properties *properties, const char *name, const char *value, char *problem, size_t size);

/// A producer with `properties`, which are its own from here on, also when there is none: then `problem` says why.
/// It writes the eight bytes of a 1 to `descriptor` when there is something to poll for.
kymo_kafka *kymo_kafka_open(
    kymo_kafka_properties *properties, kymo_kafka_calls calls, void *context, int descriptor, char *problem,
    size_t size);

/// Has a message sent, of which a copy is taken; an error when it was not taken. `key` without bytes is none.
int kymo_kafka_send(
    kymo_kafka *producer, const char *topic, kymo_kafka_piece key, kymo_kafka_piece value,
    const kymo_kafka_header *headers, size_t header_count, int64_t milliseconds, uint64_t number);

/// Makes the calls for what has happened, without waiting.
void kymo_kafka_poll(kymo_kafka *producer);

/// Asks the brokers for `topic`, for up to `milliseconds`: 0 and the number of its partitions, or an error.
int kymo_kafka_ask(kymo_kafka *producer, const char *topic, int milliseconds, int *partitions);

/// Why the producer can send nothing more and must be opened anew; 0 while it can.
int kymo_kafka_fatal(kymo_kafka *producer, char *problem, size_t size);

/// Forgets what was not sent, and ends. Nothing is called any more.
void kymo_kafka_close(kymo_kafka *producer);


/// A consumer of one group, which reads the partitions that it is told to. Belongs to one thread.
typedef struct kymo_kafka_consumer kymo_kafka_consumer;

/// What a consumer tells while it is polled or asked for records, with the context that it was opened with.
typedef struct {
    /// Something is wrong that is no record's: `text` says what, without secrets.
    void (*failed)(void *context, int error, const char *text);
    /// The group's position in `partition` is `offset` now, or with an `error` other than 0 is what it was.
    void (*committed)(void *context, int32_t partition, int64_t offset, int error);
} kymo_kafka_consumer_calls;

/// Places in a partition that are no numbers: the first record that it still has, the end of what it has, and none.
enum { KYMO_KAFKA_FIRST = -2, KYMO_KAFKA_END = -1, KYMO_KAFKA_NOWHERE = -1001 };

/// A place in a partition: the record to be read next.
typedef struct {
    int32_t partition;
    int64_t offset;
} kymo_kafka_position;

/// A record, or with an `error` other than 0 what was wrong with a partition.
typedef struct {
    void *message;
    int error;
    int32_t partition;
    int64_t offset;
    /// `bytes` is NULL where the record has no value (a tombstone), or no key.
    kymo_kafka_piece value, key;
    /// When it was made or stored, since 1970; -1 when that is not known.
    int64_t milliseconds;
} kymo_kafka_record;

/// A consumer with `properties`, which are its own from here on, also when there is none: then `problem` says why.
/// It writes the eight bytes of a 1 to `descriptor`, unless that is -1, when there is something to ask for.
kymo_kafka_consumer *kymo_kafka_consumer_open(
    kymo_kafka_properties *properties, kymo_kafka_consumer_calls calls, void *context, int descriptor, char *problem,
    size_t size);

/// As `kymo_kafka_ask`.
int kymo_kafka_consumer_ask(kymo_kafka_consumer *consumer, const char *topic, int milliseconds, int *partitions);

/// Writes what brokers call their cluster to `text`, without waiting: nothing before they have answered, and where they do
/// not say.
void kymo_kafka_cluster(kymo_kafka_consumer *consumer, char *text, size_t size);

/// Asks for the group's positions in the partitions of `all`, for up to `milliseconds`: KYMO_KAFKA_NOWHERE without one.
int kymo_kafka_positions(
    kymo_kafka_consumer *consumer, const char *topic, kymo_kafka_position *all, size_t count, int milliseconds);

/// Asks for the offsets of the first record that a partition has, and of the next one that it will get.
int kymo_kafka_bounds(
    kymo_kafka_consumer *consumer, const char *topic, int32_t partition, int64_t *first, int64_t *end,
    int milliseconds);

/// The end of a partition as the last answer had it, without asking; -1 where none has come.
int64_t kymo_kafka_known_end(kymo_kafka_consumer *consumer, const char *topic, int32_t partition);

/// Begins to read the partitions of `all` from there, and no others.
int kymo_kafka_assign(
    kymo_kafka_consumer *consumer, const char *topic, const kymo_kafka_position *all, size_t count);

/// Makes the calls for what has happened, without waiting.
void kymo_kafka_consumer_poll(kymo_kafka_consumer *consumer);

/// Gives the next record, without waiting; 0 when there is none. It must be freed, if it is there, before the next.
int kymo_kafka_next(kymo_kafka_consumer *consumer, kymo_kafka_record *record);
void kymo_kafka_record_free(kymo_kafka_record *record);

/// Gives the header at `place` of the record's `message`, valid until that is freed; 0 when there is none, and -1 when
/// its headers are damaged. `bytes` of a header without a value is NULL.
int kymo_kafka_record_header(const void *message, size_t place, kymo_kafka_header *header);

/// Has the group's positions set, without waiting: `committed` tells.
int kymo_kafka_commit(
    kymo_kafka_consumer *consumer, const char *topic, const kymo_kafka_position *all, size_t count);

/// Why the consumer can read nothing more and must be opened anew; 0 while it can.
int kymo_kafka_consumer_fatal(kymo_kafka_consumer *consumer, char *problem, size_t size);

/// Ends. Nothing is called any more.
void kymo_kafka_consumer_close(kymo_kafka_consumer *consumer);

#endif
