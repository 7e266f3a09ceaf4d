// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testbench/attach/attached_program.h"
#include "testbench/attach/bystanders.h"
#include "testbench/attach/launch.h"
#include "testbench/attach/listener.h"
#include "testbench/cli/interrupt.h"
#include "testbench/platform/platform.h"
#include "testbench/report/results.h"

namespace vinic::testbench {

/// A program, and where it runs.
struct program_place {
    std::optional<program_command> command;  ///< none: something else starts it
    unsigned node = 0;
};

/// How time passes for programs.
struct attach_timing {
    /// How long a thread may run without a call, and without proof that it spins, until time goes on all the
    /// same.
    std::chrono::milliseconds grace{100};
    /// What programs do between calls takes so many times what they were measured to take; 0: nothing.
    double cpu_scale = 0;
};

struct attach_plan {
    std::vector<program_place> programs;
    std::optional<program_command> launcher;  ///< starts those that have no commands
    std::string socket;                       ///< where they find us; empty: a place of our own
};

/// Runs programs of the machine as simulated processes. Simulated time stands while a thread of theirs runs:
/// it goes on when each has asked for something, is blocked elsewhere, or has ended. So what the programs do
/// between calls takes no simulated time, and the order of events depends on simulated time, nodes and
/// numbers only.
class supervisor {
public:
    /// Makes the simulated processes. Throws input_error.
    /// `recorder`: null, or writes the calls down.
    supervisor(platform& on, attach_plan plan, const attach_timing& timing, results& report,
               call_recorder* recorder);
    /// Programs that we have started and that still run are killed.
    ~supervisor();
    supervisor(const supervisor&) = delete;
    supervisor& operator=(const supervisor&) = delete;

    /// Starts the programs; just before the simulation.
    void launch();
    /// Between two stretches of simulation: notices what has happened outside. `wait`: nothing else can
    /// happen; then returns when something has, or false when nothing can.
    bool look_outside(bool wait);
    /// Of the launcher, for whose end it waits; else of the first program that did not end with 0, in their
    /// order.
    int exit_status();

private:
    using clock = std::chrono::steady_clock;

    void add_program(const program_place& place);
    void serve(attached_program& p, host::process& self);
    void serve_thread(attached_program& p, caller& c, host::process& self);
    bool next_call(attached_program& p, caller& c, host::process& self);
    void charge(caller& c, host::process& self);
    void spin(attached_program& p, caller& c, host::process& self);
    void perform(attached_program& p, caller& c);
    void limit_wait(caller& c);
    void expire(attached_program& p, caller& c);
    void set_timer(attached_program& p, vipl::attach::slot& s);
    void open_timer(attached_program& p, vipl::attach::slot& s);
    void keep_time(attached_program& p, std::size_t which, host::process& self);
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
    /// Whether a program has ended.
    bool reap();
    void meet();
    attached_program* program_for(const listener::caller& who);
    bool all_have_come() const;
    bool bystanders_stand(thread_runs& seen);
    bool release_spins();
    bool still_awaits(clock::time_point& quiet_since);
    void stop_awaiting();
    void complain(clock::time_point since);
    void judge();

    platform& platform_;
    attach_plan plan_;
    attach_timing timing_;
    results& report_;
    call_recorder* recorder_;
    std::unique_ptr<listener> listener_;
    std::unique_ptr<machine_process> launcher_;
    std::unique_ptr<bystanders> bystanders_;  ///< null: others start the programs
    bool awaiting_ = false;                   ///< time stands until all programs have come
    std::vector<std::unique_ptr<attached_program>> programs_;
    int bell_file_;
    vipl::attach::doorbell* bell_;
    int looks_;
    bool somebody_elsewhere_ = true;  ///< at the last time at which nobody ran
    bool complained_ = false;
    thread_runs seen_;    ///< at the last look
    bool moved_ = false;  ///< somebody has, since programs are awaited
};

}  // namespace vinic::testbench
