// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/firmware_observers.h"

#include <vector>

#include "hw/sim/error.h"

namespace vinic::testbench {

namespace {

bool wanted(const trace_options& options) { return !options.profile.empty() || !options.itrace.empty(); }

std::vector<nic::lanai_core*> cores_of(const platform& on) {
    std::vector<nic::lanai_core*> cores;
    for (const auto& one : on.nodes())
        if (one->nic->core()) cores.push_back(one->nic->core());
    return cores;
}

std::vector<std::string> names_of(const std::vector<nic::lanai_core*>& cores) {
    std::vector<std::string> names;
    for (const nic::lanai_core* core : cores) names.emplace_back(core->name());
    return names;
}

}  // namespace

void firmware_observers::check(const trace_options& options, const platform& on,
                               const std::optional<firmware>& image) {
    if (!wanted(options)) return;
    const auto cores = cores_of(on);
    if (cores.empty() || !image)
        throw sim::input_error("{}: the cards of this design run no firmware",
                               options.profile.empty() ? "--itrace" : "--profile");
    if (!options.itrace.empty()) check_filter(options.itrace_filter, image->image, names_of(cores));
}

firmware_observers::firmware_observers(const trace_options& options, const platform& on,
                                       const std::optional<firmware>& image) {
    if (!wanted(options)) return;
    const auto cores = cores_of(on);
    const auto names = names_of(cores);
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
