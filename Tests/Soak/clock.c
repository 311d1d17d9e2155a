/* clock.c: a wall clock that steps. A program that preloads it reads the system's wall clock and adds the nanoseconds in
   the file KYMO_SOAK_CLOCK, which another process changes while it runs. Other clocks are as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static int (*read_clock)(clockid_t, struct timespec *);
static const volatile int64_t *step;

__attribute__((constructor)) static void begin(void) {
    read_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("KYMO_SOAK_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *shared = mmap(NULL, sizeof *step, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (shared != MAP_FAILED) step = shared;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (!read_clock) begin();
    int failed = read_clock(clock, now);
    if (failed || !step || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return failed;
    int64_t moment = now->tv_sec * SECOND + now->tv_nsec + *step;
    now->tv_sec = moment / SECOND;
    now->tv_nsec = moment % SECOND;
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec moment;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &moment)) return -1;
    now->tv_sec = moment.tv_sec;
    now->tv_usec = moment.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *seconds) {
    struct timespec moment;
    if (clock_gettime(CLOCK_REALTIME, &moment)) return -1;
    if (seconds) *seconds = moment.tv_sec;
    return moment.tv_sec;
}
