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
    virtual ~context() = default;
    context(const context&) = delete;
    context& operator=(const context&) = delete;

    const std::string& name() const { return name_; }
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

protected:
    friend class cpu;
    enum class state { idle, ready, running, stalled, suspended, blocked, finished };

    context(cpu& processor, std::string name, unsigned number);

    void begin_stall();
    void end_stall();
    /// Another call than an empty poll was made.
    virtual void acted() {}

    /// What the context does with the processor, in clocks: first the overhead of getting there, then work.
    struct work {
        clocks overhead = 0;
        clocks left = 0;
        std::uint64_t since = 0;  ///< edge at which it started or went on
    };

    cpu& cpu_;
    std::string name_;
    unsigned number_;
    state state_ = state::idle;
    work work_;
    unsigned kernel_depth_ = 0;
    sc_core::sc_event resume_;
};

}  // namespace vinic::host
