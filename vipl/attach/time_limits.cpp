// SPDX-License-Identifier: Apache-2.0

// Time-outs in simulated time. The call is the machine's, without a limit: whoever makes ready what it waits
// for ends it. The limit is the simulator's: at its time it sends a signal, which ends the call (EINTR).
// Locks are waited for again after a signal, so its handler lets their deadline be over (time_limit.h).
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vipl/attach/connection.h"
#include "vipl/attach/simulated_time.h"
#include "vipl/attach/time_limit.h"

extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*);

namespace vinic::vipl::attach {

namespace {

void on_limit(int) {
    if (time_limit::current != nullptr) time_limit::current->pass();
}

void install_handler() {
    struct sigaction ours {};
    ours.sa_handler = on_limit;
    __sigaction(limit_signal, &ours, nullptr);
}

/// The mask during a call, which must let our signal through.
struct kernel_mask {
    explicit kernel_mask(const sigset_t* of) : given(of != nullptr) {
        if (!given) return;
        mask = *of;
        sigdelset(&mask, limit_signal);
    }
    const sigset_t* get() const { return given ? &mask : nullptr; }
    static constexpr std::size_t bytes = 8;
    bool given;
    sigset_t mask{};
};

constexpr timespec at_once{};

/// A look costs a system call; without a limit nothing is limited.
enum class span { none, zero, some };
span span_of(const timespec* limit) {
    if (limit == nullptr) return span::none;
    return limit->tv_sec == 0 && limit->tv_nsec == 0 ? span::zero : span::some;
}

/// `wait`: the machine's call, given a time-out: null for none.
template <typename Wait>
int limited(const timespec* limit, Wait&& wait) {
    const held_slot s = simulated();
    const span how_long = span_of(limit);
    if (s == nullptr || how_long == span::none) return wait(limit);
    if (!valid(limit)) {
        errno = EINVAL;
        return -1;
    }
    std::uint64_t ps = 0;
    if (how_long == span::zero) {
        now(*s, ps);
        return wait(&at_once);
    }
    const time_limit until(*s, ps_of(*limit), true);
    const int found = wait(nullptr);
    return found < 0 && until.ended_it() ? 0 : found;
}

int poll_with(pollfd* files, nfds_t count, const timespec* limit, const sigset_t* mask) {
    return limited(limit, [&](const timespec* real) {
        timespec copy = real != nullptr ? *real : timespec{};
        const kernel_mask blocked(mask);
        return static_cast<int>(syscall(SYS_ppoll, files, count, real != nullptr ? &copy : nullptr,
                                        blocked.get(), kernel_mask::bytes));
    });
}

int select_with(int count, fd_set* reads, fd_set* writes, fd_set* errors, const timespec* limit,
                const sigset_t* mask) {
    fd_set* const sets[] = {reads, writes, errors};
    const int found = limited(limit, [&](const timespec* real) {
        timespec copy = real != nullptr ? *real : timespec{};
        const kernel_mask blocked(mask);
        const struct {
            const sigset_t* mask;
            std::size_t bytes;
        } sixth{blocked.get(), kernel_mask::bytes};
        return static_cast<int>(
            syscall(SYS_pselect6, count, reads, writes, errors, real != nullptr ? &copy : nullptr, &sixth));
    });
    // The kernel leaves the sets alone when a signal ends it, which a time-out does not.
    for (fd_set* const set : sets)
        for (int i = 0; found == 0 && set != nullptr && i < count; ++i) FD_CLR(i, set);
    return found;
}

int epoll_with(int epoll, epoll_event* events, int most, int ms, const sigset_t* mask) {
    const timespec limit{.tv_sec = ms / 1000, .tv_nsec = static_cast<long>(ms % 1000) * 1'000'000};
    return limited(ms < 0 ? nullptr : &limit, [&](const timespec* real) {
        const kernel_mask blocked(mask);
        const int real_ms = real == nullptr ? -1 : real == &limit ? ms : 0;
        return static_cast<int>(
            syscall(SYS_epoll_pwait, epoll, events, most, real_ms, blocked.get(), kernel_mask::bytes));
    });
}

}  // namespace

thread_local time_limit* time_limit::current = nullptr;

time_limit::time_limit(slot& s, std::uint64_t ps, bool from_now) : slot_(s) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_handler);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, limit_signal);
    pthread_sigmask(SIG_UNBLOCK, &only, &mask_);
    current = this;
    slot_.limit = limit::armed;
    slot_.words[0] = ps;
    slot_.words[1] = from_now ? 1 : 0;
    if (!ask(slot_, static_cast<std::uint32_t>(request::limit_wait))) slot_.limit = limit::expired;
    if (expired()) pass();
}

time_limit::~time_limit() {
    const int result = errno;
    current = nullptr;
    slot_.limit = limit::none;
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    errno = result;
}

}  // namespace vinic::vipl::attach

using namespace vinic::vipl::attach;

#pragma GCC visibility push(default)
extern "C" {

int poll(pollfd* files, nfds_t count, int ms) {
    const timespec limit{.tv_sec = ms / 1000, .tv_nsec = static_cast<long>(ms % 1000) * 1'000'000};
    return poll_with(files, count, ms < 0 ? nullptr : &limit, nullptr);
}

int ppoll(pollfd* files, nfds_t count, const timespec* limit, const sigset_t* mask) {
    return poll_with(files, count, limit, mask);
}

// As Linux has it, what is left of the time-out is written back; here only that nothing is.
int select(int count, fd_set* reads, fd_set* writes, fd_set* errors, timeval* limit) {
    if (limit == nullptr) return select_with(count, reads, writes, errors, nullptr, nullptr);
    const timespec span{.tv_sec = limit->tv_sec, .tv_nsec = limit->tv_usec * 1000};
    const int found = select_with(count, reads, writes, errors, &span, nullptr);
    if (found == 0) *limit = {};
    return found;
}

int pselect(int count, fd_set* reads, fd_set* writes, fd_set* errors, const timespec* limit,
            const sigset_t* mask) {
    return select_with(count, reads, writes, errors, limit, mask);
}

int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* limit) {
    const kernel_mask awaited(set);
    const int found = limited(limit, [&](const timespec* real) {
        return static_cast<int>(syscall(SYS_rt_sigtimedwait, awaited.get(), info, real, kernel_mask::bytes));
    });
    if (found != 0) return found;
    errno = EAGAIN;
    return -1;
}

int epoll_wait(int epoll, epoll_event* events, int most, int ms) {
    return epoll_with(epoll, events, most, ms, nullptr);
}

int epoll_pwait(int epoll, epoll_event* events, int most, int ms, const sigset_t* mask) {
    return epoll_with(epoll, events, most, ms, mask);
}

}  // extern "C"
#pragma GCC visibility pop
