#ifndef CSQLITECHECKSUMS_H
#define CSQLITECHECKSUMS_H

// Checksums for the pages of SQLite databases, or their encryption (CSeal). SQLite has none in the database file: a flipped bit in a key would give
// a reading to another patient. C, because a SQLite VFS is a table of C functions.

#include <stdint.h>

/// Bytes of a page; databases with pages of another size are refused.
#define KYMO_PAGE_BYTES 16384

struct sqlite3;

/// Makes the VFS with checksums the one that all databases of the process are opened with. Call it before the first is
/// opened; later calls do nothing. Returns a result code of SQLite.
int kymo_pages_register(void);

/// Reserves room for the checksum, or for what a sealed page needs, in the pages of a database that has none yet.
/// Returns a result code of SQLite.
int kymo_pages_reserve(struct sqlite3 *database);

/// Makes `VACUUM INTO` reserve what sealed pages need. Returns a result code of SQLite.
int kymo_pages_reserve_for_seal(struct sqlite3 *database);

/// Whether the file `path` begins with a page that was sealed: 1, or 0 when not, or when it cannot be read.
int kymo_pages_are_sealed(const char *path);

/// Transactions of the write-ahead log `path` that were durable and can no longer be read. 0 also when there is no log,
/// and when only the last transaction is incomplete: a crash leaves it so.
int64_t kymo_log_lost(const char *path);

#endif
