/* simulation.h: what the files of the preloaded library share. */
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

#define SECOND 1000000000LL
#define NEVER INT64_MAX

/* How a process ends by the simulation, as its exit status. */
enum { ENDED_BY_CRASH = 137, NEVER_ENDS = 97, DEADLOCK = 98, BROKEN = 99 };

/* What a thread waits for. */
enum wait { NOTHING, READABLE, EPOLL, LOCK, FUTEX, CONDITION, END, SEMAPHORE };

struct thread {
    int number, is_dead, is_chosen, is_signalled;
    enum wait wait;
    int64_t deadline;
    const void *address;
    struct pollfd *descriptors;
    nfds_t count;
    /* Where its descriptors are among those that the kernel is asked for. */
    int first;
    int weight;
    unsigned long handle;
    void *(*body)(void *);
    void *argument;
};

/* Whether this process is simulated, and who runs; null for a thread that is not of the simulation. */
extern int is_active;
extern __thread struct thread *present;

long raw(long number, long a, long b, long c, long d, long e, long f);
/* The result of a system call as libc gives it. */
long result(long value);

/* One random number for the seed. */
uint64_t draw(void);
int64_t draw_below(int64_t limit);
int one_in(int64_t count);

/* The time that has passed, from which deadlines are reckoned, and the wall clock, in nanoseconds since the epoch. */
extern int64_t now, wall_step;
/* Where the monotonic clocks begin. */
extern int64_t origin;
int64_t moment(void);
int64_t clock_now(void);
void step_wall_clock(int64_t nanoseconds);

/* Lets others run. `point` names the place in the trace; a crash may be due here. */
void pass(const char *point, int64_t detail);
/* Lets others run for a time. */
void pause_for(int64_t nanoseconds);
/* Lets others run until descriptors are ready, or the moment of the deadline; whether they are. */
int wait_for(struct pollfd *descriptors, nfds_t count, int64_t deadline);
/* Lets others run until what `address` is waited for is there, or until the deadline. */
void wait_until(enum wait wait, const void *address, int64_t deadline);
/* Wakes at most `most` of those who wait at `address`, beginning anywhere; how many they were. */
int wake(enum wait wait, const void *address, int most);
/* calls.c: lets timers fire that are due; the earliest deadline of the others. */
int64_t fire_timers(void);
/* A function of the C library. */
void *found(const char *name);
_Noreturn void end_here(int status, const char *how);
/* Adds to the trace. */
void note(const char *point, int64_t detail);
int64_t operations(void);
uint64_t trace_value(void);

/* A thread of the world outside, which is scheduled like those of the process. */
void start_thread(void *(*body)(void *), void *argument);

/* disk.c */
void begin_disk(void);
/* Leaves on the disk what a power cut may leave. */
void cut_power(void);
/* Operations on the disk fail with this error while it is not 0. */
extern int disk_error;

/* world.c */
void begin_world(void);
void tell_end(const char *how);
/* Ends the process here: `with_power_cut` loses what is not durable. */
void crash(int with_power_cut);

#pragma GCC visibility pop
