// SPDX-License-Identifier: Apache-2.0

// alarm, ualarm, setitimer and getitimer in simulated time: the simulator keeps the timers and sends their
// signals.
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "vipl/attach/simulated_time.h"

namespace vinic::vipl::attach {

namespace {

bool valid_time(const timeval& t) { return t.tv_sec >= 0 && t.tv_usec >= 0 && t.tv_usec < 1'000'000; }

std::uint64_t ps_of_time(const timeval& t) {
    return ps_of({.tv_sec = t.tv_sec, .tv_nsec = t.tv_usec * 1000});
}

/// What is left is never shown as nothing.
timeval time_of(std::uint64_t ps) {
    const std::uint64_t us = (ps + ps_per_us - 1) / ps_per_us;
    return {.tv_sec = static_cast<time_t>(us / 1'000'000),
            .tv_usec = static_cast<suseconds_t>(us % 1'000'000)};
}

/// `to`: null leaves it as it is.
bool exchange(slot& s, int which, const itimerval* to, itimerval* before) {
    s.words[0] = static_cast<std::uint64_t>(which);
    const std::uint64_t value = to != nullptr ? ps_of_time(to->it_value) : 0;
    const timer_set how = to == nullptr ? timer_set::no : value == 0 ? timer_set::off : timer_set::from_now;
    s.words[1] = static_cast<std::uint64_t>(how);
    s.words[2] = value;
    s.words[3] = to != nullptr ? ps_of_time(to->it_interval) : 0;
    if (!ask(s, static_cast<std::uint32_t>(request::set_timer))) return false;
    if (before != nullptr) *before = {.it_interval = time_of(s.words[3]), .it_value = time_of(s.words[2])};
    return true;
}

bool known(int which) { return which >= 0 && static_cast<std::size_t>(which) < interval_timers; }

int set(int which, const itimerval* to, itimerval* before) {
    const held_slot s = simulated();
    if (s == nullptr)
        return static_cast<int>(to != nullptr ? syscall(SYS_setitimer, which, to, before)
                                              : syscall(SYS_getitimer, which, before));
    if (known(which) && (to == nullptr || (valid_time(to->it_value) && valid_time(to->it_interval))) &&
        exchange(*s, which, to, before))
        return 0;
    errno = EINVAL;
    return -1;
}

}  // namespace

}  // namespace vinic::vipl::attach

#pragma GCC visibility push(default)
extern "C" {

int setitimer(__itimer_which_t which, const itimerval* to, itimerval* before) noexcept {
    return vinic::vipl::attach::set(which, to, before);
}

int getitimer(__itimer_which_t which, itimerval* now) noexcept {
    return vinic::vipl::attach::set(which, nullptr, now);
}

unsigned alarm(unsigned seconds) noexcept {
    const itimerval to{.it_interval = {}, .it_value = {.tv_sec = static_cast<time_t>(seconds), .tv_usec = 0}};
    itimerval before{};
    setitimer(ITIMER_REAL, &to, &before);
    return static_cast<unsigned>(before.it_value.tv_sec) + (before.it_value.tv_usec != 0 ? 1 : 0);
}

useconds_t ualarm(useconds_t us, useconds_t interval) noexcept {
    const auto time = [](useconds_t t) {
        return timeval{.tv_sec = static_cast<time_t>(t / 1'000'000),
                       .tv_usec = static_cast<suseconds_t>(t % 1'000'000)};
    };
    const itimerval to{.it_interval = time(interval), .it_value = time(us)};
    itimerval before{};
    setitimer(ITIMER_REAL, &to, &before);
    return static_cast<useconds_t>(before.it_value.tv_sec * 1'000'000 + before.it_value.tv_usec);
}

}  // extern "C"
#pragma GCC visibility pop
