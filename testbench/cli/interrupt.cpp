// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/interrupt.h"

#include <csignal>

namespace vinic::testbench {

namespace {

volatile std::sig_atomic_t raised_flag = 0;

void on_signal(int signal) {
    raised_flag = 1;
    std::signal(signal, SIG_DFL);
}

}  // namespace

interrupt_guard::interrupt_guard() {
    raised_flag = 0;
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
}

interrupt_guard::~interrupt_guard() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

bool interrupt_guard::raised() const { return raised_flag != 0; }

}  // namespace vinic::testbench
