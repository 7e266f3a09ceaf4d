// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/firmware_observers.h"

namespace vinic::testbench {

firmware_observers::firmware_observers(const trace_options& options, const platform& on,
                                       const firmware& image) {
    if (options.profile.empty() && options.itrace.empty()) return;
    std::vector<std::string> cores;
    for (const auto& one : on.nodes()) cores.push_back(one->nic.lanai.name());
    if (!options.profile.empty())
        profile_.emplace(image.image, cores, on.nodes().front()->nic.memory.bytes.get());
    if (!options.itrace.empty()) trace_.emplace(options.itrace, image.image, cores, options.itrace_filter);
    for (std::size_t core = 0; core < cores.size(); ++core)
        on.nodes()[core]->nic.lanai.on_instruction(
            [this, core](sim::picoseconds at, const lanai::instruction_record& r) {
                if (profile_) profile_->add(core, r);
                if (trace_) trace_->add(core, at, r);
            },
            trace_.has_value());
}

void firmware_observers::flush(sim::picoseconds now) {
    if (trace_) trace_->flush(now);
}

void firmware_observers::finish() {
    flush(sim::never);
    if (profile_) profile_->finish();
}

}  // namespace vinic::testbench
