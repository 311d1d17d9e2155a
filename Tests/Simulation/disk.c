/* disk.c: the files below one folder. What is not made durable (fsync, fdatasync) may be lost by a power cut, in any
   part; what is created, renamed and removed, until its folder is. Calls fail when the world says so. */
#include "simulation.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { MOST_DESCRIPTORS = 4096, MOST_FILES = 256, SECTOR = 512 };

/* A write or a cut that is not durable. */
struct change {
    int64_t offset, former_size, former_count, count;
    uint8_t *former, *bytes;
    int is_cut;
};

struct file {
    ino_t number;
    /* A descriptor of our own. */
    int descriptor;
    struct change *changes;
    int count, capacity;
};

/* A change of a folder that is not durable. */
struct naming {
    enum { MADE, REMOVED, RENAMED } kind;
    char path[PATH_MAX], target[PATH_MAX];
    uint8_t *content;
    int64_t size;
};

static char root[PATH_MAX];
static size_t root_length;
static struct file files[MOST_FILES];
static int file_count;
static struct file *opened[MOST_DESCRIPTORS];
static struct naming *namings;
static int naming_count, naming_capacity;
static int lies;
/* One write in so many takes only a part. */
static int64_t whole_writes = 500;
int disk_error;

static void *grown(void *items, int *capacity, int count, size_t size) {
    if (count < *capacity) return items;
    *capacity = *capacity ? *capacity * 2 : 64;
    return realloc(items, (size_t)*capacity * size);
}

/* MARK: Names */

/* The whole path; false when it is not below the root. */
static int is_ours(int folder, const char *path, char *whole) {
    if (!is_active || !present || root_length == 0) return 0;
    if (path[0] == '/') {
        snprintf(whole, PATH_MAX, "%s", path);
    } else {
        char link[64], base[PATH_MAX];
        snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
        long size = raw(SYS_readlink, (long)link, (long)base, sizeof base - 1, 0, 0, 0);
        if (size < 0) return 0;
        base[size] = 0;
        if (snprintf(whole, PATH_MAX, "%s/%s", base, path) >= PATH_MAX) return 0;
    }
    return strncmp(whole, root, root_length) == 0 && whole[root_length] == '/';
}

static uint8_t *content_of(const char *path, int64_t *size) {
    int file = (int)raw(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    struct stat status;
    if (file < 0) return NULL;
    uint8_t *bytes = NULL;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        bytes = malloc((size_t)status.st_size + 1);
        *size = raw(SYS_pread64, file, (long)bytes, status.st_size, 0, 0, 0);
    }
    raw(SYS_close, file, 0, 0, 0, 0, 0);
    return bytes;
}

static void note_naming(int kind, const char *path, const char *target, uint8_t *content, int64_t size) {
    namings = grown(namings, &naming_capacity, naming_count, sizeof *namings);
    struct naming *made = &namings[naming_count++];
    made->kind = kind;
    snprintf(made->path, PATH_MAX, "%s", path);
    snprintf(made->target, PATH_MAX, "%s", target ? target : "");
    made->content = content;
    made->size = size;
}

static int is_in(const char *path, const char *folder, size_t length) {
    return strncmp(path, folder, length) == 0 && path[length] == '/' && !strchr(path + length + 1, '/');
}

/* What is in `folder` is durable. */
static void settle_names(const char *folder) {
    size_t length = strlen(folder);
    int left = 0;
    for (int i = 0; i < naming_count; i++) {
        if (is_in(namings[i].path, folder, length)) free(namings[i].content);
        else namings[left++] = namings[i];
    }
    naming_count = left;
}

/* MARK: Contents */

static struct file *file_of(int descriptor) {
    return descriptor >= 0 && descriptor < MOST_DESCRIPTORS ? opened[descriptor] : NULL;
}

