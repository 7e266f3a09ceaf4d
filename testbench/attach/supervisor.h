// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "testbench/attach/attached_program.h"
#include "testbench/attach/launch.h"
#include "testbench/attach/listener.h"
#include "testbench/cli/interrupt.h"
#include "testbench/platform/platform.h"
#include "testbench/report/results.h"

namespace vinic::testbench {

/// A program to be started, and where.
struct program_place {
    program_command command;
    unsigned node = 0;
};

/// Runs programs of the machine as simulated processes. Simulated time stands while a thread of theirs runs:
/// it goes on when each has asked for something, is blocked elsewhere, or has ended. So what the programs do
/// between calls takes no simulated time, and the order of events depends on simulated time, nodes and
/// numbers only.
class supervisor {
public:
    /// Makes the simulated processes. Throws input_error.
    /// `grace`: how long a thread may run without a call, and without proof that it spins, until time goes on
    /// all the same.
    supervisor(platform& on, std::vector<program_place> programs, std::chrono::milliseconds grace,
               results& report);
    /// Programs that still run are killed.
    ~supervisor();
    supervisor(const supervisor&) = delete;
    supervisor& operator=(const supervisor&) = delete;

    /// Starts the programs; just before the simulation.
    void launch();
    /// Between two stretches of simulation: notices what has happened outside. `wait`: nothing else can
    /// happen; then returns when something has, or false when nothing can.
    bool look_outside(bool wait);
    /// Of the first program that did not end with 0, in their order.
    int exit_status() const;

private:
    using clock = std::chrono::steady_clock;

    void add_program(const program_place& place);
    void serve(attached_program& p, host::process& self);
    void serve_thread(attached_program& p, caller& c, host::process& self);
    bool next_call(attached_program& p, caller& c, host::process& self);
    void spin(attached_program& p, caller& c, host::process& self);
    void perform(attached_program& p, caller& c);
    void answer(attached_program& p, caller& c);
    void run_handler(attached_program& p, const std::uint64_t (&words)[vipl::attach::words_of_call],
                     const VIP_ERROR_DESCRIPTOR* error);
    void close_after(attached_program& p);

    /// Returns when no thread of any program runs.
    void settle();
    bool all_stand();
    bool wait_briefly(const caller& c);
    /// Hands what is new to the simulated processes that wait for it; whether there was any.
    bool wake();
    bool wake(attached_program& p);
    void reap();
    void meet();
    void complain(clock::time_point since);
    void judge(attached_program& p);

    platform& platform_;
    std::vector<program_place> places_;
    std::chrono::milliseconds grace_;
    results& report_;
    std::unique_ptr<listener> listener_;
    std::vector<std::unique_ptr<attached_program>> programs_;
    int bell_file_;
    vipl::attach::doorbell* bell_;
    int looks_;
    bool somebody_elsewhere_ = true;  ///< at the last time at which nobody ran
    bool complained_ = false;
};

}  // namespace vinic::testbench
