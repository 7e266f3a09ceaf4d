// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "host_driver/kernel_agent.h"
#include "hw/host/cpu.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"
#include "vipl/decisions.h"

namespace vinic::vipl {

/// The VIPL library as it is installed on one node: what its calls cost there. Its functions are those of
/// vipl.h; they run on the thread of a `program` (program.h).
class library : public sim::module {
public:
    sim::parameter<std::uint64_t> call_clocks;
    sim::parameter<std::uint64_t> post_clocks;
    sim::parameter<std::uint64_t> poll_clocks;
    sim::parameter<std::uint64_t> done_clocks;
    sim::parameter<std::uint64_t> queue_done_clocks;
    sim::parameter<std::uint64_t> name_clocks;
    sim::parameter<std::uint64_t> callback_clocks;
    sim::parameter<std::uint64_t> wait_poll_us;
    decisions choices;

    sim::counter<sim::unit::events> posts;
    sim::counter<sim::unit::messages> messages;
    sim::counter<sim::unit::events> completions;
    sim::counter<sim::unit::events> blocking_waits;

    sim::span_probe call_probe;
    sim::span_probe error_probe;

    /// `cards`: the kernel agents of the node's cards, by number.
    library(const sc_core::sc_module_name& name, host::cpu& cpu, std::vector<driver::kernel_agent*> cards);

    host::cpu& processor() { return cpu_; }
    const std::vector<driver::kernel_agent*>& cards() const { return cards_; }

private:
    host::cpu& cpu_;
    std::vector<driver::kernel_agent*> cards_;
};

}  // namespace vinic::vipl
