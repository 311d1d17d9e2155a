// Sealed pages, without the product around them: one workload on a plain and on a sealed database, whose content must
// stay equal; copies as a crash leaves them; bits that flip. `pages DIRECTORY SEED`, in an empty directory.

#include <CSQLiteChecksums.h>
#include <CSeal.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { page_bytes = KYMO_PAGE_BYTES, frame_bytes = 24 + page_bytes, flips = 10000 };

static void check(int is_right, const char *what) {
    if (is_right) return;
    fprintf(stderr, "wrong: %s\n", what);
    exit(1);
}

static uint64_t state;
static uint64_t number(uint64_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % limit;
}

static void run(sqlite3 *database, const char *sql) {
    char *message = 0;
    if (sqlite3_exec(database, sql, 0, 0, &message) == SQLITE_OK) return;
    fprintf(stderr, "%s: %s: %s\n", sqlite3_db_filename(database, "main"), sql, message);
    exit(1);
}

static sqlite3 *open_database(const char *path) {
    sqlite3 *database;
    check(sqlite3_open(path, &database) == SQLITE_OK, path);
    run(database, "PRAGMA page_size = 16384; PRAGMA synchronous = OFF");
    check(kymo_pages_reserve(database) == SQLITE_OK, "no room reserved");
    // Few pages in memory: changes of a transaction go to the log, and are changed again there.
    run(database, "PRAGMA cache_size = 10");
    return database;
}

static void place(struct kymo_ring *ring, const char *directory) {
    struct stat status;
    check(mkdir(directory, 0700) == 0 && stat(directory, &status) == 0, directory);
    check(!ring || kymo_ring_place(ring, status.st_dev, status.st_ino), "no ring");
}

