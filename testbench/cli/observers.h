// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/sim/fingerprint.h"
#include "testbench/cli/options.h"
#include "testbench/platform/firmware.h"
#include "testbench/platform/platform.h"
#include "testbench/report/account_report.h"
#include "testbench/report/instruction_trace.h"
#include "traces/account.h"
#include "traces/anatomy.h"
#include "traces/gtkw_writer.h"
#include "traces/kernel_path.h"
#include "traces/recorder.h"
#include "traces/relay.h"
#include "traces/resource_use.h"
#include "traces/timeline_writer.h"
#include "traces/wave_writer.h"

namespace vinic::testbench {

/// Everything that watches a run, as its options ask; attaches to the probes of the platform that exists.
class observers {
public:
    observers(const trace_options& options, const platform& of, const std::optional<firmware>& image);
    /// Traces are readable up to the moment at which a run broke off.
    ~observers();
    observers(const observers&) = delete;
    observers& operator=(const observers&) = delete;

    bool record() const { return !recorders_.empty(); }
    void flush(sim::picoseconds now);
    void finish();

    /// Null when nobody asked for it.
    instruction_trace* instructions() { return instructions_; }
    /// Empty when nobody asked for it.
    std::string fingerprint() const { return fingerprint_ ? fingerprint_->text() : ""; }
    std::optional<account_report> account() const;
    /// The message of that number, from 1, in order of arrival; 0: the last one. Throws input_error.
    const traces::message_anatomy& message(std::uint64_t number) const;

private:
    void add(const std::string& option, std::unique_ptr<traces::recorder> what);
    void record_wave(const trace_options& options, const traces::wave_view& view);

    std::optional<traces::account> account_;
    std::optional<traces::anatomy> anatomy_;
    std::optional<traces::kernel_path> kernel_path_;
    std::optional<traces::resource_use> use_;
    std::vector<std::unique_ptr<traces::recorder>> recorders_;
    std::vector<std::string> options_;  // that asked for them
    const traces::timeline_writer* timeline_ = nullptr;
    traces::gtkw_writer* gtkw_ = nullptr;
    instruction_trace* instructions_ = nullptr;
    std::optional<sim::fingerprint> fingerprint_;
    std::optional<traces::relay> relay_;  // between the simulation and all of them
    bool finished_ = false;
};

}  // namespace vinic::testbench