static struct file *known(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) || !S_ISREG(status.st_mode)) return NULL;
    for (int i = 0; i < file_count; i++)
        if (files[i].number == status.st_ino) return &files[i];
    if (file_count == MOST_FILES) return NULL;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int own = (int)raw(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0, 0, 0);
    if (own < 0) return NULL;
    // Out of the way of those that the process opens.
    int high = (int)raw(SYS_fcntl, own, F_DUPFD_CLOEXEC, 3000, 0, 0, 0);
    raw(SYS_close, own, 0, 0, 0, 0, 0);
    files[file_count] = (struct file){.number = status.st_ino, .descriptor = high};
    return &files[file_count++];
}

static int64_t size_of(struct file *file) {
    struct stat status;
    return fstat(file->descriptor, &status) ? 0 : status.st_size;
}

/* Begins a change of `count` bytes. */
static struct change *begin_change(struct file *file, int64_t offset, int64_t count) {
    file->changes = grown(file->changes, &file->capacity, file->count, sizeof *file->changes);
    struct change *made = &file->changes[file->count];
    *made = (struct change){.offset = offset, .former_size = size_of(file)};
    made->former = malloc((size_t)count + 1);
    long size = raw(SYS_pread64, file->descriptor, (long)made->former, count, offset, 0, 0);
    made->former_count = size < 0 ? 0 : size;
    return made;
}

static void end_change(struct file *file, struct change *change, const void *bytes, int64_t count) {
    if (count <= 0) return free(change->former);
    change->count = count;
    change->bytes = malloc((size_t)count);
    memcpy(change->bytes, bytes, (size_t)count);
    file->count++;
}

static void settle(struct file *file) {
    for (int i = 0; i < file->count; i++) {
        free(file->changes[i].former);
        free(file->changes[i].bytes);
    }
    file->count = 0;
}

static void undo(struct file *file, struct change *change) {
    raw(SYS_pwrite64, file->descriptor, (long)change->former, change->former_count, change->offset, 0, 0);
    raw(SYS_ftruncate, file->descriptor, change->former_size, 0, 0, 0, 0);
}

/* Writes a part of a change again: all, whole sectors of its beginning, or nothing. */
static void redo(struct file *file, struct change *change) {
    if (change->is_cut) raw(SYS_ftruncate, file->descriptor, change->offset, 0, 0, 0, 0);
    if (change->count == 0) return;
    int64_t count = one_in(4) ? draw_below(change->count / SECTOR + 1) * SECTOR : change->count;
    raw(SYS_pwrite64, file->descriptor, (long)change->bytes, count, change->offset, 0, 0);
}

static void undo_naming(struct naming *one) {
    if (one->kind == MADE) raw(SYS_unlink, (long)one->path, 0, 0, 0, 0, 0);
    if (one->kind == RENAMED) raw(SYS_rename, (long)one->target, (long)one->path, 0, 0, 0, 0);
    if (!one->content) return;
    const char *path = one->kind == RENAMED ? one->target : one->path;
    int file = (int)raw(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_TRUNC, 0600, 0, 0);
    raw(SYS_write, file, (long)one->content, one->size, 0, 0, 0);
    raw(SYS_close, file, 0, 0, 0, 0, 0);
}

void cut_power(void) {
    for (int i = 0; i < file_count; i++) {
        struct file *file = &files[i];
        for (int j = file->count - 1; j >= 0; j--) undo(file, &file->changes[j]);
        int mode = (int)draw_below(3);
        for (int j = 0; j < file->count; j++)
            if (mode == 1 || (mode == 2 && one_in(2))) redo(file, &file->changes[j]);
    }
    // In the order in which the journal of a file system has them: a part of the end is lost.
    int kept = one_in(2) ? naming_count : (int)draw_below(naming_count + 1);
    for (int i = naming_count - 1; i >= kept; i--) undo_naming(&namings[i]);
}

/* MARK: Calls */