/// The first column of what `sql` gives.
static char *text(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    char *found = 0;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, 0) != SQLITE_OK) return strdup("not prepared");
    if (sqlite3_step(statement) == SQLITE_ROW) found = strdup((const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return found ? found : strdup("an error");
}

static void check_equal(sqlite3 *one, sqlite3 *other, const char *what) {
    static const char *all = "SELECT group_concat(k || v || length(b)) FROM (SELECT * FROM t ORDER BY k)";
    char *first = text(one, all), *second = text(other, all), *whole = text(other, "PRAGMA integrity_check(1)");
    check(strcmp(first, second) == 0 && strcmp(whole, "ok") == 0 && strlen(first) > 1000, what);
    free(first), free(second), free(whole);
}

static void change(sqlite3 *database, int row) {
    char sql[300];
    int key = (int)number(900), size = (int)number(9000);
    switch (number(4)) {
    case 0: snprintf(sql, sizeof sql, "DELETE FROM t WHERE k BETWEEN %d AND %d", key, key + 3); break;
    case 1: snprintf(sql, sizeof sql, "UPDATE t SET v = 'SEEDED-u%d' WHERE k %% 50 = %d", row, key % 50); break;
    default: snprintf(sql, sizeof sql, "REPLACE INTO t VALUES (%d, 'SEEDED-%d', zeroblob(%d))", key, row, size);
    }
    run(database, sql);
}

/// The same for each database, by `seed`: single changes, long transactions with savepoints, and what ends them.
static void work(sqlite3 *database, uint64_t seed, int rounds) {
    state = seed;
    run(database, "CREATE TABLE IF NOT EXISTS t (k INTEGER PRIMARY KEY, v TEXT, b BLOB);"
                  "CREATE INDEX IF NOT EXISTS i ON t (v)");
    for (int round = 0; round < rounds; round++) {
        int is_long = number(4) == 0;
        if (is_long) run(database, "BEGIN");
        for (int row = 0; row < (is_long ? 120 : 3); row++) {
            if (is_long && row == 60) run(database, "SAVEPOINT s");
            change(database, row);
        }
        if (is_long && number(3) == 0) run(database, "ROLLBACK TO s");
        if (is_long) run(database, number(5) == 0 ? "ROLLBACK" : "COMMIT");
        if (number(12) == 0) run(database, "PRAGMA wal_checkpoint(TRUNCATE)");
    }
}

static int occurrences(const char *path) {
    int file = open(path, O_RDONLY), count = 0;
    struct stat status;
    if (file < 0) return 0;
    check(fstat(file, &status) == 0, path);
    char *bytes = malloc((size_t)status.st_size + 1);
    check(pread(file, bytes, (size_t)status.st_size, 0) == status.st_size, path);
    for (off_t at = 0; at + 6 <= status.st_size; at++) count += memcmp(bytes + at, "SEEDED", 6) == 0;
    free(bytes);
    close(file);
    return count;
}

static void copy(const char *ending) {
    char command[200];
    snprintf(command, sizeof command, "cp sealed/a.sqlite%s copy/a.sqlite%s", ending, ending);
    check(system(command) == 0, command);
}

/// What a crash would leave has all that was committed.
static void check_copy(sqlite3 *sealed, const char *ending) {
    unlink("copy/a.sqlite-shm");
    unlink("copy/a.sqlite-wal");
    copy("");
    copy(ending);
    check(kymo_log_lost("copy/a.sqlite-wal") == 0, "the log of the copy lacks transactions");
    sqlite3 *copied = open_database("copy/a.sqlite");
    check_equal(sealed, copied, "the copy differs");
    sqlite3_close(copied);
}

static uint8_t flip(int file, off_t at) {
    uint8_t byte;
    check(pread(file, &byte, 1, at) == 1, "a byte");
    uint8_t changed = byte ^ (uint8_t)(1 << number(8));
    check(pwrite(file, &changed, 1, at) == 1, "a flip");
    return byte;
}

static void flip_pages(const char *path) {
    char name[600], directory[500];
    sqlite3_vfs *vfs = sqlite3_vfs_find(0);
    sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
    int raw = open(path, O_RDWR), out;
    struct stat status;
    static uint8_t page[page_bytes], other[page_bytes];
    // SQLite's names end with two zeros.
    memset(name, 0, sizeof name);
    snprintf(name, sizeof name - 2, "%s/%s", getcwd(directory, sizeof directory), path);
    check(vfs->xOpen(vfs, name, file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB, &out) == SQLITE_OK, path);
    check(fstat(raw, &status) == 0 && status.st_size > 20 * page_bytes, "too few pages");
    for (int trial = 0; trial < flips; trial++) {
        off_t at = (off_t)number((uint64_t)status.st_size), start = at - at % page_bytes;
        uint8_t byte = flip(raw, at);
        int code = file->pMethods->xRead(file, page, page_bytes, start);
        // A bit of the key's number may make it one that could be missing.
        check(code == SQLITE_IOERR_DATA || code == SQLITE_AUTH_USER, "a flip was not found");
        check(pwrite(raw, &byte, 1, at) == 1, "a flip back");
        if (trial % 100 == 0) check(file->pMethods->xRead(file, page, page_bytes, start) == SQLITE_OK, "a page");
    }
    // A page in the place of another.
    check(pread(raw, page, page_bytes, page_bytes) == page_bytes, "a page");
    check(pread(raw, other, page_bytes, 2 * page_bytes) == page_bytes, "a page");
    check(pwrite(raw, other, page_bytes, page_bytes) == page_bytes, "a page");
    check(file->pMethods->xRead(file, other, page_bytes, page_bytes) == SQLITE_IOERR_DATA, "a moved page was read");
    check(pwrite(raw, page, page_bytes, page_bytes) == page_bytes, "a page");
    file->pMethods->xClose(file);
    free(file);
    close(raw);
}

/// Flips in all transactions of the log but the last two, of which one may be torn.
static void flip_log(sqlite3 *sealed) {
    run(sealed, "PRAGMA wal_autocheckpoint = 0; PRAGMA wal_checkpoint(TRUNCATE)");
    for (int row = 0; row < 12; row++) run(sealed, "INSERT INTO t (v, b) VALUES ('SEEDED', zeroblob(4000))");
    copy("-wal");
    int file = open("copy/a.sqlite-wal", O_RDWR);
    struct stat status;
    check(fstat(file, &status) == 0 && kymo_log_lost("copy/a.sqlite-wal") == 0, "the log");
    off_t end = status.st_size - 12 * frame_bytes;
    check(end > 4 * frame_bytes, "too few frames");
    for (int trial = 0; trial < flips; trial++) {
        off_t at = 32 + (off_t)number((uint64_t)end - 32);
        uint8_t byte = flip(file, at);
        check(kymo_log_lost("copy/a.sqlite-wal") > 0, "a flip in the log was not found");
        check(pwrite(file, &byte, 1, at) == 1, "a flip back");
    }
    close(file);
}

static void *read_all(void *expected) {
    sqlite3 *database = open_database("sealed/a.sqlite");
    for (int round = 0; round < 10; round++) {
        char *found = text(database, "SELECT sum(length(b)) FROM t");
        check(strcmp(found, expected) == 0, "a thread reads something else");
        free(found);
    }
    sqlite3_close(database);
    return 0;
}

static void read_in_threads(sqlite3 *sealed) {
    pthread_t threads[6];
    char *expected = text(sealed, "SELECT sum(length(b)) FROM t");
    for (int index = 0; index < 6; index++) pthread_create(&threads[index], 0, read_all, expected);
    for (int index = 0; index < 6; index++) pthread_join(threads[index], 0);
    free(expected);
}

static struct kymo_secret *new_secret(void) {
    int file = open("key", O_RDWR | O_CREAT | O_EXCL, 0600);
    check(kymo_secret_write_new(file) && lseek(file, 0, SEEK_SET) == 0, "no key");
    struct kymo_secret *secret = kymo_secret_read(file);
    close(file);
    check(secret != 0, "no key");
    return secret;
}

static void add_key(struct kymo_ring *ring, struct kymo_secret *secret, uint32_t id) {
    uint8_t wrapped[KYMO_WRAPPED_BYTES];
    check(kymo_ring_make(secret, wrapped) && kymo_ring_add(ring, secret, id, wrapped), "no data key");
    check(kymo_ring_use(ring, id) && kymo_ring_has(ring, id) && !kymo_ring_use(ring, id + 200), "its number");
    wrapped[number(sizeof wrapped)] ^= 1;
    check(!kymo_ring_add(ring, secret, id + 100, wrapped), "a wrapped key that was changed is taken");
}

/// Whether another process sees locks of this one on `path`.
static int is_locked(const char *path) {
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int file = open(path, O_RDWR);
        _exit(file < 0 || fcntl(file, F_GETLK, &lock) != 0 ? 2 : lock.l_type != F_UNLCK);
    }
    int status = 0;
    check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status), "a child");
    return WEXITSTATUS(status) == 1;
}

