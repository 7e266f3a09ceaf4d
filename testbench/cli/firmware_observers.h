// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "testbench/cli/options.h"
#include "testbench/platform/firmware.h"
#include "testbench/platform/platform.h"
#include "testbench/report/instruction_trace.h"
#include "testbench/report/profile.h"

namespace vinic::testbench {

/// What --itrace asks for; `image` must outlive it. Throws input_error when the cards run no firmware, or
/// when a filter lets nothing through.
std::unique_ptr<instruction_trace> make_instruction_trace(const trace_options& options, const platform& on,
                                                          const std::optional<firmware>& image);

/// What watches the instructions of all cores, as the options of a run ask.
class firmware_observers {
public:
    /// `trace`: of make_instruction_trace; null: none.
    firmware_observers(const trace_options& options, const platform& on, const std::optional<firmware>& image,
                       instruction_trace* trace);

    /// The instructions that follow belong to that phase of the run.
    void enter(run_phase phase) {
        if (profile_) profile_->enter(phase);
    }
    void finish(run_phase measured);
    /// Null when nobody asked for it.
    const testbench::profile* profile() const { return profile_ ? &*profile_ : nullptr; }

private:
    std::optional<testbench::profile> profile_;
};

}  // namespace vinic::testbench
