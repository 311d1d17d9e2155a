#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

/// The name that is looked for. The number is libpq's ABI, the same since 2005.
#define LIBRARY "libpq.so.5"

/// Every function that is called: its result, its name behind `PQ`, and its parameters.
#define FUNCTIONS(EACH) \
    EACH(int, libVersion, (void)) \
    EACH(kymo_pg_link *, connectStartParams, (const char *const *, const char *const *, int)) \
    EACH(int, connectPoll, (kymo_pg_link *)) \
    EACH(void, finish, (kymo_pg_link *)) \
    EACH(int, socket, (const kymo_pg_link *)) \
    EACH(int, status, (const kymo_pg_link *)) \
    EACH(char *, errorMessage, (const kymo_pg_link *)) \
    EACH(int, setErrorVerbosity, (kymo_pg_link *, int)) \
    EACH(void *, setNoticeReceiver, (kymo_pg_link *, void (*)(void *, const kymo_pg_result *), void *)) \
    EACH(int, setnonblocking, (kymo_pg_link *, int)) \
    EACH(int, sendQuery, (kymo_pg_link *, const char *)) \
    EACH(int, flush, (kymo_pg_link *)) \
    EACH(int, consumeInput, (kymo_pg_link *)) \
    EACH(int, isBusy, (kymo_pg_link *)) \
    EACH(kymo_pg_result *, getResult, (kymo_pg_link *)) \
    EACH(void, clear, (kymo_pg_result *)) \
    EACH(int, resultStatus, (const kymo_pg_result *)) \
    EACH(char *, cmdStatus, (kymo_pg_result *)) \
    EACH(char *, resultErrorField, (const kymo_pg_result *, int)) \
    EACH(int, ntuples, (const kymo_pg_result *)) \
    EACH(int, nfields, (const kymo_pg_result *)) \
    EACH(int, getisnull, (const kymo_pg_result *, int, int)) \
    EACH(char *, getvalue, (const kymo_pg_result *, int, int)) \
    EACH(int, putCopyData, (kymo_pg_link *, const char *, int)) \
    EACH(int, putCopyEnd, (kymo_pg_link *, const char *))

#define POINTER(result, name, parameters) result(*name) parameters;
static struct { FUNCTIONS(POINTER) } library;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[512];

static void note(const char *text) { snprintf(problem, sizeof problem, "%s", text ? text : "unknown"); }

static void load(void) {
    // Local: nobody else's functions are to be taken for libpq's, or the other way round.
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        note(dlerror());
        return;
    }
#define FIND(result, name, parameters) \
    library.name = (__typeof__(library.name))dlsym(handle, "PQ" #name); \
    if (!library.name) { \
        note(LIBRARY " has no PQ" #name); \
        return; \
    }
    FUNCTIONS(FIND)
}

const char *kymo_pg_load(void) {
    pthread_once(&once, load);
    return problem[0] ? problem : NULL;
}

int kymo_pg_version(void) { return library.libVersion(); }

/// A server's notices may quote what it was sent.
static void ignore(void *context, const kymo_pg_result *result) {
    (void)context;
    (void)result;
}

kymo_pg_link *kymo_pg_start(const char *const *keys, const char *const *values) {
    kymo_pg_link *link = library.connectStartParams(keys, values, 0);
    if (!link) return NULL;
    library.setNoticeReceiver(link, ignore, NULL);
    // PQERRORS_VERBOSE: it is the only way to learn the SQLSTATE of a refused connection.
    library.setErrorVerbosity(link, 2);
    return link;
}

int kymo_pg_poll(kymo_pg_link *link) {
    int state = library.connectPoll(link);
    if (state == 3 && library.setnonblocking(link, 1)) return 0;
    return state;
}

void kymo_pg_finish(kymo_pg_link *link) { library.finish(link); }

int kymo_pg_socket(const kymo_pg_link *link) { return library.socket(link); }

int kymo_pg_is_up(const kymo_pg_link *link) { return library.status(link) == 0; }

const char *kymo_pg_problem(const kymo_pg_link *link) { return library.errorMessage(link); }

int kymo_pg_send(kymo_pg_link *link, const char *statements) { return library.sendQuery(link, statements); }

int kymo_pg_flush(kymo_pg_link *link) { return library.flush(link); }

int kymo_pg_consume(kymo_pg_link *link) { return library.consumeInput(link); }

int kymo_pg_is_busy(kymo_pg_link *link) { return library.isBusy(link); }

kymo_pg_result *kymo_pg_next(kymo_pg_link *link) { return library.getResult(link); }

void kymo_pg_clear(kymo_pg_result *result) { library.clear(result); }

enum kymo_pg_kind kymo_pg_kind(const kymo_pg_result *result) {
    // Of ExecStatusType: PGRES_EMPTY_QUERY, PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_COPY_OUT, PGRES_COPY_IN.
    switch (library.resultStatus(result)) {
    case 0:
    case 1: return KYMO_PG_DONE;
    case 2: return KYMO_PG_ROWS;
    case 4: return KYMO_PG_COPY;
    default: return KYMO_PG_FAILED;
    }
}

const char *kymo_pg_done(kymo_pg_result *result) { return library.cmdStatus(result); }

const char *kymo_pg_state(const kymo_pg_result *result) { return library.resultErrorField(result, 'C'); }

const char *kymo_pg_message(const kymo_pg_result *result) { return library.resultErrorField(result, 'M'); }

int kymo_pg_rows(const kymo_pg_result *result) { return library.ntuples(result); }

int kymo_pg_columns(const kymo_pg_result *result) { return library.nfields(result); }

const char *kymo_pg_value(const kymo_pg_result *result, int row, int column) {
    return library.getisnull(result, row, column) ? NULL : library.getvalue(result, row, column);
}

int kymo_pg_put(kymo_pg_link *link, const void *bytes, int count) { return library.putCopyData(link, bytes, count); }

int kymo_pg_end_copy(kymo_pg_link *link) { return library.putCopyEnd(link, NULL); }
