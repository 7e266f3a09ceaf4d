// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

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

    /// What the values of all other statistics are of.
    struct simulated_time : sim::statistic {
        explicit simulated_time(const measurement& of)
            : statistic(of, "simulated_time", sim::unit::ps::name, "simulated time that statistics are of") {}
        sim::tally counted(sim::picoseconds at) const override { return {at}; }
    } time{*this};

    sim::value_probe measuring{*this, "measuring", 1, "1: the workload measures; before, it warms up"};

    void begin() {
        if (running_++ == 0) change(1);
    }
    /// Without effect for one who did not begin.
    void end() {
        if (running_ != 0 && --running_ == 0) change(0);
    }
    bool measures() const { return running_ != 0; }
    /// Told in the midst of the instant; nobody when empty.
    void on_change(std::function<void()> what) { changed_ = std::move(what); }

private:
    void change(std::uint64_t to) {
        measuring.set(to);
        if (changed_) changed_();
    }

    unsigned running_ = 0;
    std::function<void()> changed_;
};

}  // namespace vinic::testbench
