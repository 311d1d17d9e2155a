#include "CSQLiteChecksums.h"

#include <CKymographLinux.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

#include "sealed.h"

// The last eight bytes of each page are SQLite's "reserved region" (file format, section 1.3.4): a CRC-32C of the page
// and its place, and four zero bytes. Computed when a page is written to the database file, compared when it is read.
// The write-ahead log has checksums of its own.

enum { reserved = 8, checked = KYMO_PAGE_BYTES - reserved };

struct page_file {
    sqlite3_file base;
    int is_database;
    struct sealed_file *sealed;
    // The file of the original VFS follows.
};

static sqlite3_vfs *original;
static sqlite3_vfs vfs;

static sqlite3_file *inner(sqlite3_file *file) { return (sqlite3_file *)((struct page_file *)file + 1); }
static int is_database(sqlite3_file *file) { return ((struct page_file *)file)->is_database; }

static uint32_t checksum(const uint8_t *page, sqlite3_int64 offset) {
    uint64_t place = (uint64_t)offset;
    return kymo_crc32c(kymo_crc32c(0, page, checked), (const uint8_t *)&place, sizeof place);
}

static int is_zero(const uint8_t *page) { return page[0] == 0 && memcmp(page, page + 1, KYMO_PAGE_BYTES - 1) == 0; }

/// Whether `page` is as it was written. A page of zeros has not been written at all: SQLite looks into it itself.
static int is_whole(const uint8_t *page, sqlite3_int64 offset) {
    uint32_t stored;
    memcpy(&stored, page + checked, sizeof stored);
    if (stored == checksum(page, offset)) return 1;
    return offset > 0 && is_zero(page);
}

static int read_file(sqlite3_file *file, void *buffer, int size, sqlite3_int64 offset) {
    int code = inner(file)->pMethods->xRead(inner(file), buffer, size, offset);
    if (!is_database(file) || size < 512) return code;
    // The end of a file that was cut; SQLite would take the rest of the page for zeros.
    if (code == SQLITE_IOERR_SHORT_READ && size == KYMO_PAGE_BYTES) return is_zero(buffer) ? code : SQLITE_IOERR_DATA;
    if (code != SQLITE_OK) return code;
    // The size of pages is read from the first one; a damaged one names another.
    if (size != KYMO_PAGE_BYTES) return offset == 0 ? SQLITE_IOERR_DATA : code;
    return offset % KYMO_PAGE_BYTES != 0 || is_whole(buffer, offset) ? code : SQLITE_IOERR_DATA;
}

static int write_file(sqlite3_file *file, const void *buffer, int size, sqlite3_int64 offset) {
    if (is_database(file) && size == KYMO_PAGE_BYTES && offset % KYMO_PAGE_BYTES == 0) {
        // Nobody else uses the reserved region of SQLite's buffer.
        uint8_t *page = (uint8_t *)buffer;
        uint32_t sum = checksum(page, offset);
        memcpy(page + checked, &sum, sizeof sum);
        memset(page + checked + sizeof sum, 0, reserved - sizeof sum);
    }
    return inner(file)->pMethods->xWrite(inner(file), buffer, size, offset);
}

// The rest is passed on.

static int close_file(sqlite3_file *f) { return inner(f)->pMethods->xClose(inner(f)); }
static int truncate_file(sqlite3_file *f, sqlite3_int64 size) { return inner(f)->pMethods->xTruncate(inner(f), size); }
static int sync_file(sqlite3_file *f, int flags) { return inner(f)->pMethods->xSync(inner(f), flags); }
static int file_size(sqlite3_file *f, sqlite3_int64 *size) { return inner(f)->pMethods->xFileSize(inner(f), size); }
static int lock_file(sqlite3_file *f, int level) { return inner(f)->pMethods->xLock(inner(f), level); }
static int unlock_file(sqlite3_file *f, int level) { return inner(f)->pMethods->xUnlock(inner(f), level); }
static int is_reserved(sqlite3_file *f, int *out) { return inner(f)->pMethods->xCheckReservedLock(inner(f), out); }
static int control(sqlite3_file *f, int op, void *arg) { return inner(f)->pMethods->xFileControl(inner(f), op, arg); }
static int sector_size(sqlite3_file *f) { return inner(f)->pMethods->xSectorSize(inner(f)); }
static int characteristics(sqlite3_file *f) { return inner(f)->pMethods->xDeviceCharacteristics(inner(f)); }
static int map_shared(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    return inner(f)->pMethods->xShmMap(inner(f), page, size, extend, out);
}
static int lock_shared(sqlite3_file *f, int offset, int count, int flags) {
    return inner(f)->pMethods->xShmLock(inner(f), offset, count, flags);
}
static void barrier(sqlite3_file *f) { inner(f)->pMethods->xShmBarrier(inner(f)); }
static int unmap_shared(sqlite3_file *f, int delete) { return inner(f)->pMethods->xShmUnmap(inner(f), delete); }

