// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "testbench/platform/runner.h"
#include "testbench/report/json.h"

namespace vinic::testbench {

/// All that a run has to say, before it is a table or JSON.
struct run_report {
    std::string design;
    json parameters = json::object();  ///< that differ from the design's
    std::string workload;
    json arguments = json::object();
    json provenance = json::object();  ///< without what may differ between two runs
    json provenance_of_run = json::object();
    json results = json::array();
    std::vector<std::string> lines;  ///< that scripts printed
    std::vector<std::string> failed_checks;
    json account;  ///< null: not asked for
    json message;  ///< the same
    std::string account_text;
    json statistics;  ///< null: not asked for
    json profile;     ///< the same
    std::string fingerprint;
    run_cost cost;
    /// When the time limit ended the run; expected_rows: how many rows the workload would have had.
    std::optional<sim::picoseconds> stopped;
    std::size_t expected_rows = 0;
};

/// `reproducible`: without all that may differ between two runs of the same simulation.
json to_json(const run_report& report, bool reproducible);
std::string to_text(const run_report& report, bool reproducible, bool colours);

}  // namespace vinic::testbench
