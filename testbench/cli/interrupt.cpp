// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/interrupt.h"

#include <csignal>
#include <ctime>

namespace vinic::testbench {

namespace {

volatile std::sig_atomic_t raised_flag = 0;

volatile std::sig_atomic_t raised_at = 0;  // in seconds, modulo what fits

/// Some senders (timeout) signal the process and then its group: one that comes within a second is the same.
void on_signal(int signal) {
    const auto now = static_cast<std::sig_atomic_t>(std::time(nullptr));
    if (!raised_flag) {
        raised_flag = signal;
        raised_at = now;
    } else if (now - raised_at > 1) {
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
}

}  // namespace

interrupt_guard::interrupt_guard() {
    raised_flag = 0;
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    std::signal(SIGHUP, on_signal);
}

interrupt_guard::~interrupt_guard() {
    if (raised()) return;  // the same may come once more while the program says that it was interrupted
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGHUP, SIG_DFL);
}

bool interrupt_guard::raised() { return raised_flag != 0; }
bool interrupt_guard::by_user() { return raised_flag == SIGINT; }

}  // namespace vinic::testbench