/* The error of a call that fails, or 0. Once in a while, while the disk has errors. */
static int failure(const char *point, int64_t detail) {
    pass(point, detail);
    if (!disk_error || !one_in(2)) return 0;
    note("fails", disk_error);
    return disk_error;
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    char whole[PATH_MAX];
    if (!is_ours(folder, path, whole)) return (int)result(raw(SYS_openat, folder, (long)path, flags, mode, 0, 0));
    int is_new = (flags & O_CREAT) && raw(SYS_access, (long)whole, F_OK, 0, 0, 0, 0) != 0;
    int error = is_new ? failure("create", 0) : 0;
    if (error) {
        errno = error;
        return -1;
    }
    int64_t size = 0;
    uint8_t *content = !is_new && (flags & O_TRUNC) ? content_of(whole, &size) : NULL;
    int descriptor = (int)result(raw(SYS_openat, folder, (long)path, flags, mode, 0, 0));
    if (descriptor < 0 || descriptor >= MOST_DESCRIPTORS) return descriptor;
    opened[descriptor] = flags & O_DIRECTORY ? NULL : known(descriptor);
    if (is_new) note_naming(MADE, whole, NULL, NULL, 0);
    // Cut to nothing: as if it was removed and made again.
    if (content) note_naming(REMOVED, whole, NULL, content, size);
    return descriptor;
}

#define OPENING(name, first, folder)                                  \
    int name(first const char *path, int flags, ...) {                \
        va_list list;                                                 \
        va_start(list, flags);                                        \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list);                                                 \
        return open_at(folder, path, flags, mode);                    \
    }
#define IN_FOLDER int folder,
#define NO_FOLDER
OPENING(open, NO_FOLDER, AT_FDCWD)
OPENING(open64, NO_FOLDER, AT_FDCWD)
OPENING(openat, IN_FOLDER, folder)
OPENING(openat64, IN_FOLDER, folder)

int close(int descriptor) {
    if (is_active && descriptor >= 0 && descriptor < MOST_DESCRIPTORS) opened[descriptor] = NULL;
    return (int)result(raw(SYS_close, descriptor, 0, 0, 0, 0, 0));
}

static ssize_t write_at(int descriptor, struct file *file, const void *bytes, size_t count, int64_t offset, int moves) {
    int error = failure("write", (int64_t)count);
    if (error) {
        errno = error;
        return -1;
    }
    if (count > 1 && one_in(whole_writes)) count = 1 + (size_t)draw_below((int64_t)count - 1);
    struct change *change = begin_change(file, offset, (int64_t)count);
    long size = moves ? raw(SYS_write, descriptor, (long)bytes, (long)count, 0, 0, 0)
                      : raw(SYS_pwrite64, descriptor, (long)bytes, (long)count, offset, 0, 0);
    end_change(file, change, bytes, size);
    return result(size);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    struct file *file = file_of(descriptor);
    if (file && present) return write_at(descriptor, file, bytes, count, offset, 0);
    return result(raw(SYS_pwrite64, descriptor, (long)bytes, (long)count, offset, 0, 0));
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return pwrite64(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    struct file *file = file_of(descriptor);
    if (!file || !present) {
        pass("put", (int64_t)count);
        return result(raw(SYS_write, descriptor, (long)bytes, (long)count, 0, 0, 0));
    }
    int flags = (int)raw(SYS_fcntl, descriptor, F_GETFL, 0, 0, 0, 0);
    int64_t offset = flags & O_APPEND ? size_of(file) : raw(SYS_lseek, descriptor, 0, SEEK_CUR, 0, 0, 0);
    return write_at(descriptor, file, bytes, count, offset, 1);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    if (!file_of(descriptor) || !present)
        return result(raw(SYS_writev, descriptor, (long)parts, count, 0, 0, 0));
    // A short one is allowed.
    return count > 0 ? write(descriptor, parts[0].iov_base, parts[0].iov_len) : 0;
}

int ftruncate64(int descriptor, off64_t size) {
    struct file *file = file_of(descriptor);
    if (!file || !present) return (int)result(raw(SYS_ftruncate, descriptor, size, 0, 0, 0, 0));
    int error = failure("truncate", size);
    if (error) {
        errno = error;
        return -1;
    }
    int64_t former = size_of(file);
    struct change *change = begin_change(file, size, former > size ? former - size : 0);
    change->is_cut = 1;
    file->count++;
    return (int)result(raw(SYS_ftruncate, descriptor, size, 0, 0, 0, 0));
}

int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }

