/* calls.c: the clocks, and the calls that wait and lock. What needs nobody else is done at once; everything else waits
   for its turn. */
#include "simulation.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/timerfd.h>

enum { MOST_TIMERS = 16 };

static int (*try_mutex)(pthread_mutex_t *);
static int (*unlock_mutex)(pthread_mutex_t *);
static int (*lock_mutex)(pthread_mutex_t *);
static int (*try_reading)(pthread_rwlock_t *), (*try_writing)(pthread_rwlock_t *);
static int (*lock_reading)(pthread_rwlock_t *), (*lock_writing)(pthread_rwlock_t *);
static int (*try_semaphore)(sem_t *);

/* Other libraries may lock before this one has begun. */
static void find_locks(void) {
    try_mutex = found("pthread_mutex_trylock");
    unlock_mutex = found("pthread_mutex_unlock");
    try_reading = found("pthread_rwlock_tryrdlock");
    try_writing = found("pthread_rwlock_trywrlock");
    lock_reading = found("pthread_rwlock_rdlock");
    lock_writing = found("pthread_rwlock_wrlock");
    try_semaphore = found("sem_trywait");
    lock_mutex = found("pthread_mutex_lock");
}

/* MARK: Clocks */

static struct timespec time_of(int64_t nanoseconds) {
    return (struct timespec){nanoseconds / SECOND, nanoseconds % SECOND};
}

static int64_t nanoseconds_of(const struct timespec *time) { return time->tv_sec * SECOND + time->tv_nsec; }

/* The deadline on the simulation's clock for an absolute time of either clock. */
static int64_t deadline_of(const struct timespec *time) {
    if (!time) return NEVER;
    int64_t value = nanoseconds_of(time);
    return value < origin / 2 ? origin + value : value - wall_step;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!is_active || !present) return (int)result(raw(SYS_clock_gettime, clock, (long)time, 0, 0, 0, 0));
    now += 100;
    *time = time_of(clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? now + wall_step : now - origin);
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec moment;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &moment);
    *time = (struct timeval){moment.tv_sec, moment.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *seconds) {
    struct timespec moment;
    clock_gettime(CLOCK_REALTIME, &moment);
    if (seconds) *seconds = moment.tv_sec;
    return moment.tv_sec;
}

int nanosleep(const struct timespec *time, struct timespec *rest) {
    if (!is_active || !present) return (int)result(raw(SYS_nanosleep, (long)time, (long)rest, 0, 0, 0, 0));
    pass("sleep", nanoseconds_of(time));
    pause_for(nanoseconds_of(time));
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest) {
    if (!is_active || !present) return (int)-raw(SYS_clock_nanosleep, clock, flags, (long)time, (long)rest, 0, 0);
    pause_for(flags & TIMER_ABSTIME ? deadline_of(time) - now : nanoseconds_of(time));
    return 0;
}

int usleep(useconds_t microseconds) {
    struct timespec time = time_of(microseconds * 1000LL);
    return nanosleep(&time, NULL);
}

unsigned int sleep(unsigned int seconds) {
    struct timespec time = time_of(seconds * SECOND);
    return nanosleep(&time, NULL) ? seconds : 0;
}

int sched_yield(void) {
    if (!is_active || !present) return (int)result(raw(SYS_sched_yield, 0, 0, 0, 0, 0, 0));
    wait_until(NOTHING, NULL, 0);
    return 0;
}

/* MARK: Timers */

/* A timer that is read as a descriptor: the kernel's would go by its own clock. */
struct timer {
    int descriptor;
    int64_t deadline, interval;
};

static struct timer timers[MOST_TIMERS];
static int timer_count;

/* Lets timers fire that are due; the earliest deadline of the others. */
int64_t fire_timers(void) {
    int64_t next = NEVER;
    for (int i = 0; i < timer_count; i++) {
        struct timer *one = &timers[i];
        if (one->deadline <= now) {
            uint64_t count = 1;
            raw(SYS_write, one->descriptor, (long)&count, sizeof count, 0, 0, 0);
            one->deadline = one->interval ? now + one->interval : NEVER;
        }
        if (one->deadline < next) next = one->deadline;
    }
    return next;
}

