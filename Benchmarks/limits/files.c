// files FOLDER: CPU seconds, user and system, of reading and of writing a file in FOLDER as `kymo run` does; the least of
// five tries each. Reading: 106 MB in the page cache, 256 KiB at a time, to different places in a page. Writing: 63 MB,
// 132 KiB at a time, made durable, with and without room set aside in steps of 4 MiB.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { tries = 5, chunk = 256 << 10, chunks = 405, piece = 132 << 10, pieces = 479, room = 4 << 20 };

static double used(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static int open_or_end(const char *path, int flags) {
    int file = open(path, flags, 0600);
    if (file < 0) perror(path), exit(1);
    return file;
}

static void write_or_end(int file, const char *bytes, size_t count) {
    if (write(file, bytes, count) != (ssize_t)count) perror("write"), exit(1);
}

static double reading(const char *path, char *target) {
    int file = open_or_end(path, O_RDONLY);
    double start = used();
    while (read(file, target, chunk) > 0) continue;
    double seconds = used() - start;
    close(file);
    return seconds;
}

static double writing(const char *path, const char *bytes, int sets_aside) {
    int file = open_or_end(path, O_CREAT | O_TRUNC | O_WRONLY);
    double start = used();
    long reserved = 0;
    for (long written = 0; written < (long)pieces * piece; written += piece) {
        if (sets_aside && written + piece > reserved) {
            if (fallocate(file, FALLOC_FL_KEEP_SIZE, reserved, room) != 0) perror("fallocate"), exit(1);
            reserved += room;
        }
        write_or_end(file, bytes, piece);
    }
    if (sets_aside && ftruncate(file, (long)pieces * piece) != 0) perror("ftruncate"), exit(1);
    if (fsync(file) != 0) perror("fsync"), exit(1);
    double seconds = used() - start;
    close(file);
    unlink(path);
    return seconds;
}

int main(int count, char **arguments) {
    if (count != 2) return fprintf(stderr, "usage: files FOLDER\n"), 2;
    char path[4096];
    if (snprintf(path, sizeof path, "%s/files.probe", arguments[1]) >= (int)sizeof path) return 2;
    char *memory = aligned_alloc(4096, chunk + 8192);
    if (memory == NULL) return 1;
    memset(memory, 'x', chunk + 8192);
    int file = open_or_end(path, O_CREAT | O_TRUNC | O_WRONLY);
    for (int written = 0; written < chunks; written++) write_or_end(file, memory, chunk);
    close(file);
    const int places[] = {0, 1, 16, 32, 64, 2048, 4095};
    for (size_t place = 0; place < sizeof places / sizeof *places; place++) {
        double least = 1e9;
        for (int try = 0; try < tries; try++) {
            double seconds = reading(path, memory + places[place]);
            if (seconds < least) least = seconds;
        }
        printf("reading 106 MB to byte %4d of a page: %.4f s\n", places[place], least);
    }
    for (int sets_aside = 0; sets_aside < 2; sets_aside++) {
        double least = 1e9;
        for (int try = 0; try < tries; try++) {
            double seconds = writing(path, memory, sets_aside);
            if (seconds < least) least = seconds;
        }
        printf("writing 63 MB, %s: %.4f s\n", sets_aside ? "room set aside" : "no room set aside", least);
    }
    return 0;
}
