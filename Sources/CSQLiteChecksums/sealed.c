#include "sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CSQLiteChecksums.h"

// Pages, frames of the log and records of the rollback journal, encrypted. SQLite sees zeros where nonce and tag are,
// in each page that it reads and writes: its own checksums of frames are of what it sees. What has none of the shapes
// that SQLite 3.40 reads and writes is refused, so that nothing of a page can be written as it is.

enum {
    content = KYMO_PAGE_BYTES - sealed_reserved,
    log_head = 32,
    frame_head = 24,
    frame_bytes = frame_head + KYMO_PAGE_BYTES,
    /// Of a frame's head: the page, the size of the database after a commit, the salts.
    bound_head = 16,
    salts = 8,
    place_of_salts = 16,
    /// The longest head of a journal: a sector.
    longest_head = 4096,
};

static const uint8_t mark[sealed_reserved - KYMO_TRAILER_BYTES] = "KYMOSEAL";

/// What is authenticated beside a page, so that none is taken for another one.
struct extra {
    uint8_t mark[sizeof mark];
    uint8_t store[KYMO_STORE_ID_BYTES];
    uint8_t kind[8];
    /// The place in the file, little-endian.
    uint8_t place[8];
    uint8_t head[bound_head];
};

struct sealed_file {
    enum sealed_kind kind;
    struct kymo_sealer *sealer;
    /// The head of a frame that was written last, and where.
    sqlite3_int64 headed;
    uint8_t head[bound_head];
    uint8_t page[KYMO_PAGE_BYTES];
};

struct sealed_file *kymo_sealed_new(struct kymo_ring *ring, enum sealed_kind kind) {
    struct sealed_file *sealed = calloc(1, sizeof *sealed);
    if (!sealed) return 0;
    (sealed->kind = kind, sealed->headed = -1);
    sealed->sealer = kymo_sealer_new(ring);
    if (sealed->sealer) return sealed;
    free(sealed);
    return 0;
}

void kymo_sealed_free(struct sealed_file *sealed) {
    if (!sealed) return;
    kymo_sealer_free(sealed->sealer);
    free(sealed);
}

static struct extra extra(const struct sealed_file *sealed, sqlite3_int64 offset, const uint8_t *head) {
    struct extra extra = {.kind = {(uint8_t)sealed->kind}};
    memcpy(extra.mark, mark, sizeof mark);
    memcpy(extra.store, kymo_sealer_store(sealed->sealer), sizeof extra.store);
    for (int byte = 0; byte < 8; byte++) extra.place[byte] = (uint8_t)((uint64_t)offset >> 8 * byte);
    if (head) memcpy(extra.head, head, sizeof extra.head);
    return extra;
}

int kymo_sealed_lacks_key(const struct kymo_ring *ring, const uint8_t end[sealed_reserved]) {
    const uint8_t *number = end + KYMO_NONCE_BYTES + KYMO_TAG_BYTES;
    uint32_t id = (uint32_t)number[3] << 24 | (uint32_t)number[2] << 16 | (uint32_t)number[1] << 8 | number[0];
    // Keys have the numbers from 1 on, and there are no more of them: another number is a bit that has flipped.
    return memcmp(end + KYMO_TRAILER_BYTES, mark, sizeof mark) == 0 && id >= 1 && id <= KYMO_RING_KEYS &&
           !kymo_ring_has(ring, id);
}

/// Opens a page in place: SQLITE_OK, SQLITE_IOERR_DATA when it is not whole, or `sealed_lacks_key`.
static int open_page(struct sealed_file *sealed, uint8_t *page, sqlite3_int64 offset, const uint8_t *head) {
    struct extra known = extra(sealed, offset, head);
    int lacks_key = kymo_sealed_lacks_key(kymo_sealer_ring(sealed->sealer), page + content);
    int is_whole = memcmp(page + content + KYMO_TRAILER_BYTES, mark, sizeof mark) == 0 &&
                   kymo_unseal(
                       sealed->sealer, (const uint8_t *)&known, sizeof known, page, content, page, page + content);
    if (!is_whole) memset(page, 0, content);
    memset(page + content, 0, sealed_reserved);
    if (is_whole) return SQLITE_OK;
    return lacks_key ? sealed_lacks_key : SQLITE_IOERR_DATA;
}