int timerfd_create(int clock, int flags) {
    if (!is_active || !present) return (int)result(raw(SYS_timerfd_create, clock, flags, 0, 0, 0, 0));
    if (timer_count == MOST_TIMERS) end_here(BROKEN, "too many timers");
    int descriptor = (int)result(raw(SYS_eventfd2, 0, flags, 0, 0, 0, 0));
    if (descriptor >= 0) timers[timer_count++] = (struct timer){descriptor, NEVER, 0};
    return descriptor;
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *time, struct itimerspec *former) {
    for (int i = 0; i < timer_count && present; i++) {
        if (timers[i].descriptor != descriptor) continue;
        int64_t value = nanoseconds_of(&time->it_value);
        // One that is set again has not fired yet.
        struct pollfd fired = {.fd = descriptor, .events = POLLIN};
        uint64_t count;
        if (raw(SYS_poll, (long)&fired, 1, 0, 0, 0, 0) > 0) raw(SYS_read, descriptor, (long)&count, sizeof count, 0, 0, 0);
        if (former) memset(former, 0, sizeof *former);
        timers[i].interval = nanoseconds_of(&time->it_interval);
        int64_t due = flags & TFD_TIMER_ABSTIME ? deadline_of(&time->it_value) : now + value;
        timers[i].deadline = value == 0 ? NEVER : due;
        return 0;
    }
    return (int)result(raw(SYS_timerfd_settime, descriptor, flags, (long)time, (long)former, 0, 0));
}

/* MARK: Waiting for descriptors */

int poll(struct pollfd *descriptors, nfds_t count, int timeout) {
    if (!is_active || !present) return (int)result(raw(SYS_poll, (long)descriptors, (long)count, timeout, 0, 0, 0));
    pass("poll", timeout);
    int64_t deadline = timeout < 0 ? NEVER : now + timeout * 1000000LL;
    int ready = (int)raw(SYS_poll, (long)descriptors, (long)count, 0, 0, 0, 0);
    while (ready == 0 && now < deadline) {
        wait_for(descriptors, count, deadline);
        ready = (int)raw(SYS_poll, (long)descriptors, (long)count, 0, 0, 0, 0);
    }
    note("polled", ready);
    return (int)result(ready);
}

int __poll_chk(struct pollfd *descriptors, nfds_t count, int timeout, size_t size) {
    (void)size;
    return poll(descriptors, count, timeout);
}

int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
    (void)mask;
    return poll(descriptors, count, timeout ? (int)((nanoseconds_of(timeout) + 999999) / 1000000) : -1);
}

int epoll_pwait(int queue, struct epoll_event *events, int capacity, int timeout, const sigset_t *mask) {
    if (!is_active || !present)
        return (int)result(raw(SYS_epoll_pwait, queue, (long)events, capacity, timeout, (long)mask, 8));
    pass("epoll", timeout);
    int64_t deadline = timeout < 0 ? NEVER : now + timeout * 1000000LL;
    int ready = (int)raw(SYS_epoll_pwait, queue, (long)events, capacity, 0, 0, 8);
    while (ready == 0 && now < deadline) {
        wait_until(EPOLL, (void *)(intptr_t)queue, deadline);
        ready = (int)raw(SYS_epoll_pwait, queue, (long)events, capacity, 0, 0, 8);
    }
    note("polled", ready);
    return (int)result(ready);
}

int epoll_wait(int queue, struct epoll_event *events, int capacity, int timeout) {
    return epoll_pwait(queue, events, capacity, timeout, NULL);
}

/* MARK: Locks */

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (!lock_mutex) find_locks();
    if (!is_active || !present) return lock_mutex(mutex);
    int error;
    while ((error = try_mutex(mutex)) == EBUSY) wait_until(LOCK, &mutex->__data.__lock, NEVER);
    return error;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    int error;
    if (!lock_mutex) find_locks();
    if (!present) return lock_reading(lock);
    while ((error = try_reading(lock)) == EBUSY) pause_for(20000);
    return error;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    int error;
    if (!lock_mutex) find_locks();
    if (!present) return lock_writing(lock);
    while ((error = try_writing(lock)) == EBUSY) pause_for(20000);
    return error;
}

