#ifndef KYMO_SEALED_H
#define KYMO_SEALED_H

#include <CSeal.h>
#include <sqlite3.h>

/// Bytes at the end of each sealed page: nonce, tag, number of the data key, and a mark by which a sealed page is
/// known.
enum { sealed_reserved = KYMO_TRAILER_BYTES + 8 };

/// What is sealed, as part of what is authenticated.
enum sealed_kind { sealed_database = 1, sealed_log = 2, sealed_journal = 3 };

/// What a file needs to be sealed; null for a plain file.
struct sealed_file;

/// Null without memory.
struct sealed_file *kymo_sealed_new(struct kymo_ring *ring, enum sealed_kind kind);
void kymo_sealed_free(struct sealed_file *sealed);

/// A data key that is not in the list of keys: the result of a read, which says nothing of damage.
enum { sealed_lacks_key = SQLITE_AUTH_USER };

/// Whether a page with these last bytes was sealed with a data key that `ring` lacks, as far as they can be believed.
int kymo_sealed_lacks_key(const struct kymo_ring *ring, const uint8_t end[sealed_reserved]);

/// The frame `frame` of a log, with its head, which was read: opens its page in place. 1 when it is whole.
int kymo_sealed_open_frame(struct sealed_file *sealed, uint8_t *frame, sqlite3_int64 offset);

/// xRead and xWrite of a sealed file, whose bytes are in `file`.
int kymo_sealed_read(
    struct sealed_file *sealed, sqlite3_file *file, void *buffer, int size, sqlite3_int64 offset);
int kymo_sealed_write(
    struct sealed_file *sealed, sqlite3_file *file, const void *buffer, int size, sqlite3_int64 offset);

/// Makes `file`, of size `kymo_memory_file_size`, a file that is only in memory.
void kymo_memory_file_open(sqlite3_file *file);
extern const int kymo_memory_file_size;

#endif