/// Seals `page` into the file's buffer: a result code of SQLite.
static int seal_page(struct sealed_file *sealed, const uint8_t *page, sqlite3_int64 offset, const uint8_t *head) {
    static const uint8_t zeros[sealed_reserved];
    // SQLite's checksum of a frame is of these bytes, and zeros are what it will read.
    if (memcmp(page + content, zeros, sealed_reserved) != 0) return SQLITE_IOERR_WRITE;
    struct extra known = extra(sealed, offset, head);
    memcpy(sealed->page + content + KYMO_TRAILER_BYTES, mark, sizeof mark);
    int is_done = kymo_seal(
        sealed->sealer, (const uint8_t *)&known, sizeof known, page, content, sealed->page, sealed->page + content);
    return is_done ? SQLITE_OK : SQLITE_FULL;
}

// Whether something is at the place of a page or of a frame.
static int is_page(int size, sqlite3_int64 offset) { return size == KYMO_PAGE_BYTES && offset % KYMO_PAGE_BYTES == 0; }
static int is_frame_at(sqlite3_int64 offset) { return offset >= log_head && (offset - log_head) % frame_bytes == 0; }
static int is_frame_page(int size, sqlite3_int64 offset) {
    return size == KYMO_PAGE_BYTES && is_frame_at(offset - frame_head);
}

/// Whether something in the log is part of its head, or of that of a frame.
static int is_in_head(int size, sqlite3_int64 offset) {
    if (offset < log_head) return offset + size <= log_head;
    return (offset - log_head) % frame_bytes + size <= frame_head;
}

static int is_zero(const uint8_t *page, int size) { return page[0] == 0 && memcmp(page, page + 1, size - 1) == 0; }

static int pass_read(sqlite3_file *file, void *buffer, int size, sqlite3_int64 offset) {
    return file->pMethods->xRead(file, buffer, size, offset);
}

// MARK: The database

static int read_page(struct sealed_file *sealed, sqlite3_file *file, uint8_t *page, sqlite3_int64 offset) {
    int code = pass_read(file, page, KYMO_PAGE_BYTES, offset);
    // Beyond the end, or the end of a file that was cut; SQLite would take the rest of the page for zeros.
    if (code == SQLITE_IOERR_SHORT_READ) return is_zero(page, KYMO_PAGE_BYTES) ? code : SQLITE_IOERR_DATA;
    if (code != SQLITE_OK) return code;
    return open_page(sealed, page, offset, 0);
}

static int read_database(
    struct sealed_file *sealed, sqlite3_file *file, uint8_t *buffer, int size, sqlite3_int64 offset) {
    if (is_page(size, offset)) return read_page(sealed, file, buffer, offset);
    // The head of the first page, before SQLite knows the size of pages.
    sqlite3_int64 start = offset - offset % KYMO_PAGE_BYTES;
    if (offset - start + size > KYMO_PAGE_BYTES) return SQLITE_IOERR_DATA;
    int code = read_page(sealed, file, sealed->page, start);
    memcpy(buffer, sealed->page + (offset - start), (size_t)size);
    return code;
}

// MARK: The log

int kymo_sealed_open_frame(struct sealed_file *sealed, uint8_t *frame, sqlite3_int64 offset) {
    return open_page(sealed, frame + frame_head, offset, frame) == SQLITE_OK;
}

/// While a transaction has changed a page for the second time, SQLite writes frames with zeros for salts and checksum,
/// and rewrites their heads before it commits. Takes the salts from the head of the log then: a result code.
static int fill_salts(sqlite3_file *file, uint8_t *head) {
    static const uint8_t zeros[salts];
    if (memcmp(head + bound_head - salts, zeros, salts) != 0) return SQLITE_OK;
    return pass_read(file, head + bound_head - salts, salts, place_of_salts);
}