/// To look into a database takes no lock from SQLite.
static void check_locks(struct kymo_ring *ring) {
    static const char *paths[] = {"plain/a.sqlite", "sealed/a.sqlite"};
    for (int index = 0; index < 2; index++) {
        check(is_locked(paths[index]), "SQLite has no lock");
        for (int round = 0; round < 3; round++) {
            check(kymo_pages_are_sealed(paths[index]) == index, "the mark");
            check(kymo_pages_first(paths[index], ring) == (index ? kymo_first_whole : kymo_first_plain), "page 1");
            check(!kymo_pages_lack_key(paths[index], ring), "a key is missing");
        }
        check(is_locked(paths[index]), "the lock of SQLite is gone");
    }
    check(kymo_pages_are_sealed("none") == 0 && kymo_pages_first("none", ring) == kymo_first_missing, "no file");
    int file = open("short", O_RDWR | O_CREAT, 0600);
    check(write(file, "x", 1) == 1 && kymo_pages_are_sealed("short") == 0, "a short file");
    check(kymo_pages_first("short", ring) == kymo_first_missing, "a short file");
    close(file);
}

/// A list of keys without the last: an error of its own, whatever is read, and no end of the log.
static void check_missing_key(struct kymo_ring *ring, struct kymo_secret *secret, const uint8_t *store) {
    uint8_t wrapped[KYMO_WRAPPED_BYTES];
    struct kymo_ring *older = kymo_ring_new(store);
    struct stat status;
    check(kymo_ring_wrap(ring, secret, 1, wrapped) && kymo_ring_add(older, secret, 1, wrapped), "a key");
    unlink("copy/a.sqlite-shm"), unlink("copy/a.sqlite-wal");
    copy(""), copy("-wal");
    check(kymo_log_lacks_key("copy/a.sqlite-wal", older) && !kymo_log_lacks_key("copy/a.sqlite-wal", ring), "the log");
    check(kymo_pages_lack_key("copy/a.sqlite", older) && !kymo_pages_lack_key("copy/a.sqlite", ring), "the pages");
    check(stat("copy", &status) == 0 && kymo_ring_place(older, status.st_dev, status.st_ino), "no ring");
    for (int has_log = 1; has_log >= 0; has_log--) {
        sqlite3 *database;
        int code = sqlite3_open("copy/a.sqlite", &database);
        if (code == SQLITE_OK) code = sqlite3_exec(database, "SELECT sum(length(b)), max(v) FROM t", 0, 0, 0);
        check((code & 0xff) == SQLITE_AUTH, has_log ? "a log without its key" : "pages without their key");
        sqlite3_close(database);
        unlink("copy/a.sqlite-wal"), unlink("copy/a.sqlite-shm");
    }
    check(kymo_ring_place(ring, status.st_dev, status.st_ino), "no ring");
}

