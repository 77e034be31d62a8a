/* team.c: threads lent by the caller take tasks together. A thread enters with pyspec_help, waits
 * there between jobs, and leaves when the team is dismissed; the library creates none. Which thread
 * runs a task changes no number: what tasks leave behind is combined in the order of the tasks. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "threads/team.h"

#include <string.h>

/* Locks, conditions and the clock of the system. */
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

typedef SRWLOCK team_lock;
typedef CONDITION_VARIABLE team_condition;
#define lock_init(lock) InitializeSRWLock(lock)
#define lock_take(lock) AcquireSRWLockExclusive(lock)
#define lock_leave(lock) ReleaseSRWLockExclusive(lock)
#define condition_init(condition) InitializeConditionVariable(condition)
#define condition_wait(condition, lock) SleepConditionVariableSRW(condition, lock, INFINITE, 0)
#define condition_wake(condition) WakeAllConditionVariable(condition)
#define yield_core() SwitchToThread()

static int64_t nanoseconds(void)
{
    LARGE_INTEGER count, per_second;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&per_second);
    return (int64_t)((double)count.QuadPart * (1e9 / (double)per_second.QuadPart));
}
#else
#include <pthread.h>
#include <sched.h>
#include <time.h>

typedef pthread_mutex_t team_lock;
typedef pthread_cond_t team_condition;
#define lock_init(lock) pthread_mutex_init(lock, NULL)
#define lock_take(lock) pthread_mutex_lock(lock)
#define lock_leave(lock) pthread_mutex_unlock(lock)
#define condition_init(condition) pthread_cond_init(condition, NULL)
#define condition_wait(condition, lock) pthread_cond_wait(condition, lock)
#define condition_wake(condition) pthread_cond_broadcast(condition)
#define yield_core() sched_yield()

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
#endif

/* A waiting thread looks for so many nanoseconds before it sleeps. Most waits end within microseconds,
 * and to wake a thread takes tens of them. Between LOOKS looks it lets others have the core. */
enum { PATIENCE = 200000, LOOKS = 32 };

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define PAUSE() __asm__ volatile("yield")
#else
#define PAUSE() ((void)0)
#endif

/* What the caller's memory holds. */
typedef struct team_state {
    team_lock lock;
    team_condition begin, end;
    pyspec_task *task;
    void *job;
    int64_t n_tasks;
    int64_t next;    /* first task that nobody took               */
    int64_t number;  /* of the job; a new one wakes who waits     */
    int64_t busy;    /* helpers that are at work on the job       */
    int64_t entered; /* helpers so far                            */
    int64_t inside;  /* helpers that have not left                */
    int64_t status;
    int is_open;     /* whether helpers may still join the job    */
    int is_dismissed;
} team_state;

static team_state *state_of(const pyspec_team *team)
{
    return (team_state *)(void *)team->state;
}

int64_t pyspec_team_size(void)
{
    return (int64_t)sizeof(team_state);
}

int pyspec_team_begin(pyspec_team *team)
{
    if (!team || !team->state)
        return STATUS_NULL_POINTER;
    if (team->n_state < (int64_t)sizeof(team_state))
        return STATUS_WORK;
    team_state *s = state_of(team);
    memset(s, 0, sizeof *s);
    lock_init(&s->lock);
    condition_init(&s->begin);
    condition_init(&s->end);
    return STATUS_OK;
}

/* Takes tasks until none is left; after a failure the rest is not begun. */
static void take_tasks(team_state *s, int64_t thread)
{
    for (;;) {
        const int64_t k = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED);
        if (k >= s->n_tasks)
            return;
        const int status = s->task(s->job, k, thread);
        if (status) {
            __atomic_store_n(&s->status, status, __ATOMIC_RELAXED);
            __atomic_store_n(&s->next, s->n_tasks, __ATOMIC_RELAXED);
        }
    }
}

/* Looks whether the number at a place is another one than `seen`, until it is or patience ends. */
static void look_for_change(const int64_t *place, int64_t seen)
{
    const int64_t end = nanoseconds() + PATIENCE;
    while (nanoseconds() < end) {
        for (int k = 0; k < LOOKS; k++) {
            if (__atomic_load_n(place, __ATOMIC_ACQUIRE) != seen)
                return;
            PAUSE();
        }
        yield_core();
    }
}

/* Waits for a job after number `seen`; returns its number, with the lock held. */
static int64_t wait_for_job(team_state *s, int64_t seen)
{
    look_for_change(&s->number, seen);
    lock_take(&s->lock);
    while (s->number == seen && !s->is_dismissed)
        condition_wait(&s->begin, &s->lock);
    return s->number;
}

int pyspec_help(pyspec_team *team)
{
    if (!team || !team->state)
        return STATUS_NULL_POINTER;
    team_state *s = state_of(team);
    int64_t seen = 0;
    lock_take(&s->lock);
    const int64_t thread = ++s->entered;
    s->inside++;
    lock_leave(&s->lock);
    while (thread < team->n_threads) {
        seen = wait_for_job(s, seen);
        if (s->is_dismissed) {
            lock_leave(&s->lock);
            break;
        }
        const int joins = s->is_open;
        if (joins)
            __atomic_add_fetch(&s->busy, 1, __ATOMIC_RELAXED);
        lock_leave(&s->lock);
        if (!joins)
            continue;
        take_tasks(s, thread);
        lock_take(&s->lock);
        if (__atomic_sub_fetch(&s->busy, 1, __ATOMIC_RELEASE) == 0)
            condition_wake(&s->end);
        lock_leave(&s->lock);
    }
    lock_take(&s->lock);
    if (--s->inside == 0)
        condition_wake(&s->end);
    lock_leave(&s->lock);
    return STATUS_OK;
}

int pyspec_dismiss(pyspec_team *team)
{
    if (!team || !team->state)
        return STATUS_NULL_POINTER;
    team_state *s = state_of(team);
    lock_take(&s->lock);
    s->is_dismissed = 1;
    __atomic_fetch_add(&s->number, 1, __ATOMIC_RELEASE);
    condition_wake(&s->begin);
    lock_leave(&s->lock);
    return STATUS_OK;
}

int pyspec_check_team(const pyspec_team *team)
{
    if (!team)
        return STATUS_OK;
    if (!team->state || !team->sums || (team->n_threads > 1 && !team->work))
        return STATUS_NULL_POINTER;
    return team->n_state < (int64_t)sizeof(team_state) ? STATUS_WORK : STATUS_OK;
}

int pyspec_share(pyspec_team *team, pyspec_task *task, void *job, int64_t n_tasks)
{
    int status = STATUS_OK;
    if (!team || n_tasks < 2) {
        for (int64_t k = 0; !status && k < n_tasks; k++)
            status = task(job, k, 0);
        return status;
    }
    team_state *s = state_of(team);
    lock_take(&s->lock);
    s->task = task;
    s->job = job;
    s->n_tasks = n_tasks;
    s->next = 0;
    s->status = STATUS_OK;
    s->is_open = 1;
    __atomic_fetch_add(&s->number, 1, __ATOMIC_RELEASE);
    condition_wake(&s->begin);
    lock_leave(&s->lock);
    take_tasks(s, 0);
    lock_take(&s->lock);
    s->is_open = 0;
    for (int64_t busy; (busy = s->busy) > 0;) {
        lock_leave(&s->lock);
        look_for_change(&s->busy, busy);
        lock_take(&s->lock);
        if (s->busy == busy)
            condition_wait(&s->end, &s->lock);
    }
    status = (int)s->status;
    lock_leave(&s->lock);
    return status;
}