/// The head of the frame at `offset`, as it is bound to its page: a result code.
static int read_head(sqlite3_file *file, uint8_t *head, sqlite3_int64 offset) {
    int code = pass_read(file, head, bound_head, offset);
    return code == SQLITE_OK ? fill_salts(file, head) : code;
}

static int read_frame(struct sealed_file *sealed, sqlite3_file *file, uint8_t *frame, sqlite3_int64 offset) {
    uint8_t head[bound_head];
    int code = pass_read(file, frame, frame_bytes, offset);
    if (code != SQLITE_OK) return code;
    memcpy(head, frame, bound_head);
    code = fill_salts(file, head);
    if (code == SQLITE_OK) code = open_page(sealed, frame + frame_head, offset, head);
    if (code != SQLITE_IOERR_DATA) return code;
    // The log ends here, as it does at a frame with a wrong checksum: no frame has page 0.
    memset(frame, 0, 4);
    return SQLITE_OK;
}

static int read_log(
    struct sealed_file *sealed, sqlite3_file *file, uint8_t *buffer, int size, sqlite3_int64 offset) {
    if (is_in_head(size, offset)) return pass_read(file, buffer, size, offset);
    if (is_frame_page(size, offset)) {
        uint8_t head[bound_head];
        int code = read_head(file, head, offset - frame_head);
        if (code == SQLITE_OK) code = pass_read(file, buffer, size, offset);
        if (code != SQLITE_OK) return code;
        return open_page(sealed, buffer, offset - frame_head, head);
    }
    if (size != frame_bytes || !is_frame_at(offset)) return SQLITE_IOERR_READ;
    return read_frame(sealed, file, buffer, offset);
}

static int write_log_page(struct sealed_file *sealed, sqlite3_file *file, const uint8_t *page, sqlite3_int64 offset) {
    sqlite3_int64 start = offset - frame_head;
    if (sealed->headed != start) {
        // A page that changes once more within its transaction keeps its head.
        sealed->headed = -1;
        int code = read_head(file, sealed->head, start);
        if (code != SQLITE_OK) return code;
        sealed->headed = start;
    }
    int code = seal_page(sealed, page, start, sealed->head);
    return code == SQLITE_OK ? file->pMethods->xWrite(file, sealed->page, KYMO_PAGE_BYTES, offset) : code;
}

static int write_log(
    struct sealed_file *sealed, sqlite3_file *file, const uint8_t *buffer, int size, sqlite3_int64 offset) {
    if (is_frame_page(size, offset)) return write_log_page(sealed, file, buffer, offset);
    if (!is_in_head(size, offset)) return SQLITE_IOERR_WRITE;
    sealed->headed = -1;
    int code = file->pMethods->xWrite(file, buffer, size, offset);
    if (code != SQLITE_OK || size != frame_head || !is_frame_at(offset)) return code;
    memcpy(sealed->head, buffer, bound_head);
    code = fill_salts(file, sealed->head);
    if (code == SQLITE_OK) sealed->headed = offset;
    return code;
}

// MARK: All of them

int kymo_sealed_read(struct sealed_file *sealed, sqlite3_file *file, void *buffer, int size, sqlite3_int64 offset) {
    switch (sealed->kind) {
    case sealed_database: return read_database(sealed, file, buffer, size, offset);
    case sealed_log: return read_log(sealed, file, buffer, size, offset);
    case sealed_journal: break;
    }
    int code = pass_read(file, buffer, size, offset);
    if (code != SQLITE_OK || size != KYMO_PAGE_BYTES) return code;
    code = open_page(sealed, buffer, offset, 0);
    // The journal of a transaction that was cut off ends here.
    return code == SQLITE_IOERR_DATA ? SQLITE_IOERR_SHORT_READ : code;
}

