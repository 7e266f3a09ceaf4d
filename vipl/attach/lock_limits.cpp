// SPDX-License-Identifier: Apache-2.0

// Time-outs of semaphores, condition variables and locks in simulated time (time_limits.cpp). In the shared
// library only: who has no simulator needs the C library's own, which a static program cannot find behind
// these.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "vipl/attach/next.h"
#include "vipl/attach/simulated_time.h"
#include "vipl/attach/time_limit.h"

namespace vinic::vipl::attach {

namespace {

bool nanoseconds_are_valid(const timespec& t) { return t.tv_nsec >= 0 && t.tv_nsec < 1'000'000'000; }

/// Absolute, of a clock, in simulated picoseconds.
std::uint64_t deadline_of(clockid_t clock, timespec until) {
    if (of_the_day(clock)) until.tv_sec -= epoch_s;
    return until.tv_sec >= 0 ? ps_of(until) : 0;
}

int wait_for_semaphore(slot& s, sem_t* semaphore, clockid_t clock, const timespec* until) {
    if (sem_trywait(semaphore) == 0) return 0;
    if (!nanoseconds_are_valid(*until)) {
        errno = EINVAL;
        return -1;
    }
    const time_limit limit(s, deadline_of(clock, *until), false);
    const int result = limit.expired() ? -1 : sem_wait(semaphore);
    if (result != 0 && limit.expired()) errno = ETIMEDOUT;
    return result;
}

int wait_for_condition(slot& s, pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                       const timespec* until) {
    if (!nanoseconds_are_valid(*until)) return EINVAL;
    const time_limit limit(s, deadline_of(clock, *until), false);
    return next("pthread_cond_timedwait", pthread_cond_timedwait)(condition, mutex, limit.deadline());
}

/// `attempt`: takes the lock if it is free.
template <typename Lock>
int wait_for_lock(slot& s, Lock* lock, int (*attempt)(Lock*), int (*wait)(Lock*, const timespec*),
                  clockid_t clock, const timespec* until) {
    if (const int result = attempt(lock); result != EBUSY) return result;
    if (!nanoseconds_are_valid(*until)) return EINVAL;
    const time_limit limit(s, deadline_of(clock, *until), false);
    return wait(lock, limit.deadline());
}

/// The clock of pthread_condattr_setclock, where the C library keeps it (bits/thread-shared-types.h).
clockid_t clock_of(const pthread_cond_t* condition) {
    return (condition->__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

}  // namespace

}  // namespace vinic::vipl::attach

using namespace vinic::vipl::attach;

#pragma GCC visibility push(default)
extern "C" {

int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
    if (const held_slot s = simulated()) return wait_for_semaphore(*s, semaphore, clock, until);
    return next("sem_clockwait", sem_clockwait)(semaphore, clock, until);
}

int sem_timedwait(sem_t* semaphore, const timespec* until) {
    if (const held_slot s = simulated()) return wait_for_semaphore(*s, semaphore, CLOCK_REALTIME, until);
    return next("sem_timedwait", sem_timedwait)(semaphore, until);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
    if (const held_slot s = simulated()) return wait_for_condition(*s, condition, mutex, clock, until);
    return next("pthread_cond_clockwait", pthread_cond_clockwait)(condition, mutex, clock, until);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
    if (const held_slot s = simulated())
        return wait_for_condition(*s, condition, mutex, clock_of(condition), until);
    return next("pthread_cond_timedwait", pthread_cond_timedwait)(condition, mutex, until);
}

int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
    auto* const wait = next("pthread_mutex_timedlock", pthread_mutex_timedlock);
    const held_slot s = simulated();
    return s ? wait_for_lock(*s, mutex, pthread_mutex_trylock, wait, CLOCK_REALTIME, until)
             : wait(mutex, until);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) noexcept {
    if (const held_slot s = simulated())
        return wait_for_lock(*s, mutex, pthread_mutex_trylock,
                             next("pthread_mutex_timedlock", pthread_mutex_timedlock), clock, until);
    return next("pthread_mutex_clocklock", pthread_mutex_clocklock)(mutex, clock, until);
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) noexcept {
    auto* const wait = next("pthread_rwlock_timedrdlock", pthread_rwlock_timedrdlock);
    const held_slot s = simulated();
    return s ? wait_for_lock(*s, lock, pthread_rwlock_tryrdlock, wait, CLOCK_REALTIME, until)
             : wait(lock, until);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) noexcept {
    auto* const wait = next("pthread_rwlock_timedwrlock", pthread_rwlock_timedwrlock);
    const held_slot s = simulated();
    return s ? wait_for_lock(*s, lock, pthread_rwlock_trywrlock, wait, CLOCK_REALTIME, until)
             : wait(lock, until);
}

}  // extern "C"
#pragma GCC visibility pop
