#ifndef CSQLITECHECKSUMS_H
#define CSQLITECHECKSUMS_H

// Checksums for the pages of SQLite databases, or their encryption (CSeal). SQLite has none in the database file: a
// flipped bit in a key would give a reading to another patient. C, because a SQLite VFS is a table of C functions.

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

/// Whether the database `path` begins with a page that was sealed: 1, or 0 when not, when it is missing, and when the
/// process may not read it; -1, with errno, when that cannot be known. SQLite may have the database open.
int kymo_pages_are_sealed(const char *path);

struct kymo_ring;

/// What the first page of a database is.
enum kymo_first_page {
    /// There is no database, or not a page of it.
    kymo_first_missing,
    /// Sealed with a key of the ring, and as it was written.
    kymo_first_whole,
    /// Not sealed.
    kymo_first_plain,
    /// Sealed with a key that the ring lacks.
    kymo_first_lacks_key,
    /// Sealed with a key of the ring, for another store, or changed.
    kymo_first_damaged,
    kymo_first_unreadable,
};

/// What the first page of the database `path` is, for a store with `ring`. SQLite may have the database open.
enum kymo_first_page kymo_pages_first(const char *path, struct kymo_ring *ring);

/// Whether any page of the database `path` was sealed with a key that `ring` lacks: 1 or 0. SQLite may have it open.
int kymo_pages_lack_key(const char *path, struct kymo_ring *ring);

/// The same of the write-ahead log `path`.
int kymo_log_lacks_key(const char *path, struct kymo_ring *ring);

/// Transactions of the write-ahead log `path` that were durable and can no longer be read. 0 also when there is no log,
/// and when only the last transaction is incomplete: a crash leaves it so.
int64_t kymo_log_lost(const char *path);

#endif