int kymo_sealed_write(
    struct sealed_file *sealed, sqlite3_file *file, const void *buffer, int size, sqlite3_int64 offset) {
    if (sealed->kind == sealed_log) return write_log(sealed, file, buffer, size, offset);
    int is_sealed = sealed->kind == sealed_database ? is_page(size, offset) : size == KYMO_PAGE_BYTES;
    if (!is_sealed) {
        if (sealed->kind == sealed_database || size > longest_head) return SQLITE_IOERR_WRITE;
        return file->pMethods->xWrite(file, buffer, size, offset);
    }
    int code = seal_page(sealed, buffer, offset, 0);
    return code == SQLITE_OK ? file->pMethods->xWrite(file, sealed->page, size, offset) : code;
}

// MARK: Without SQLite

// POSIX drops all locks that a process has on a file when it closes any descriptor of it, those of SQLite, too. What
// was opened to look into a database stays open, therefore, until the file has no name any more.

struct looked {
    dev_t device;
    ino_t inode;
    int file;
    struct looked *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct looked *all_looked;

static void close_removed(void) {
    for (struct looked **place = &all_looked; *place;) {
        struct looked *looked = *place;
        struct stat status;
        if (fstat(looked->file, &status) == 0 && status.st_nlink > 0) {
            place = &looked->next;
            continue;
        }
        *place = looked->next;
        close(looked->file);
        free(looked);
    }
}

/// The descriptor of the database `path`; -1, with errno, when it cannot be opened.
static int look_at(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    for (struct looked *looked = all_looked; looked; looked = looked->next)
        if (looked->device == status.st_dev && looked->inode == status.st_ino) return looked->file;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct looked *looked = file < 0 || fstat(file, &status) != 0 ? 0 : malloc(sizeof *looked);
    if (!looked) return file;
    *looked = (struct looked){status.st_dev, status.st_ino, file, all_looked};
    all_looked = looked;
    return file;
}

/// Reads from the database `path`: how many bytes; -1, with errno, when it cannot be read.
static ssize_t look(const char *path, uint8_t *buffer, size_t size, off_t offset) {
    pthread_mutex_lock(&lock);
    close_removed();
    int file = look_at(path);
    ssize_t count = file < 0 ? -1 : pread(file, buffer, size, offset);
    int code = errno;
    pthread_mutex_unlock(&lock);
    errno = code;
    return count;
}

int kymo_pages_are_sealed(const char *path) {
    uint8_t end[sizeof mark];
    ssize_t count = look(path, end, sizeof end, KYMO_PAGE_BYTES - (off_t)sizeof end);
    // Who may not read it cannot open it either.
    if (count < 0) return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -1;
    return count == sizeof end && memcmp(end, mark, sizeof mark) == 0;
}

enum kymo_first_page kymo_pages_first(const char *path, struct kymo_ring *ring) {
    struct sealed_file *sealed = kymo_sealed_new(ring, sealed_database);
    if (!sealed) return kymo_first_unreadable;
    ssize_t count = look(path, sealed->page, KYMO_PAGE_BYTES, 0);
    enum kymo_first_page first = kymo_first_whole;
    if (count < 0) first = errno == ENOENT ? kymo_first_missing : kymo_first_unreadable;
    else if (count < KYMO_PAGE_BYTES) first = kymo_first_missing;
    else if (memcmp(sealed->page + content + KYMO_TRAILER_BYTES, mark, sizeof mark) != 0) first = kymo_first_plain;
    else {
        int code = open_page(sealed, sealed->page, 0, 0);
        if (code != SQLITE_OK) first = code == sealed_lacks_key ? kymo_first_lacks_key : kymo_first_damaged;
    }
    kymo_sealed_free(sealed);
    return first;
}

int kymo_pages_lack_key(const char *path, struct kymo_ring *ring) {
    uint8_t end[sealed_reserved];
    for (off_t offset = content; look(path, end, sizeof end, offset) == sizeof end; offset += KYMO_PAGE_BYTES)
        if (kymo_sealed_lacks_key(ring, end)) return 1;
    return 0;
}