static int synchronise(int descriptor) {
    if (!is_active || !present) return (int)result(raw(SYS_fsync, descriptor, 0, 0, 0, 0, 0));
    struct file *file = file_of(descriptor);
    int error = failure("sync", descriptor);
    if (error) {
        errno = error;
        return -1;
    }
    // What is written from here on is not covered.
    int covered = file ? file->count : 0;
    pause_for(draw_below(one_in(20) ? 50000000 : 2000000));
    if (lies) return 0;
    if (file && file_of(descriptor) == file) {
        struct change *rest = file->changes + covered;
        int left = file->count - covered;
        if (left < 0) return 0;
        file->count = covered;
        settle(file);
        memmove(file->changes, rest, (size_t)left * sizeof *rest);
        file->count = left;
        return 0;
    }
    struct stat status;
    char link[64], folder[PATH_MAX];
    if (file || fstat(descriptor, &status) || !S_ISDIR(status.st_mode)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    long size = raw(SYS_readlink, (long)link, (long)folder, sizeof folder - 1, 0, 0, 0);
    if (size < 0) return 0;
    folder[size] = 0;
    settle_names(folder);
    return 0;
}

int fsync(int descriptor) { return synchronise(descriptor); }
int fdatasync(int descriptor) { return synchronise(descriptor); }

static int remove_at(int folder, const char *path, int flags) {
    char whole[PATH_MAX];
    if (!is_ours(folder, path, whole) || flags)
        return (int)result(raw(SYS_unlinkat, folder, (long)path, flags, 0, 0, 0));
    pass("remove", 0);
    int64_t size = 0;
    uint8_t *content = content_of(whole, &size);
    int removed = (int)result(raw(SYS_unlinkat, folder, (long)path, flags, 0, 0, 0));
    if (removed == 0 && content) note_naming(REMOVED, whole, NULL, content, size);
    else free(content);
    return removed;
}

int unlink(const char *path) { return remove_at(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) { return remove_at(folder, path, flags); }

int renameat2(int folder, const char *path, int target_folder, const char *target, unsigned int flags) {
    char whole[PATH_MAX], whole_target[PATH_MAX];
    int is_known = is_ours(folder, path, whole) && is_ours(target_folder, target, whole_target);
    int64_t size = 0;
    uint8_t *content = NULL;
    if (is_known) {
        int error = failure("rename", 0);
        if (error) {
            errno = error;
            return -1;
        }
        if (!flags) content = content_of(whole_target, &size);
    }
    int renamed =
        (int)result(raw(SYS_renameat2, folder, (long)path, target_folder, (long)target, (long)flags, 0));
    if (renamed == 0 && is_known) note_naming(RENAMED, whole, whole_target, content, size);
    else free(content);
    return renamed;
}

int renameat(int folder, const char *path, int target_folder, const char *target) {
    return renameat2(folder, path, target_folder, target, 0);
}

int rename(const char *path, const char *target) { return renameat2(AT_FDCWD, path, AT_FDCWD, target, 0); }

void begin_disk(void) {
    const char *path = getenv("KYMO_SIMULATION_ROOT");
    lies = getenv("KYMO_SIMULATION_LYING_DISK") != NULL;
    const char *writes = getenv("KYMO_SIMULATION_WHOLE_WRITES");
    if (writes) whole_writes = atoi(writes);
    if (path) snprintf(root, sizeof root, "%s", path);
    root_length = strlen(root);
}
