// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"

namespace vinic::testbench {

/// What of a run its workload measures: from the first process that begins to measure to the last that ends.
/// For those who watch; it changes nothing.
class measurement : public sim::module {
public:
    explicit measurement(const sc_core::sc_module_name& name) : module(name) {}

    sim::parameter<std::uint64_t> patience_ms{
        *this,
        {.name = "patience_ms",
         .unit = "ms",
         .value = 10'000,
         .min = 1,
         .max = 1'000'000'000,
         .help =
             "all processes wait without time limit, none has gone on for so long, and timers of firmware "
             "or kernel still tick: the run ends as a deadlock",
         .source = "check of the simulator"}};

    sim::value_probe measuring{*this, "measuring", 1, "1: the workload measures; before, it warms up"};

    void begin() {
        if (running_++ == 0) measuring.set(1);
    }
    /// Without effect for one who did not begin.
    void end() {
        if (running_ != 0 && --running_ == 0) measuring.set(0);
    }

private:
    unsigned running_ = 0;
};

}  // namespace vinic::testbench
