// SPDX-License-Identifier: Apache-2.0

// timer_create and timerfd_create with their kin in simulated time: the simulator keeps the timers. That of a
// file is a counter (eventfd), which reads and polls like the kernel's own. Clocks of processor time count
// all time here. In the shared library only, as lock_limits.cpp.
#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>

#include <atomic>

#include "vipl/attach/next.h"
#include "vipl/attach/simulated_time.h"

namespace vinic::vipl::attach {

namespace {

struct known_timer {
    std::atomic<bool> used;
    clockid_t clock;
    int file;  ///< -1: none
};
known_timer timers[timers_max];

int fail(int error) {
    errno = error;
    return -1;
}

/// Free ones lie behind those of setitimer.
std::size_t take_timer(clockid_t clock, int file) {
    for (std::size_t i = interval_timers; i < timers_max; ++i)
        if (!timers[i].used.exchange(true)) {
            timers[i].clock = clock;
            timers[i].file = file;
            return i;
        }
    return timers_max;
}

/// The latest, since files are closed without our hearing of it.
std::size_t timer_of_file(int file) {
    for (std::size_t i = interval_timers; i < timers_max; ++i)
        if (timers[i].used && timers[i].file == file) return i;
    return timers_max;
}

std::size_t timer_of(timer_t id) {
    const auto number = reinterpret_cast<std::uintptr_t>(id);
    const bool known = number >= interval_timers && number < timers_max && timers[number].used;
    return known && timers[number].file < 0 ? number : timers_max;
}

bool open(slot& s, std::size_t which, timer_tells how, std::uint64_t whom, std::uint64_t value,
          pid_t thread) {
    s.words[0] = which;
    s.words[1] = static_cast<std::uint64_t>(how);
    s.words[2] = whom;
    s.words[3] = value;
    s.words[4] = static_cast<std::uint64_t>(thread);
    return ask(s, static_cast<std::uint32_t>(request::open_timer)) && s.result != 0;
}

timespec timespec_of(std::uint64_t ps) {
    return {.tv_sec = static_cast<time_t>(ps / ps_per_s),
            .tv_nsec = static_cast<long>(ps % ps_per_s / ps_per_ns)};
}

/// `to`: null leaves it as it is.
int exchange(slot& s, std::size_t which, bool absolute, const itimerspec* to, itimerspec* before) {
    if (which == timers_max || (to != nullptr && !(valid(&to->it_value) && valid(&to->it_interval))))
        return fail(EINVAL);
    timespec value = to != nullptr ? to->it_value : timespec{};
    const bool stops = value.tv_sec == 0 && value.tv_nsec == 0;
    if (absolute && !stops && of_the_day(timers[which].clock)) value.tv_sec -= epoch_s;
    const std::uint64_t ps = value.tv_sec >= 0 ? ps_of(value) : 0;
    timer_set how = timer_set::no;
    if (to != nullptr) how = stops ? timer_set::off : absolute ? timer_set::at : timer_set::from_now;
    s.words[0] = which;
    s.words[1] = static_cast<std::uint64_t>(how);
    s.words[2] = ps;
    s.words[3] = to != nullptr ? ps_of(to->it_interval) : 0;
    if (!ask(s, static_cast<std::uint32_t>(request::set_timer))) return fail(EINVAL);
    if (before != nullptr)
        *before = {.it_interval = timespec_of(s.words[3]), .it_value = timespec_of(s.words[2])};
    return 0;
}

}  // namespace

}  // namespace vinic::vipl::attach

using namespace vinic::vipl::attach;

#pragma GCC visibility push(default)
extern "C" {

int timer_create(clockid_t clock, sigevent* event, timer_t* id) noexcept {
    const held_slot s = simulated();
    if (s == nullptr) return next("timer_create", timer_create)(clock, event, id);
    const int notify = event != nullptr ? event->sigev_notify : SIGEV_SIGNAL;
    if (notify != SIGEV_SIGNAL && notify != SIGEV_THREAD_ID && notify != SIGEV_NONE) return fail(ENOTSUP);
    const std::size_t which = take_timer(clock, -1);
    if (which == timers_max) return fail(EAGAIN);
    const timer_tells how = notify == SIGEV_NONE     ? timer_tells::nobody
                            : notify == SIGEV_SIGNAL ? timer_tells::process
                                                     : timer_tells::thread;
    const auto signal = static_cast<std::uint64_t>(event != nullptr ? event->sigev_signo : SIGALRM);
    const std::uint64_t value =
        event != nullptr ? reinterpret_cast<std::uint64_t>(event->sigev_value.sival_ptr) : which;
    const pid_t thread = how == timer_tells::thread ? event->_sigev_un._tid : 0;
    if (!open(*s, which, how, signal, value, thread)) {
        timers[which].used = false;
        return fail(EINVAL);
    }
    *id = reinterpret_cast<timer_t>(which);
    return 0;
}

int timer_settime(timer_t id, int flags, const itimerspec* to, itimerspec* before) noexcept {
    const held_slot s = simulated();
    if (s == nullptr) return next("timer_settime", timer_settime)(id, flags, to, before);
    return exchange(*s, timer_of(id), (flags & TIMER_ABSTIME) != 0, to, before);
}

int timer_gettime(timer_t id, itimerspec* now) noexcept {
    const held_slot s = simulated();
    if (s == nullptr) return next("timer_gettime", timer_gettime)(id, now);
    return exchange(*s, timer_of(id), false, nullptr, now);
}

int timer_getoverrun(timer_t id) noexcept {
    const held_slot s = simulated();
    if (s == nullptr) return next("timer_getoverrun", timer_getoverrun)(id);
    itimerspec left;
    return exchange(*s, timer_of(id), false, nullptr, &left) == 0 ? static_cast<int>(s->result) : -1;
}

int timer_delete(timer_t id) noexcept {
    const held_slot s = simulated();
    if (s == nullptr) return next("timer_delete", timer_delete)(id);
    const itimerspec off{};
    const std::size_t which = timer_of(id);
    if (exchange(*s, which, false, &off, nullptr) != 0) return -1;
    timers[which].used = false;
    return 0;
}

int timerfd_create(clockid_t clock, int flags) noexcept {
    const held_slot s = simulated();
    if (s == nullptr) return next("timerfd_create", timerfd_create)(clock, flags);
    static_assert(int{TFD_NONBLOCK} == int{EFD_NONBLOCK} && int{TFD_CLOEXEC} == int{EFD_CLOEXEC});
    const int file = eventfd(0, flags);
    if (file < 0) return -1;
    // The file that had the number before has been closed.
    std::size_t which = timer_of_file(file);
    if (which == timers_max) which = take_timer(clock, file);
    if (which == timers_max || !open(*s, which, timer_tells::file, static_cast<std::uint64_t>(file), 0, 0))
        return fail(EMFILE);
    timers[which].clock = clock;
    return file;
}

int timerfd_settime(int file, int flags, const itimerspec* to, itimerspec* before) noexcept {
    const held_slot s = simulated();
    if (s == nullptr) return next("timerfd_settime", timerfd_settime)(file, flags, to, before);
    return exchange(*s, timer_of_file(file), (flags & TFD_TIMER_ABSTIME) != 0, to, before);
}

int timerfd_gettime(int file, itimerspec* now) noexcept {
    const held_slot s = simulated();
    if (s == nullptr) return next("timerfd_gettime", timerfd_gettime)(file, now);
    return exchange(*s, timer_of_file(file), false, nullptr, now);
}

}  // extern "C"
#pragma GCC visibility pop
