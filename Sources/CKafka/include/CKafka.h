#ifndef CKAFKA_H
#define CKAFKA_H

// Producers of librdkafka, loaded when a Kafka topic is configured and not before. What is used of it has been the same
// since version 1.6 (2021), and is declared here: its headers are not needed. Nothing but `kymo_kafka_load` may be called
// before that has given NULL.

#include <stddef.h>
#include <stdint.h>

/// Properties of a producer, by the names that librdkafka documents (CONFIGURATION.md).
typedef struct kymo_kafka_properties kymo_kafka_properties;

/// A producer. Belongs to one thread.
typedef struct kymo_kafka kymo_kafka;

/// Errors of librdkafka (`rd_kafka_resp_err_t`) that are looked at: those of its own below zero, those of brokers above.
enum {
    KYMO_KAFKA_TRANSPORT = -195,
    KYMO_KAFKA_RESOLVE = -193,
    KYMO_KAFKA_UNKNOWN_PARTITION = -190,
    KYMO_KAFKA_UNKNOWN_TOPIC = -188,
    KYMO_KAFKA_ALL_BROKERS_DOWN = -187,
    KYMO_KAFKA_QUEUE_FULL = -184,
    KYMO_KAFKA_SSL = -181,
    KYMO_KAFKA_AUTHENTICATION = -169,
    KYMO_KAFKA_FATAL = -150,
    KYMO_KAFKA_NO_TOPIC_OR_PARTITION = 3,
    KYMO_KAFKA_MESSAGE_TOO_LARGE = 10,
    KYMO_KAFKA_TOPIC_NAME = 17,
    KYMO_KAFKA_BATCH_TOO_LARGE = 18,
    KYMO_KAFKA_TOPIC_FORBIDDEN = 29,
    KYMO_KAFKA_CLUSTER_FORBIDDEN = 31,
    KYMO_KAFKA_POLICY_VIOLATION = 44,
    KYMO_KAFKA_SASL_FAILED = 58,
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

#endif
