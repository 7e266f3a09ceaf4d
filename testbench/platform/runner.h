// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "hw/sim/time.h"
#include "testbench/cli/interrupt.h"
#include "testbench/platform/platform.h"
#include "testbench/platform/run_phases.h"

namespace vinic::testbench {

/// `deadlock`: nothing is left that could end the waiting; `no_progress`: timers tick, but end nobody's.
enum class ending { finished, time_limit, deadlock, no_progress, interrupted };

/// What a run cost. Those above the line belong to the model and are equal in every mode.
struct run_cost {
    sim::picoseconds simulated = 0;
    std::uint64_t messages = 0;
    std::uint64_t instructions = 0;

    std::uint64_t delta_cycles = 0;  ///< of the kernel: each wakes one or more blocks
    std::uint64_t instructions_executed = 0;
    double startup_s = 0;
    double wall_s = 0;
    double cpu_s = 0;
    std::uint64_t peak_memory_bytes = 0;  ///< of the whole program so far
};

/// Drives the kernel, a stretch of simulated time after the other. Where stretches end reaches no result.
class runner {
public:
    /// `started`: when the program did. `between` is called between two stretches, when all that runs ahead
    /// has committed, if there is one: for traces.
    runner(platform& what, std::chrono::steady_clock::time_point started);

    void between_stretches(std::function<void(sim::picoseconds now)> what) { between_ = std::move(what); }
    /// Calls `what` at each multiple of `interval`, when all that runs ahead has committed up to it.
    void stop_every(sim::picoseconds interval, std::function<void(sim::picoseconds now)> what) {
        interval_ = interval;
        at_interval_ = std::move(what);
    }
    /// Calls `entered` at the end of each instant in which another phase of the run begins, when all that
    /// runs ahead has committed up to it.
    void follow(run_phases& phases, std::function<void(sim::picoseconds now)> entered) {
        phases_ = &phases;
        entered_ = std::move(entered);
    }
    /// Events may come from outside of the simulation: `what` is called between two stretches, and, with
    /// true, when no event is left; it then returns when there is one, or false when none can come.
    void look_outside(std::function<bool(bool wait)> what) { outside_ = std::move(what); }
    /// Shows how far it is, on standard error; `rows` and `expected_rows` say how much of the workload is
    /// done.
    void show_progress(const results& of) { progress_ = &of; }

    ending run(std::optional<sim::picoseconds> until, const interrupt_guard& interrupt);
    const run_cost& cost() const { return cost_; }

private:
    using clock = std::chrono::steady_clock;

    sim::picoseconds next_stop(std::optional<sim::picoseconds> until) const;
    void advance(sim::picoseconds goal, sim::picoseconds stop, std::optional<sim::picoseconds> until);
    std::optional<ending> end_at(sim::picoseconds stop, std::optional<sim::picoseconds> until);
    std::optional<ending> hangs();
    void start(sim::picoseconds goal, sc_core::sc_starvation_policy policy);
    void finish_instant();
    bool phase_ends() const { return phases_ && phases_->changed(); }
    void settle();
    void count();
    void report_progress(std::optional<sim::picoseconds> until);

    platform& platform_;
    clock::time_point started_;
    clock::time_point begun_;
    clock::time_point reported_;
    std::function<void(sim::picoseconds)> between_;
    sim::picoseconds interval_ = 0;  ///< 0: none
    std::function<void(sim::picoseconds)> at_interval_;
    run_phases* phases_ = nullptr;
    std::function<void(sim::picoseconds)> entered_;
    std::function<bool(bool)> outside_;
    const results* progress_ = nullptr;
    run_cost cost_;
};

}  // namespace vinic::testbench
