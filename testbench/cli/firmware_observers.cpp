// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/firmware_observers.h"

#include <vector>

#include "hw/sim/error.h"

namespace vinic::testbench {

firmware_observers::firmware_observers(const trace_options& options, const platform& on,
                                       const std::optional<firmware>& image) {
    if (options.profile.empty() && options.itrace.empty()) return;
    std::vector<nic::lanai_core*> cores;
    std::vector<std::string> names;
    for (const auto& one : on.nodes()) {
        if (!one->nic->core()) continue;
        cores.push_back(one->nic->core());
        names.emplace_back(cores.back()->name());
    }
    if (cores.empty() || !image)
        throw sim::input_error("{}: the cards of this design run no firmware",
                               options.profile.empty() ? "--itrace" : "--profile");
    if (!options.profile.empty()) profile_.emplace(image->image, names, cores.front()->memory_bytes());
    if (!options.itrace.empty()) trace_.emplace(options.itrace, image->image, names, options.itrace_filter);
    for (std::size_t core = 0; core < cores.size(); ++core)
        cores[core]->on_instruction(
            [this, core](sim::picoseconds at, const lanai::instruction_record& r) {
                if (profile_) profile_->add(core, r);
                if (trace_) trace_->add(core, at, r);
            },
            trace_.has_value());
}

void firmware_observers::flush(sim::picoseconds now) {
    if (trace_) trace_->flush(now);
}

void firmware_observers::finish(run_phase measured) {
    flush(sim::never);
    if (profile_) profile_->finish(measured);
}

}  // namespace vinic::testbench