int main(int count, char **arguments) {
    check(count == 3 && chdir(arguments[1]) == 0, "usage: pages DIRECTORY SEED");
    uint64_t seed = strtoull(arguments[2], 0, 10) * 2 + 1;
    state = seed;
    check(kymo_pages_register() == SQLITE_OK, "no VFS");
    struct kymo_secret *secret = new_secret();
    uint8_t store[KYMO_STORE_ID_BYTES];
    check(kymo_random(store, sizeof store), "no random bytes");
    struct kymo_ring *ring = kymo_ring_new(store);
    add_key(ring, secret, 1);
    place(0, "plain"), place(ring, "sealed"), place(ring, "copy");
    sqlite3 *plain = open_database("plain/a.sqlite");
    // Nothing may be sealed yet.
    sqlite3 *sealed = open_database("sealed/a.sqlite");
    check(sqlite3_exec(sealed, "CREATE TABLE x (y)", 0, 0, 0) == SQLITE_FULL, "sealed without leave");
    kymo_ring_allow(ring, 1 << 24);
    run(plain, "PRAGMA journal_mode = WAL"), run(sealed, "PRAGMA journal_mode = WAL");
    for (int round = 0; round < 6; round++) {
        work(plain, seed + (uint64_t)round, 25), work(sealed, seed + (uint64_t)round, 25);
        check_equal(plain, sealed, "the sealed database differs");
        check_copy(sealed, "-wal");
        // From here on, pages of both keys are side by side.
        if (round == 2) add_key(ring, secret, 2);
    }
    check_locks(ring);
    check(occurrences("plain/a.sqlite") + occurrences("plain/a.sqlite-wal") > 100, "the control lacks the text");
    static const char *files[] = {"sealed/a.sqlite", "sealed/a.sqlite-wal", "sealed/a.sqlite-shm"};
    for (int index = 0; index < 3; index++) check(occurrences(files[index]) == 0, files[index]);
    check(kymo_pages_are_sealed("sealed/a.sqlite") && !kymo_pages_are_sealed("plain/a.sqlite"), "the mark");
    read_in_threads(sealed);
    run(sealed, "PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t (v, b) VALUES ('SEEDED', zeroblob(4000))");
    check_missing_key(ring, secret, store);
    flip_log(sealed);
    run(sealed, "PRAGMA journal_mode = DELETE; BEGIN; UPDATE t SET v = 'SEEDED-x', b = zeroblob(9000)");
    check(occurrences("sealed/a.sqlite-journal") == 0, "text in the journal");
    copy(""), copy("-journal");
    run(sealed, "ROLLBACK");
    unlink("copy/a.sqlite-wal"), unlink("copy/a.sqlite-shm");
    sqlite3 *undone = open_database("copy/a.sqlite");
    check_equal(sealed, undone, "the journal was not undone");
    sqlite3_close(undone);
    flip_pages("copy/a.sqlite");
    sqlite3_close(sealed), sqlite3_close(plain);
    kymo_secret_free(secret);
    puts("right");
    return 0;
}
