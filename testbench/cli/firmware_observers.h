// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "testbench/cli/options.h"
#include "testbench/platform/firmware.h"
#include "testbench/platform/platform.h"
#include "testbench/report/instruction_trace.h"
#include "testbench/report/profile.h"

namespace vinic::testbench {

/// What watches the instructions of all cores, as the options of a run ask.
class firmware_observers {
public:
    /// Throws input_error where the options ask for what is not there.
    static void check(const trace_options& options, const platform& on, const std::optional<firmware>& image);

    /// Of options that have been checked.
    firmware_observers(const trace_options& options, const platform& on,
                       const std::optional<firmware>& image);

    bool record() const { return trace_.has_value(); }
    /// When all cores have committed.
    void flush(sim::picoseconds now);
    /// The instructions that follow belong to that phase of the run.
    void enter(run_phase phase) {
        if (profile_) profile_->enter(phase);
    }
    void finish(run_phase measured);
    /// Null when nobody asked for it.
    const testbench::profile* profile() const { return profile_ ? &*profile_ : nullptr; }

private:
    std::optional<testbench::profile> profile_;
    std::optional<instruction_trace> trace_;
};

}  // namespace vinic::testbench
