// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "testbench/cli/command_line.h"
#include "testbench/cli/interrupt.h"
#include "testbench/cli/options.h"
#include "testbench/cli/output.h"
#include "testbench/platform/design.h"
#include "testbench/platform/firmware.h"
#include "testbench/platform/platform.h"
#include "testbench/platform/runner.h"
#include "testbench/report/json.h"
#include "testbench/report/results.h"

namespace vinic::testbench {

/// What runs on the platform, as the report names it.
struct subject {
    std::string name;
    json arguments = json::object();
    std::string sha256;
    std::string command;  ///< the whole command line, for the provenance
    std::size_t expected_rows = 0;
    bool owns_output = true;  ///< standard output is free for the report

    // Where something outside of the simulation belongs to it; may be empty.
    std::function<void()> begin;
    std::function<bool(bool wait)> look_outside;  ///< see runner::look_outside
};

/// The places that a run writes to; opened before it, so that nobody simulates in vain.
struct output_places {
    explicit output_places(const simulation_options& options);

    std::optional<output> json_to;
    std::optional<output> statistics_to;
    std::optional<output> profile_to;
    std::optional<output> folded_to;
    std::optional<output> svg_to;
};

/// Simulates what is on the platform, watched as the options ask, and writes the report: what verbs that
/// simulate have in common. `failed`: a check of the subject's did.
status simulate(const simulation_options& options, const subject& what, const design& on,
                const std::optional<firmware>& image, platform& built, results& found, output_places& to,
                std::chrono::steady_clock::time_point started, const interrupt_guard& interrupt);

}  // namespace vinic::testbench
