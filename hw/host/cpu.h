// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hw/host/context.h"
#include "hw/host/memory.h"
#include "hw/host/process.h"
#include "hw/sim/clock_domain.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/time.h"
#include "hw/sim/unit.h"

namespace vinic::host {

/// A counter that processes still asleep or at work contribute to: brought up to date when it is read.
template <typename Unit>
class running_counter : public sim::counter<Unit> {
public:
    running_counter(const sim::module& owner, const std::string& name, std::string help,
                    std::function<void()> settle)
        : sim::counter<Unit>(owner, name, std::move(help)), settle_(std::move(settle)) {}

    sim::tally counted(sim::picoseconds at) const override {
        settle_();
        return sim::counter<Unit>::counted(at);
    }

private:
    std::function<void()> settle_;
};

/// The processors of a node: what software costs, and the scheduler that shares them.
///
/// Everything happens at edges of the processor clock, and a decision at an edge knows what happened before
/// it, not at it: so no order in which the kernel wakes processes at one instant matters. Ready processes
/// wait in the order in which they became ready, at one instant by number. A free processor takes the first
/// at the next edge. When a time slice ends and somebody waits, the processor changes hands; a slice that
/// ends with nobody waiting begins anew. Interrupts go to processor 0. Kernel mode is left by no time slice;
/// a stalled processor is left by nothing.
class cpu : public sim::module {
public:
    sim::parameter<std::uint64_t> clock_mhz;
    sim::parameter<std::uint64_t> count;
    sim::parameter<std::uint64_t> trap_entry_clocks;
    sim::parameter<std::uint64_t> trap_exit_clocks;
    sim::parameter<std::uint64_t> context_switch_clocks;
    sim::parameter<std::uint64_t> process_wake_clocks;
    sim::parameter<std::uint64_t> interrupt_delivery_ns;
    sim::parameter<std::uint64_t> interrupt_entry_clocks;
    sim::parameter<std::uint64_t> interrupt_exit_clocks;
    sim::parameter<std::uint64_t> copy_call_clocks;
    sim::parameter<double> copy_bytes_per_clock;
    sim::parameter<std::uint64_t> dma_line_miss_ns;
    sim::parameter<std::uint64_t> barrier_clocks;
    sim::parameter<std::uint64_t> time_slice_us;
    sim::parameter<std::uint64_t> poll_rounds;
    sim::parameter<bool> step_by_step;

    running_counter<sim::unit::ps> busy;  ///< of all processors
    running_counter<sim::unit::events> polls;
    sim::counter<sim::unit::events> traps;
    sim::counter<sim::unit::events> interrupts;
    sim::counter<sim::unit::events> context_switches;
    sim::counter<sim::unit::events> copies;
    sim::counter<sim::unit::bytes> bytes_copied;

    sim::span_probe interrupt_probe;
    /// Who has processor i: process number + 1, or 0.
    std::vector<std::unique_ptr<sim::value_probe>> running_probes;

    /// `free`: the what-if in which software costs nothing (a look that finds nothing still takes a clock).
    cpu(const sc_core::sc_module_name& name, memory& ram, bool free);
    ~cpu() override;

    const sim::clock_domain& clock() const { return clock_; }
    memory& ram() { return memory_; }
    /// Nanoseconds in clocks, rounded up.
    clocks from_ns(std::uint64_t ns) const { return clock_.edge_at_or_after(ns * 1000); }
    /// A software cost: `n`, or zero in the what-if.
    clocks cost(clocks n) const { return free_ ? 0 : n; }

    /// Starts a process, ready now; it belongs to the cpu, and its number is the count of those before it.
    process& spawn(const std::string& process_name, user_memory* space, process::body what);
    const std::vector<std::unique_ptr<process>>& processes() const { return processes_; }

    /// A handler in the kernel's interrupt context. Handlers run in the order of registration, each time the
    /// line is found asserted; one whose card did not interrupt returns at once.
    void on_interrupt(std::function<void(context&)> handler);
    /// The level of the interrupt line, from `interrupt_line`.
    void interrupt_level(bool asserted);
    /// An interrupt of the kernel's own (a timer): runs `handler` once in interrupt context.
    void post_interrupt(std::function<void(context&)> handler);

    /// Brings `busy` and `polls` up to now.
    void settle();

    /// Takes the kernel's events of polls in vain away, so that those show who has more to do, until
    /// `go_on`.
    void hold();
    void go_on();

private:
    friend class context;
    friend class process;
    class interrupt_context;

    struct processor {
        process* current = nullptr;
        process* last = nullptr;
        bool in_interrupt = false;
        std::uint64_t taken = 0;           ///< edge at which `current` got it; time slices count from here
        std::uint64_t leavable_since = 0;  ///< edge since which a time slice may end
        std::uint64_t free_since = 0;      ///< edge since which nobody has it
    };

    // --- Decisions: each at an edge, from what was so before it.
    /// Takes those of this instant. Whoever changes something at an instant calls it first.
    void decide();
    void plan();
    void take_interrupt(std::uint64_t edge);
    void change_hands(std::uint64_t edge);
    void dispatch(process& p, processor& on, std::uint64_t edge);
    void put_back(processor& from, std::uint64_t edge);
    void queue_up(process& p, bool woken);
    void vacate(process& p);
    std::uint64_t interrupt_due() const;
    std::uint64_t slice_due(const processor& p) const;
    std::uint64_t free_due(const processor& p) const;

    // --- What contexts ask for.
    std::uint64_t edge_now() const { return clock_.edge_at_or_before(sim::now()); }
    clocks copy_clocks(std::uint64_t bytes) const;
    void start(context& c);
    void start_again(context& c);
    void account(context& c, std::uint64_t edge);
    void count_busy(context& c, std::uint64_t edge);
    /// `woken`: after a wait, which costs.
    void make_ready(process& p, bool woken);
    void release(process& p);
    void stalled(context& c);
    void stall_over(context& c, std::uint64_t edge);
    void kernel_left(process& p);
    void plan_interrupt(sim::picoseconds earliest);
    void serve_interrupt();
    void end_interrupt();
    void tell_sharers(const process& who);
    processor& processor_of(const process& p) { return processors_[p.last_processor_]; }

    sim::clock_domain clock_;
    memory& memory_;
    bool free_;
    std::uint64_t slice_clocks_;
    std::vector<processor> processors_;
    std::vector<std::unique_ptr<process>> processes_;
    std::vector<process*> ready_;    ///< by time, then number
    std::vector<process*> napping_;  ///< asleep between polls

    std::unique_ptr<interrupt_context> interrupt_;
    std::vector<std::function<void(context&)>> handlers_;
    std::deque<std::function<void(context&)>> posted_;
    bool level_ = false;
    sim::picoseconds level_since_ = 0;
    sim::picoseconds interrupt_request_ = sim::never;
    std::uint64_t interruptible_since_ = 0;
    std::uint64_t interrupt_begin_ = 0;

    sim::picoseconds due_ = sim::never;
    sc_core::sc_event due_event_;
};

}  // namespace vinic::host
