// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/firmware_observers.h"

#include <vector>

#include "hw/sim/error.h"
#include "testbench/cli/window.h"

namespace vinic::testbench {

namespace {

std::vector<nic::lanai_core*> cores_of(const platform& on, const std::optional<firmware>& image,
                                       const char* option) {
    std::vector<nic::lanai_core*> cores;
    for (const auto& one : on.nodes())
        for (const node::plugged_card& card : one->cards)
            if (card.nic->core()) cores.push_back(card.nic->core());
    if (cores.empty() || !image)
        throw sim::input_error("{}: the cards of this design run no firmware", option);
    return cores;
}

std::vector<std::string> names_of(const std::vector<nic::lanai_core*>& cores) {
    std::vector<std::string> names;
    for (const nic::lanai_core* core : cores) names.emplace_back(core->name());
    return names;
}

}  // namespace

std::unique_ptr<instruction_trace> make_instruction_trace(const trace_options& options, const platform& on,
                                                          const std::optional<firmware>& image) {
    const std::vector<std::string> cores = names_of(cores_of(on, image, "--itrace"));
    return std::make_unique<instruction_trace>(options.itrace, image->image, cores, options.itrace_filter,
                                               window_of("--itrace", options.itrace_window, on));
}

firmware_observers::firmware_observers(const trace_options& options, const platform& on,
                                       const std::optional<firmware>& image, instruction_trace* trace) {
    if (options.profile.empty() && !trace) return;
    const std::vector<nic::lanai_core*> cores = cores_of(on, image, "--profile");
    if (!options.profile.empty())
        profile_.emplace(image->image, names_of(cores), cores.front()->memory_bytes());
    for (std::size_t core = 0; core < cores.size(); ++core)
        cores[core]->on_instruction(
            [this, core, trace](sim::picoseconds at, const lanai::instruction_record& r) {
                if (profile_) profile_->add(core, r);
                if (trace) trace->add(core, at, r);
            },
            trace != nullptr);
}

void firmware_observers::finish(run_phase measured) {
    if (profile_) profile_->finish(measured);
}

}  // namespace vinic::testbench