// Version 2: without memory-mapped reads, which would not be looked at.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = is_reserved,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_shared,
};

// A sealed file differs in these.

static struct sealed_file *sealed(sqlite3_file *file) { return ((struct page_file *)file)->sealed; }

static int close_sealed(sqlite3_file *f) {
    kymo_sealed_free(sealed(f));
    return close_file(f);
}
static int read_sealed(sqlite3_file *f, void *buffer, int size, sqlite3_int64 offset) {
    return kymo_sealed_read(sealed(f), inner(f), buffer, size, offset);
}
static int write_sealed(sqlite3_file *f, const void *buffer, int size, sqlite3_int64 offset) {
    return kymo_sealed_write(sealed(f), inner(f), buffer, size, offset);
}
// Else SQLite would write a page of the log in two parts.
static int sealed_characteristics(sqlite3_file *f) { return characteristics(f) | SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

static sqlite3_io_methods sealed_methods;

/// What SQLite opens that holds pages: 0 for other files.
static enum sealed_kind kind(int flags) {
    if (flags & SQLITE_OPEN_MAIN_DB) return sealed_database;
    if (flags & SQLITE_OPEN_WAL) return sealed_log;
    return flags & SQLITE_OPEN_MAIN_JOURNAL ? sealed_journal : 0;
}

/// Opens a file of a process that has sealed stores; 0 when it is a plain one.
static int open_sealed(const char *name, sqlite3_file *file, int flags, int *out, int *code) {
    // Of which store it is nobody says.
    if (!name) {
        kymo_memory_file_open(file);
        if (out) *out = flags;
        *code = SQLITE_OK;
        return 1;
    }
    struct kymo_ring *ring = kind(flags) ? kymo_ring_of(name) : 0;
    if (!ring) return 0;
    struct page_file *opened = (struct page_file *)file;
    file->pMethods = 0;
    opened->sealed = kymo_sealed_new(ring, kind(flags));
    if (!opened->sealed) return *code = SQLITE_NOMEM, 1;
    *code = original->xOpen(original, name, inner(file), flags, out);
    if (inner(file)->pMethods) file->pMethods = &sealed_methods;
    else kymo_sealed_free(opened->sealed);
    return 1;
}

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)self;
    int code;
    if (kymo_ring_any() && open_sealed(name, file, flags, out, &code)) return code;
    code = original->xOpen(original, name, inner(file), flags, out);
    file->pMethods = inner(file)->pMethods ? &methods : 0;
    ((struct page_file *)file)->is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    return code;
}

static int registered = SQLITE_ERROR;

static void register_once(void) {
    // Nobody asks how much memory SQLite uses, and to count it costs a lock for each row. Where SQLite runs already, it
    // goes on counting.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    original = sqlite3_vfs_find(0);
    if (!original) return;
    sealed_methods = methods;
    sealed_methods.xClose = close_sealed;
    sealed_methods.xRead = read_sealed;
    sealed_methods.xWrite = write_sealed;
    sealed_methods.xDeviceCharacteristics = sealed_characteristics;
    // Of the original's functions only xOpen looks at the VFS that it is called with.
    vfs = *original;
    vfs.zName = "kymo-pages";
    vfs.szOsFile = original->szOsFile + (int)sizeof(struct page_file);
    vfs.xOpen = open_file;
    vfs.pNext = 0;
    registered = sqlite3_vfs_register(&vfs, 1);
}

int kymo_pages_register(void) {
    // A second registration would take this VFS for the one below it, and call itself for ever.
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_once);
    return registered;
}

int kymo_pages_reserve(struct sqlite3 *database) {
    sqlite3_file *file = 0;
    int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    int bytes = file && file->pMethods == &sealed_methods ? sealed_reserved : reserved;
    return sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

int kymo_pages_reserve_for_seal(struct sqlite3 *database) {
    int bytes = sealed_reserved;
    return sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}
