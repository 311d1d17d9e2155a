#include "sealed.h"

#include <stdlib.h>
#include <string.h>

// Temporary files of SQLite, which hold rows of a sealed store while it sorts or undoes a statement: only in memory.

struct memory_file {
    sqlite3_file base;
    uint8_t *bytes;
    sqlite3_int64 size, room;
};

const int kymo_memory_file_size = sizeof(struct memory_file);

static struct memory_file *memory(sqlite3_file *file) { return (struct memory_file *)file; }

static int close_memory(sqlite3_file *file) {
    if (memory(file)->bytes) explicit_bzero(memory(file)->bytes, (size_t)memory(file)->room);
    free(memory(file)->bytes);
    memory(file)->bytes = 0;
    return SQLITE_OK;
}

static int read_memory(sqlite3_file *file, void *buffer, int size, sqlite3_int64 offset) {
    sqlite3_int64 left = memory(file)->size - offset;
    int count = left < 0 ? 0 : left < size ? (int)left : size;
    if (count > 0) memcpy(buffer, memory(file)->bytes + offset, (size_t)count);
    if (count == size) return SQLITE_OK;
    memset((uint8_t *)buffer + count, 0, (size_t)(size - count));
    return SQLITE_IOERR_SHORT_READ;
}

static int make_room(struct memory_file *file, sqlite3_int64 size) {
    if (size <= file->room) return SQLITE_OK;
    sqlite3_int64 room = file->room < 65536 ? 65536 : file->room;
    while (room < size) room *= 2;
    uint8_t *bytes = calloc(1, (size_t)room);
    if (!bytes) return SQLITE_IOERR_NOMEM;
    if (file->bytes) {
        memcpy(bytes, file->bytes, (size_t)file->size);
        explicit_bzero(file->bytes, (size_t)file->room);
        free(file->bytes);
    }
    file->bytes = bytes;
    file->room = room;
    return SQLITE_OK;
}

static int write_memory(sqlite3_file *file, const void *buffer, int size, sqlite3_int64 offset) {
    int code = make_room(memory(file), offset + size);
    if (code != SQLITE_OK) return code;
    memcpy(memory(file)->bytes + offset, buffer, (size_t)size);
    if (offset + size > memory(file)->size) memory(file)->size = offset + size;
    return SQLITE_OK;
}

static int truncate_memory(sqlite3_file *file, sqlite3_int64 size) {
    if (size >= memory(file)->size) return SQLITE_OK;
    explicit_bzero(memory(file)->bytes + size, (size_t)(memory(file)->size - size));
    memory(file)->size = size;
    return SQLITE_OK;
}

static int size_of_memory(sqlite3_file *file, sqlite3_int64 *size) {
    *size = memory(file)->size;
    return SQLITE_OK;
}

static int sync_memory(sqlite3_file *file, int flags) { return (void)file, (void)flags, SQLITE_OK; }
static int lock_memory(sqlite3_file *file, int level) { return (void)file, (void)level, SQLITE_OK; }
static int is_memory_reserved(sqlite3_file *file, int *out) { return (void)file, *out = 0, SQLITE_OK; }
static int control_memory(sqlite3_file *file, int op, void *arg) {
    return (void)file, (void)op, (void)arg, SQLITE_NOTFOUND;
}
static int no_sector_size(sqlite3_file *file) { return (void)file, 0; }
static int no_characteristics(sqlite3_file *file) { return (void)file, 0; }

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_memory,
    .xRead = read_memory,
    .xWrite = write_memory,
    .xTruncate = truncate_memory,
    .xSync = sync_memory,
    .xFileSize = size_of_memory,
    .xLock = lock_memory,
    .xUnlock = lock_memory,
    .xCheckReservedLock = is_memory_reserved,
    .xFileControl = control_memory,
    .xSectorSize = no_sector_size,
    .xDeviceCharacteristics = no_characteristics,
};

void kymo_memory_file_open(sqlite3_file *file) { *memory(file) = (struct memory_file){{&methods}, 0, 0, 0}; }
