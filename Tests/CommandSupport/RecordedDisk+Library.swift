extension RecordedDisk {
    /// One append to the journal for each call, so that calls of several threads stay whole. A file is named by its
    /// inode, since names change.
    static let source = #"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <stdarg.h>
        #include <stdint.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/socket.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <sys/uio.h>
        #include <unistd.h>

        static int journal = -1;
        static char root[4096];

        /* Before the program gives up to write elsewhere than where its settings say. */
        __attribute__((constructor)) static void begin(void) {
            const char *file = getenv("KYMO_JOURNAL"), *folder = getenv("KYMO_JOURNAL_ROOT");
            if (!file || !folder) return;
            journal = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
            snprintf(root, sizeof root, "%s/", folder);
        }

        static void note(char kind, int64_t file, int64_t offset, const void *one, size_t first, const char *two) {
            int64_t head[5] = {kind, file, offset, (int64_t)first, two ? (int64_t)strlen(two) : 0};
            struct iovec parts[3] = {
                {head, sizeof head}, {(void *)one, first}, {(void *)two, two ? strlen(two) : 0}};
            if (journal >= 0) syscall(SYS_writev, journal, parts, 3);
        }

        /* The path below the root; NULL for others. */
        static const char *below(const char *path) {
            size_t length = strlen(root);
            return length && !strncmp(path, root, length) ? path + length : NULL;
        }

        /* Of a descriptor; the file for a regular one, or 0 with its path for a directory; -1 for others. */
        static int64_t file_of(int fd, char path[4096]) {
            struct stat status;
            char link[64];
            if (journal < 0 || fstat(fd, &status) || (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))) return -1;
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t size = readlink(link, path, 4095);
            if (size < 0) return -1;
            path[size] = 0;
            if (S_ISDIR(status.st_mode)) strcat(path, "/");
            if (!below(path)) return -1;
            /* Shared memory of a database, which is made anew. */
            if (strstr(path, "-shm")) return -1;
            return S_ISDIR(status.st_mode) ? 0 : (int64_t)status.st_ino;
        }

        #define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

        static void wrote(int fd, const void *bytes, size_t count, int64_t offset) {
            char path[4096];
            int64_t file = file_of(fd, path);
            if (file > 0) note('w', file, offset, bytes, count, NULL);
        }

        static int64_t place(int fd) {
            return fcntl(fd, F_GETFL) & O_APPEND ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR);
        }

        ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
            wrote(fd, bytes, count, offset);
            return REAL(pwrite)(fd, bytes, count, offset);
        }

        ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
            wrote(fd, bytes, count, offset);
            return REAL(pwrite64)(fd, bytes, count, offset);
        }

        ssize_t write(int fd, const void *bytes, size_t count) {
            char path[4096];
            int64_t file = file_of(fd, path);
            if (file > 0) note('w', file, place(fd), bytes, count, NULL);
            return REAL(write)(fd, bytes, count);
        }

        ssize_t writev(int fd, const struct iovec *parts, int count) {
            char path[4096];
            int64_t file = file_of(fd, path);
            if (file > 0) {
                int64_t offset = place(fd);
                for (int part = 0; part < count; part++) {
                    note('w', file, offset, parts[part].iov_base, parts[part].iov_len, NULL);
                    offset += parts[part].iov_len;
                }
            }
            return REAL(writev)(fd, parts, count);
        }

        static int cut(int fd, int64_t size, int result) {
            char path[4096];
            int64_t file = file_of(fd, path);
            if (!result && file > 0) note('t', file, size, NULL, 0, NULL);
            return result;
        }

        int ftruncate(int fd, off_t size) { return cut(fd, size, REAL(ftruncate)(fd, size)); }
        int ftruncate64(int fd, off64_t size) { return cut(fd, size, REAL(ftruncate64)(fd, size)); }

        static int synced(int fd, int result) {
            char path[4096];
            int64_t file = result ? -1 : file_of(fd, path);
            if (file > 0) note('s', file, 0, NULL, 0, NULL);
            if (file == 0) {
                const char *name = below(path);
                note('d', 0, 0, name, strlen(name) ? strlen(name) - 1 : 0, NULL);
            }
            return result;
        }

        int fsync(int fd) { return synced(fd, REAL(fsync)(fd)); }
        int fdatasync(int fd) { return synced(fd, REAL(fdatasync)(fd)); }

        static int opened(const char *path, int flags, int was, int fd) {
            char full[4096];
            if (fd < 0 || was || !(flags & O_CREAT)) return fd;
            int64_t file = file_of(fd, full);
            if (file > 0) note('c', file, 0, below(full), strlen(below(full)), NULL);
            return fd;
        }

        static mode_t mode_of(int flags, va_list list) { return flags & O_CREAT ? va_arg(list, mode_t) : 0; }

        int open(const char *path, int flags, ...) {
            va_list list;
            va_start(list, flags);
            mode_t mode = mode_of(flags, list);
            va_end(list);
            int was = !access(path, F_OK);
            return opened(path, flags, was, REAL(open)(path, flags, mode));
        }

        int open64(const char *path, int flags, ...) {
            va_list list;
            va_start(list, flags);
            mode_t mode = mode_of(flags, list);
            va_end(list);
            int was = !access(path, F_OK);
            return opened(path, flags, was, REAL(open64)(path, flags, mode));
        }

        int openat(int folder, const char *path, int flags, ...) {
            va_list list;
            va_start(list, flags);
            mode_t mode = mode_of(flags, list);
            va_end(list);
            int was = !faccessat(folder, path, F_OK, 0);
            return opened(path, flags, was, REAL(openat)(folder, path, flags, mode));
        }

        static int renamed(const char *path, const char *target, int result) {
            if (!result && below(path) && below(target))
                note('r', 0, 0, below(path), strlen(below(path)), below(target));
            return result;
        }

        int rename(const char *path, const char *target) { return renamed(path, target, REAL(rename)(path, target)); }

        int renameat2(int from, const char *path, int to, const char *target, unsigned flags) {
            return renamed(path, target, REAL(renameat2)(from, path, to, target, flags));
        }

        int unlink(const char *path) {
            int result = REAL(unlink)(path);
            if (!result && below(path)) note('u', 0, 0, below(path), strlen(below(path)), NULL);
            return result;
        }

        static void tell(int fd, const void *bytes, size_t count) {
            struct stat status;
            int tells = count > 6 && !memcmp(bytes, "{\"ack\"", 6);
            if (tells && journal >= 0 && !fstat(fd, &status) && S_ISSOCK(status.st_mode))
                note('a', 0, 0, bytes, count, NULL);
        }

        ssize_t send(int fd, const void *bytes, size_t count, int flags) {
            tell(fd, bytes, count);
            return REAL(send)(fd, bytes, count, flags);
        }
        """#
}
