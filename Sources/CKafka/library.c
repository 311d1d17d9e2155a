#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

/// The name that is looked for. The number is librdkafka's ABI, the same since 2013.
#define LIBRARY "librdkafka.so.1"

struct kymo_kafka_library kymo_kafka_library;

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

void kymo_kafka_ignore(const rd_kafka *client, int level, const char *facility, const char *text) {
    (void)client, (void)level, (void)facility, (void)text;
}

int kymo_kafka_count(rd_kafka *client, const char *topic, int milliseconds, int *partitions) {
    rd_kafka_topic *object = library.topic_new(client, topic, NULL);
    if (!object) return KYMO_KAFKA_UNKNOWN_TOPIC;
    const rd_kafka_metadata *found = NULL;
    int error = library.metadata(client, 0, object, &found, milliseconds);
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

void kymo_kafka_watch(rd_kafka_queue *queue, int descriptor) {
    static const uint64_t one = 1;
    library.queue_io_event_enable(queue, descriptor, &one, sizeof one);
    library.queue_destroy(queue);
}
