/* schedule.c: one thread runs at a time, and a seed decides which one goes on where threads may be exchanged: at calls
   that wait, lock, read and write. Time passes when nobody can run, and a little at each exchange. */
#include "simulation.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>

enum { MOST_THREADS = 256, MOST_DESCRIPTORS = 4096, MOST_OPERATIONS = 3000000 };

int is_active;
__thread struct thread *present;

static struct thread threads[MOST_THREADS];
static int thread_count;
static uint64_t random_state;
int64_t now, wall_step, origin;
static int64_t operation_count, crash_at = NEVER;
static int crash_cuts_power;
static uint64_t trace_hash = 14695981039346656037u;
static int trace_file = -1;

long raw(long number, long a, long b, long c, long d, long e, long f) {
    long value;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "=a"(value) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return value;
}

long result(long value) {
    if (value >= 0 || value < -4095) return value;
    errno = (int)-value;
    return -1;
}

/* SplitMix64. */
uint64_t draw(void) {
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

int64_t draw_below(int64_t limit) { return limit > 1 ? (int64_t)(draw() % (uint64_t)limit) : 0; }
int one_in(int64_t count) { return draw_below(count) == 0; }
int64_t moment(void) { return now; }
int64_t clock_now(void) { return now + wall_step; }
void step_wall_clock(int64_t nanoseconds) { wall_step += nanoseconds; }
int64_t operations(void) { return operation_count; }
uint64_t trace_value(void) { return trace_hash; }

void note(const char *point, int64_t detail) {
    for (const char *c = point; *c; c++) trace_hash = (trace_hash ^ (uint8_t)*c) * 1099511628211u;
    trace_hash = (trace_hash ^ (uint64_t)detail) * 1099511628211u;
    if (trace_file < 0) return;
    char line[160];
    int size = snprintf(
        line, sizeof line, "%ld %ld %d %s %ld\n", (long)operation_count, (long)(now % (100000 * SECOND)),
        present ? present->number : -1, point, (long)detail);
    raw(SYS_write, trace_file, (long)line, size, 0, 0, 0);
}

/* MARK: Who runs */

static void sleep_until_chosen(struct thread *own) {
    while (!__atomic_load_n(&own->is_chosen, __ATOMIC_ACQUIRE))
        raw(SYS_futex, (long)&own->is_chosen, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    __atomic_store_n(&own->is_chosen, 0, __ATOMIC_RELAXED);
}

static void choose(struct thread *next) {
    __atomic_store_n(&next->is_chosen, 1, __ATOMIC_RELEASE);
    raw(SYS_futex, (long)&next->is_chosen, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

/* All descriptors that threads wait for, to ask the kernel once. */
static struct pollfd asked[MOST_DESCRIPTORS];

static void ask_kernel(void) {
    nfds_t count = 0;
    for (int i = 0; i < thread_count; i++) {
        struct thread *one = &threads[i];
        if (one->is_dead || (one->wait != READABLE && one->wait != EPOLL)) continue;
        one->first = (int)count;
        struct pollfd queue = {.fd = (int)(intptr_t)one->address, .events = POLLIN};
        nfds_t own = one->wait == EPOLL ? 1 : one->count;
        if (count + own > MOST_DESCRIPTORS) end_here(BROKEN, "too many descriptors");
        memcpy(&asked[count], one->wait == EPOLL ? &queue : one->descriptors, own * sizeof queue);
        count += own;
    }
    if (count) raw(SYS_poll, (long)asked, (long)count, 0, 0, 0, 0);
}

static int is_any_ready(const struct thread *one) {
    nfds_t count = one->wait == EPOLL ? 1 : one->count;
    for (nfds_t i = 0; i < count; i++)
        if (asked[(nfds_t)one->first + i].revents) return 1;
    return 0;
}

static int has_what_it_waits_for(struct thread *one) {
    int value = 0;
    switch (one->wait) {
    case NOTHING: return one->deadline == 0;
    case READABLE:
    case EPOLL: return is_any_ready(one);
    case LOCK: return __atomic_load_n((const int *)one->address, __ATOMIC_ACQUIRE) == 0;
    case SEMAPHORE: return sem_getvalue((sem_t *)one->address, &value) == 0 && value > 0;
    case FUTEX:
    case CONDITION: return one->is_signalled;
    case END: return ((const struct thread *)one->address)->is_dead;
    }
    return 0;
}

_Noreturn void end_here(int status, const char *how) {
    tell_end(how);
    raw(SYS_exit_group, status, 0, 0, 0, 0, 0);
    __builtin_unreachable();
}

/* Gives the processor to one of those who can go on, perhaps again to the caller. */
static void exchange(void) {
    struct thread *own = present;
    now += 500 + draw_below(3000);
    for (;;) {
        struct thread *ready[MOST_THREADS];
        int64_t total = 0, next = fire_timers();
        int count = 0;
        ask_kernel();
        for (int i = 0; i < thread_count; i++) {
            struct thread *one = &threads[i];
            if (one->is_dead) continue;
            if (one->deadline <= now || has_what_it_waits_for(one)) {
                ready[count++] = one;
                total += one->weight;
            } else if (one->deadline < next) next = one->deadline;
        }
        if (count == 0) {
            if (next == NEVER) end_here(DEADLOCK, "deadlock");
            now = next;
            continue;
        }
        int64_t place = draw_below(total);
        int chosen = 0;
        while (place >= ready[chosen]->weight) place -= ready[chosen++]->weight;
        struct thread *next_thread = ready[chosen];
        if (next_thread == own) return;
        note("run", next_thread->number);
        choose(next_thread);
        if (!own->is_dead) sleep_until_chosen(own);
        return;
    }
}

void wait_until(enum wait wait, const void *address, int64_t deadline) {
    present->wait = wait;
    present->address = address;
    present->deadline = deadline;
    exchange();
    present->wait = NOTHING;
    present->deadline = 0;
}

/* Wakes at most `most` of those who wait at `address`, beginning anywhere. */
int wake(enum wait wait, const void *address, int most) {
    int woken = 0;
    int first = (int)draw_below(thread_count);
    for (int i = 0; i < thread_count && woken < most; i++) {
        struct thread *one = &threads[(first + i) % thread_count];
        if (one->is_dead || one->wait != wait || one->address != address || one->is_signalled) continue;
        one->is_signalled = 1;
        woken++;
    }
    return woken;
}

void pass(const char *point, int64_t detail) {
    if (!is_active || !present) return;
    operation_count++;
    note(point, detail);
    if (operation_count == crash_at) crash(crash_cuts_power);
    if (operation_count > MOST_OPERATIONS) end_here(NEVER_ENDS, "never-ends");
    // Once in a while the system gives the processor to somebody else for long.
    if (one_in(2000)) wait_until(NOTHING, NULL, now + draw_below(200000000));
    else if (one_in(3)) wait_until(NOTHING, NULL, 0);
    else now += 200;
}

void pause_for(int64_t nanoseconds) { wait_until(NOTHING, NULL, now + (nanoseconds > 0 ? nanoseconds : 0)); }

int wait_for(struct pollfd *descriptors, nfds_t count, int64_t deadline) {
    present->descriptors = descriptors;
    present->count = count;
    wait_until(READABLE, NULL, deadline);
    return raw(SYS_poll, (long)descriptors, (long)count, 0, 0, 0, 0) > 0;
}

void crash(int with_power_cut) {
    note("crash", with_power_cut);
    if (with_power_cut) cut_power();
    end_here(ENDED_BY_CRASH, with_power_cut ? "power" : "kill");
}

/* MARK: Threads */

static int (*make_thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*join_thread)(pthread_t, void **);

void *found(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

static void find_all(void) {
    join_thread = found("pthread_join");
    make_thread = found("pthread_create");
}

static struct thread *enter(void) {
    if (thread_count == MOST_THREADS) end_here(BROKEN, "too many threads");
    struct thread *made = &threads[thread_count];
    *made = (struct thread){.number = thread_count, .weight = one_in(3) ? 1 : one_in(2) ? 8 : 3};
    return made;
}

static void leave(void *unused) {
    (void)unused;
    if (!present || present->is_dead) return;
    present->is_dead = 1;
    note("dead", present->number);
    exchange();
    present = NULL;
}

static void *run_thread(void *argument) {
    struct thread *own = argument;
    present = own;
    sleep_until_chosen(own);
    void *value;
    pthread_cleanup_push(leave, NULL);
    value = own->body(own->argument);
    pthread_cleanup_pop(1);
    return value;
}

int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    if (!make_thread) find_all();
    if (!is_active || !present) return make_thread(handle, attributes, body, argument);
    struct thread *made = enter();
    made->body = body;
    made->argument = argument;
    int error = make_thread(handle, attributes, run_thread, made);
    if (error) return error;
    made->handle = *handle;
    thread_count++;
    pass("create", made->number);
    return 0;
}

void start_thread(void *(*body)(void *), void *argument) {
    pthread_t handle;
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &former);
    if (pthread_create(&handle, NULL, body, argument)) end_here(BROKEN, "no thread");
    pthread_sigmask(SIG_SETMASK, &former, NULL);
}

int pthread_join(pthread_t handle, void **value) {
    if (is_active && present)
        for (int i = 0; i < thread_count; i++)
            if (threads[i].handle == handle && !threads[i].is_dead) wait_until(END, &threads[i], NEVER);
    return join_thread(handle, value);
}

/* MARK: The beginning and the end */

void _exit(int status) {
    if (is_active && present) tell_end("exit");
    raw(SYS_exit_group, status, 0, 0, 0, 0, 0);
    __builtin_unreachable();
}

void _Exit(int status) { _exit(status); }

static int64_t number_of(const char *name, int64_t otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void begin(void) {
    if (!make_thread) find_all();
    if (!getenv("KYMO_SIMULATION_SEED")) return;
    random_state = (uint64_t)number_of("KYMO_SIMULATION_SEED", 1);
    now = number_of("KYMO_SIMULATION_TIME", 1900000000LL * SECOND);
    origin = now - 1000 * SECOND;
    crash_at = number_of("KYMO_SIMULATION_CRASH", NEVER);
    crash_cuts_power = (int)number_of("KYMO_SIMULATION_POWER", 0);
    trace_file = (int)number_of("KYMO_SIMULATION_TRACE", -1);
    present = enter();
    thread_count = 1;
    begin_disk();
    is_active = 1;
    begin_world();
}

__attribute__((destructor)) static void end(void) {
    if (is_active && present) tell_end("exit");
}
