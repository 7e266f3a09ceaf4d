// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include <cstdint>
#include <string>

#include "hw/sim/time.h"

namespace vinic::host {

class cpu;
class memory;

/// Processor clocks: the unit in which software is charged.
using clocks = std::uint64_t;

/// Something that a processor executes: a simulated process, or the kernel's interrupt context. Its calls are
/// made from its own SystemC thread; each returns when the simulated processor has done the work, which
/// includes the time during which others had the processor.
///
/// Code between two calls takes no time. It runs at an edge of the processor's clock, after
/// `memory::commit`.
class context {
public:
    enum class state {
        waiting,    ///< for a wake-up, a time, or (interrupt context) an interrupt
        ready,      ///< for a processor
        running,    ///< on a processor
        stalled,    ///< on a processor that stands still
        suspended,  ///< on a processor that serves an interrupt
        finished
    };

    virtual ~context() = default;
    context(const context&) = delete;
    context& operator=(const context&) = delete;

    const std::string& name() const { return name_; }
    /// Rank at one instant: of a process, the order of creation; the interrupt context comes last.
    unsigned number() const { return number_; }
    cpu& processor() { return cpu_; }
    memory& ram();

    /// Executes for that many clocks. Interrupts and (in user mode) the end of the time slice suspend it.
    void compute(clocks n);
    /// The processor's time for copying `bytes`; the caller moves the bytes.
    void copy(std::uint64_t bytes);
    /// A memory barrier.
    void barrier();
    /// The processor stands still, uninterruptible, while `wait_for_hardware` waits in the kernel: a load
    /// that goes out on the bus, a store into a full buffer. Execution goes on at the processor's next edge.
    template <typename F>
    void stall(F&& wait_for_hardware) {
        begin_stall();
        wait_for_hardware();
        end_stall();
    }
    /// The time as the program sees it, for a program that may act on it: an observation, so it ends a
    /// series of empty polls.
    sim::picoseconds now();
    /// How long it has had a processor.
    sim::picoseconds processor_time();

protected:
    friend class cpu;

    context(cpu& processor, std::string name, unsigned number);

    /// Adds work and returns when it is done.
    void work(clocks n);
    /// Edge at which overhead and work will be done if nothing intervenes.
    std::uint64_t end() const;
    /// Returns when the context has a processor and has done its work.
    void wait_until_done();
    void begin_stall();
    void end_stall();
    /// Another call than an empty poll was made.
    virtual void acted() {}
    /// Code of the context is about to go on.
    virtual void goes_on() {}
    /// Clocks of work left if it goes on at `edge`; `forever` for a sleeping poller that nothing wakes yet.
    virtual clocks left_from(std::uint64_t edge) const;
    /// Takes `n` clocks off the work left.
    virtual void advance(clocks n);

    static constexpr clocks forever = ~clocks{0} >> 1;

    cpu& cpu_;
    std::string name_;
    unsigned number_;
    state state_ = state::waiting;
    clocks overhead_ = 0;          ///< to be executed before the work: getting on the processor
    clocks left_ = 0;              ///< work
    std::uint64_t since_ = 0;      ///< running: edge at which overhead and work started or went on
    std::uint64_t busy_from_ = 0;  ///< running or stalled: edge from which the time is not yet in `busy`
    sim::picoseconds busy_ = 0;    ///< its part of the processors' `busy`
    sc_core::sc_event resume_;
};

}  // namespace vinic::host