static int wait_on(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline) {
    unlock_mutex(mutex);
    present->is_signalled = 0;
    wait_until(CONDITION, condition, deadline);
    int is_signalled = present->is_signalled;
    present->is_signalled = 0;
    pthread_mutex_lock(mutex);
    return is_signalled ? 0 : ETIMEDOUT;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    if (!is_active || !present) abort();
    return wait_on(condition, mutex, NEVER);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time) {
    if (!is_active || !present) abort();
    return wait_on(condition, mutex, deadline_of(time));
}

int pthread_cond_clockwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time) {
    (void)clock;
    return pthread_cond_timedwait(condition, mutex, time);
}

int pthread_cond_signal(pthread_cond_t *condition) {
    if (is_active && present) wake(CONDITION, condition, 1);
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
    if (is_active && present) wake(CONDITION, condition, INT32_MAX);
    return 0;
}

int sem_wait(sem_t *semaphore) {
    while (try_semaphore(semaphore)) {
        if (errno != EAGAIN || !present) return -1;
        wait_until(SEMAPHORE, semaphore, NEVER);
    }
    return 0;
}

int sem_timedwait(sem_t *semaphore, const struct timespec *time) {
    int64_t deadline = deadline_of(time);
    while (try_semaphore(semaphore)) {
        if (errno != EAGAIN || !present) return -1;
        if (now >= deadline) {
            errno = ETIMEDOUT;
            return -1;
        }
        wait_until(SEMAPHORE, semaphore, deadline);
    }
    return 0;
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time) {
    (void)clock;
    return sem_timedwait(semaphore, time);
}

static long futex(int *address, int operation, long value, const struct timespec *time, long e, long f) {
    int64_t deadline;
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
        for (;;) {
            int is_free = 0, own = (int)raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
            if (__atomic_compare_exchange_n(address, &is_free, own, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return 0;
            wait_until(LOCK, address, NEVER);
        }
    case FUTEX_UNLOCK_PI: __atomic_store_n(address, 0, __ATOMIC_RELEASE); return 0;
    case FUTEX_TRYLOCK_PI: return raw(SYS_futex, (long)address, operation, value, (long)time, e, f);
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        if (__atomic_load_n(address, __ATOMIC_ACQUIRE) != (int)value) return -EAGAIN;
        deadline = !time ? NEVER
                   : (operation & FUTEX_CMD_MASK) == FUTEX_WAIT ? now + nanoseconds_of(time) : deadline_of(time);
        present->is_signalled = 0;
        wait_until(FUTEX, address, deadline);
        int is_signalled = present->is_signalled;
        present->is_signalled = 0;
        return is_signalled ? 0 : -ETIMEDOUT;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: return wake(FUTEX, address, (int)value);
    default: return raw(SYS_futex, (long)address, operation, value, (long)time, e, f);
    }
}

ssize_t getrandom(void *bytes, size_t size, unsigned int flags) {
    if (!is_active || !present) return result(raw(SYS_getrandom, (long)bytes, (long)size, flags, 0, 0, 0));
    for (size_t i = 0; i < size; i++) ((uint8_t *)bytes)[i] = (uint8_t)draw();
    return (ssize_t)size;
}

int getentropy(void *bytes, size_t size) { return getrandom(bytes, size, 0) < 0 ? -1 : 0; }
void arc4random_buf(void *bytes, size_t size) { getrandom(bytes, size, 0); }

uint32_t arc4random(void) {
    uint32_t value;
    getrandom(&value, sizeof value, 0);
    return value;
}

long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (is_active && present) {
        if (number == SYS_futex)
            return result(futex((int *)a[0], (int)a[1], a[2], (const struct timespec *)a[3], a[4], a[5]));
        if (number == SYS_getrandom) return getrandom((void *)a[0], (size_t)a[1], 0);
    }
    return result(raw(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

