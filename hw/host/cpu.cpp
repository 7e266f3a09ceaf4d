// SPDX-License-Identifier: Apache-2.0
#include "hw/host/cpu.h"

#include <fmt/format.h>

#include <utility>

#include "hw/host/interrupt_context.h"
#include "hw/sim/nominal_clock.h"
#include "hw/sim/simulation.h"

namespace vinic::host {

using sim::parameter_spec;
using integer = parameter_spec<std::uint64_t>;

cpu::cpu(const sc_core::sc_module_name& name, memory& ram, bool free)
    : sim::module(name),
      clock_mhz(*this, {.name = "clock_mhz",
                        .unit = "MHz",
                        .value = 1000,
                        .min = 1,
                        .max = 10000,
                        .help = fmt::format("processor clock; {}", sim::nominal_clock),
                        .source = "facts/calibration.md, MyVIA row [B]"}),
      count(*this, {.name = "count",
                    .unit = "processors",
                    .value = 2,
                    .min = 1,
                    .max = 64,
                    .help = "processors of a node; interrupts go to the first"}),
      trap_entry_clocks(*this, {.name = "trap_entry_clocks",
                                .unit = "clocks",
                                .value = 250,
                                .min = 0,
                                .max = 100000,
                                .help = "system call: from the user's instruction to kernel code"}),
      trap_exit_clocks(*this, {.name = "trap_exit_clocks",
                               .unit = "clocks",
                               .value = 250,
                               .min = 0,
                               .max = 100000,
                               .help = "system call: from kernel code back to user code"}),
      context_switch_clocks(*this,
                            {.name = "context_switch_clocks",
                             .unit = "clocks",
                             .value = 2000,
                             .min = 0,
                             .max = 1000000,
                             .help = "a processor goes over to another process, cold caches included"}),
      process_wake_clocks(*this, {.name = "process_wake_clocks",
                                  .unit = "clocks",
                                  .value = 5000,
                                  .min = 0,
                                  .max = 1000000,
                                  .help = "a process that waited gets a processor: queueing and scheduling",
                                  .source = "facts/lanai_pcix.md C3: 5-15 us in all [B~]"}),
      interrupt_delivery_ns(*this,
                            {.name = "interrupt_delivery_ns",
                             .unit = "ns",
                             .value = 1000,
                             .min = 0,
                             .max = 100000,
                             .help = "from the interrupt line to the processor, through the controller",
                             .source = "facts/lanai_pcix.md C3: 1-3 us with kernel entry (IO-APIC) [B~]"}),
      interrupt_entry_clocks(*this, {.name = "interrupt_entry_clocks",
                                     .unit = "clocks",
                                     .value = 500,
                                     .min = 0,
                                     .max = 100000,
                                     .help = "from the interrupted instruction to the handler",
                                     .source = "facts/lanai_pcix.md C3: 1-3 us with delivery [B~]"}),
      interrupt_exit_clocks(*this, {.name = "interrupt_exit_clocks",
                                    .unit = "clocks",
                                    .value = 400,
                                    .min = 0,
                                    .max = 100000,
                                    .help = "from the handler back to the interrupted instruction"}),
      copy_call_clocks(*this, {.name = "copy_call_clocks",
                               .unit = "clocks",
                               .value = 30,
                               .min = 0,
                               .max = 100000,
                               .help = "copying memory: each call"}),
      copy_bytes_per_clock(*this, {.name = "copy_bytes_per_clock",
                                   .unit = "bytes/clock",
                                   .value = 0.5,
                                   .min = 0.001,
                                   .max = 64,
                                   .help = "copying memory: rate, caches cold"}),
      dma_line_miss_ns(*this, {.name = "dma_line_miss_ns",
                               .unit = "ns",
                               .value = 150,
                               .min = 0,
                               .max = 10000,
                               .help = "first look at a line that DMA wrote: the cache misses",
                               .source = "facts/lanai_pcix.md C3: 100-300 ns [B~]"}),
      barrier_clocks(*this, {.name = "barrier_clocks",
                             .unit = "clocks",
                             .value = 30,
                             .min = 0,
                             .max = 10000,
                             .help = "memory barrier, or the locked operation that serves as one"}),
      time_slice_us(*this,
                    {.name = "time_slice_us",
                     .unit = "us",
                     .value = 10000,
                     .min = 1,
                     .max = 1000000,
                     .help = "round robin: how long a process keeps a processor that others wait for"}),
      poll_rounds(*this,
                  {.name = "poll_rounds",
                   .unit = "rounds",
                   .value = 2,
                   .min = 2,
                   .max = 1000,
                   .help = "simulator only: equal rounds of empty polls after which a process may sleep "
                           "through more of them"}),
      step_by_step(*this, {.name = "step_by_step",
                           .unit = "",
                           .value = false,
                           .help = "simulator only: execute each empty poll (set by --lockstep)"}),
      busy(*this, "busy", "time that the processors executed or stood still, of all processors",
           [this] { settle(); }),
      polls(*this, "polls", "looks of processes at queues that they poll", [this] { settle(); }),
      traps(*this, "traps", "kernel entries by system call"),
      interrupts(*this, "interrupts", "interrupts taken"),
      context_switches(*this, "context_switches", "a processor went over to another process"),
      copies(*this, "copies", "calls that copied memory"),
      bytes_copied(*this, "bytes_copied", "bytes that processors copied"),
      interrupt_probe(*this, "interrupt", "the first processor serves an interrupt"),
      clock_(sim::clock_domain::from_mhz(clock_mhz)),
      memory_(ram),
      free_(free),
      slice_clocks_(from_ns(time_slice_us * 1000)),
      processors_(count),
      interrupt_(std::make_unique<interrupt_context>(*this)) {
    for (std::uint64_t i = 0; i < count; ++i)
        running_probes.push_back(std::make_unique<sim::value_probe>(
            *this, fmt::format("running{}", i), 16,
            fmt::format("who has processor {}: process number + 1, or 0", i)));
    sim::simulation::current().on_commit([this] {
        memory_.commit();
        settle();
    });
    sim::simulation::current().on_settle([this]() -> sim::picoseconds {
        const bool serving = processors_.front().in_interrupt;
        return serving ? clock_.edge(interrupt_begin_) - 1 : sim::never;
    });
    sc_core::sc_spawn_options method;
    method.spawn_method();
    method.dont_initialize();
    method.set_sensitivity(&due_event_);
    sc_core::sc_spawn([this] { decide(); }, sc_core::sc_gen_unique_name("schedule"), &method);
}

cpu::~cpu() = default;

clocks cpu::copy_clocks(std::uint64_t bytes) const {
    // Thousandths of a byte, so that the division is one of integers.
    const auto rate = static_cast<std::uint64_t>(copy_bytes_per_clock.get() * 1000 + 0.5);
    return copy_call_clocks + (bytes * 1000 + rate - 1) / rate;
}

process& cpu::spawn(const std::string& process_name, user_memory* space, process::body what) {
    const auto number = static_cast<unsigned>(processes_.size());
    bool shared = false;
    for (const auto& other : processes_)
        if (space && other->space_ == space) shared = other->shares_space_ = true;
    processes_.push_back(std::make_unique<process>(*this, process_name, number, space, std::move(what)));
    processes_.back()->shares_space_ = shared;
    return *processes_.back();
}

// --- Interrupts

void cpu::on_interrupt(std::function<void(context&)> handler) { handlers_.push_back(std::move(handler)); }

void cpu::interrupt_level(bool asserted) {
    decide();
    if (asserted == level_) return;
    level_ = asserted;
    level_since_ = sim::now();
    plan_interrupt(sim::now());
}

void cpu::post_interrupt(std::function<void(context&)> handler) {
    decide();
    posted_.push_back(std::move(handler));
    plan_interrupt(sim::now());
}

/// When the processor hears of an interrupt: the line's after its way through the controller, the kernel's
/// own at once; not before `earliest`.
void cpu::plan_interrupt(sim::picoseconds earliest) {
    sim::picoseconds at = sim::never;
    if (level_) at = level_since_ + (free_ ? 0 : interrupt_delivery_ns * 1000);
    if (!posted_.empty()) at = std::min(at, earliest);
    interrupt_request_ = at == sim::never ? at : std::max(at, earliest);
    plan();
}

void cpu::serve_interrupt() {
    while (!posted_.empty()) {
        const auto handler = std::move(posted_.front());
        posted_.pop_front();
        handler(*interrupt_);
    }
    if (!level_) return;
    for (const auto& handler : handlers_) handler(*interrupt_);
}

void cpu::end_interrupt() {
    decide();
    const std::uint64_t edge = edge_now();
    processor& p = processors_.front();
    interrupt_probe.report(clock_.edge(interrupt_begin_), sim::now(), "interrupt");
    p.in_interrupt = false;
    p.leavable_since = p.free_since = interruptible_since_ = edge;
    if (p.current) {
        p.current->state_ = context::state::running;
        start(*p.current);
    }
    plan_interrupt(sim::now());
}

}  // namespace vinic::host
