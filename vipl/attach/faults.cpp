// SPDX-License-Identifier: Apache-2.0
#include "vipl/attach/faults.h"

#include <pthread.h>

#include <atomic>

// The C library's own name: others (UCX) put a sigaction before it that does nothing.
extern "C" int __sigaction(int, const struct sigaction*, struct sigaction*);

namespace vinic::vipl::attach {

namespace {

constexpr std::size_t takers_max = 2;
std::atomic<fault_taker> takers[takers_max];

/// What the program has asked for: a handler reads one while another is written.
struct {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct sigaction kept[2]{};
    std::atomic<unsigned> current{0};
} program;

/// Not in a handler.
class locked {
public:
    locked() { pthread_mutex_lock(&program.lock); }
    ~locked() { pthread_mutex_unlock(&program.lock); }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;
};

void keep(const struct sigaction& what) {
    const unsigned other = 1 - program.current;
    program.kept[other] = what;
    program.current = other;
}

/// As the kernel would start the program's handler; what it blocks is unblocked when ours returns.
void pass_on(int signal, siginfo_t* info, void* context) {
    const struct sigaction theirs = program.kept[program.current];
    const bool none =
        (theirs.sa_flags & SA_SIGINFO) == 0 && (theirs.sa_handler == SIG_DFL || theirs.sa_handler == SIG_IGN);
    if (none || (theirs.sa_flags & SA_RESETHAND) != 0) keep({});
    if (none) {
        __sigaction(signal, &program.kept[program.current], nullptr);  // the access is repeated
        return;
    }
    sigset_t blocked = theirs.sa_mask;
    if ((theirs.sa_flags & SA_NODEFER) == 0) sigaddset(&blocked, signal);
    pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    if ((theirs.sa_flags & SA_SIGINFO) != 0) return theirs.sa_sigaction(signal, info, context);
    theirs.sa_handler(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
    for (const auto& taker : takers)
        if (const fault_taker one = taker; one != nullptr && one(info, context)) return;
    pass_on(signal, info, context);
}

bool is_ours(const struct sigaction& one) {
    return (one.sa_flags & SA_SIGINFO) != 0 && one.sa_sigaction == on_fault;
}

}  // namespace

void take_faults(fault_taker taker) {
    const locked lock;
    for (auto& place : takers) {
        fault_taker none = nullptr;
        if (place == taker || place.compare_exchange_strong(none, taker)) break;
    }
    struct sigaction now {};
    __sigaction(SIGSEGV, nullptr, &now);
    if (is_ours(now)) return;
    keep(now);
    struct sigaction ours {};
    ours.sa_sigaction = on_fault;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    __sigaction(SIGSEGV, &ours, nullptr);
}

}  // namespace vinic::vipl::attach

using namespace vinic::vipl::attach;

#pragma GCC visibility push(default)
extern "C" int sigaction(int signal, const struct sigaction* to, struct sigaction* before) noexcept {
    if (signal != SIGSEGV) return __sigaction(signal, to, before);
    const locked lock;
    struct sigaction now {};
    __sigaction(SIGSEGV, nullptr, &now);
    if (!is_ours(now)) return __sigaction(signal, to, before);
    const struct sigaction given = to != nullptr ? *to : now;  // both may be at one place
    if (before != nullptr) *before = program.kept[program.current];
    if (to != nullptr) keep(given);
    return 0;
}
