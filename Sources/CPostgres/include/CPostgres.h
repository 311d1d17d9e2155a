#ifndef CPOSTGRES_H
#define CPOSTGRES_H

// libpq, loaded when a PostgreSQL sink is configured and not before. The functions are libpq's, declared here by what
// its ABI 5 has had since PostgreSQL 9.2: no header of it is needed for a build. None may be called before
// `kymo_pg_load` has given NULL.

#include <stddef.h>

typedef struct pg_conn kymo_pg_link;
typedef struct pg_result kymo_pg_result;

/// Loads libpq, once in a process. Gives NULL, or why it cannot be used: a text that lives on.
const char *kymo_pg_load(void);

/// `150012` for 15.12.
int kymo_pg_version(void);

/// Begins to connect without waiting; NULL without memory. The lists end with NULL. Notices are dropped, and messages
/// of the connecting have SQLSTATEs.
kymo_pg_link *kymo_pg_start(const char *const *keys, const char *const *values);

/// Goes on with connecting: 0 failed, 1 waits for reading, 2 waits for writing, 3 connected.
int kymo_pg_poll(kymo_pg_link *link);

void kymo_pg_finish(kymo_pg_link *link);

/// -1 without one.
int kymo_pg_socket(const kymo_pg_link *link);

/// Whether the connection still stands.
int kymo_pg_is_up(const kymo_pg_link *link);

/// What went wrong last: lives until the next call for the link.
const char *kymo_pg_problem(const kymo_pg_link *link);

/// 0 when the statements could not be handed over.
int kymo_pg_send(kymo_pg_link *link, const char *statements);

/// 0 all is sent, 1 some is not, -1 failed.
int kymo_pg_flush(kymo_pg_link *link);

/// 0 failed.
int kymo_pg_consume(kymo_pg_link *link);

/// Whether the next result would have to be waited for.
int kymo_pg_is_busy(kymo_pg_link *link);

/// The next result, to be cleared; NULL when there is no more.
kymo_pg_result *kymo_pg_next(kymo_pg_link *link);

void kymo_pg_clear(kymo_pg_result *result);

/// What a result is.
enum kymo_pg_kind { KYMO_PG_DONE, KYMO_PG_ROWS, KYMO_PG_COPY, KYMO_PG_FAILED };
enum kymo_pg_kind kymo_pg_kind(const kymo_pg_result *result);

/// What was done, such as `COMMIT`.
const char *kymo_pg_done(kymo_pg_result *result);

/// SQLSTATE and first message of a failure; NULL where there is none.
const char *kymo_pg_state(const kymo_pg_result *result);
const char *kymo_pg_message(const kymo_pg_result *result);

int kymo_pg_rows(const kymo_pg_result *result);
int kymo_pg_columns(const kymo_pg_result *result);

/// NULL where the value is null; lives until the result is cleared.
const char *kymo_pg_value(const kymo_pg_result *result, int row, int column);

/// Hands over bytes of a COPY: 1 taken, 0 to be given again when the socket takes some, -1 failed.
int kymo_pg_put(kymo_pg_link *link, const void *bytes, int count);

/// Ends a COPY: as above.
int kymo_pg_end_copy(kymo_pg_link *link);

#endif
