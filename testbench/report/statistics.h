// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hw/sim/simulation.h"
#include "hw/sim/statistic.h"
#include "hw/sim/time.h"
#include "testbench/platform/run_phase.h"
#include "testbench/report/json.h"

namespace vinic::testbench {

/// Whether a hierarchical name matches what a user typed: a part of it, or a pattern with * and ? for all of
/// it. Empty matches everything.
bool matches(const std::string& name, const std::string& pattern);

/// Statistics whose names match, as rows, by name, with what they mean.
json statistics_of(const sim::simulation& of, const std::string& pattern);

/// Statistics as rows in the form that the place's suffix says: .csv, .json, or a table.
std::string statistics_text(const json& rows, const std::string& place);

/// What the statistics of a simulation counted in each phase of the run.
class statistics_by_phase {
public:
    explicit statistics_by_phase(const sim::simulation& of) : of_(of) {}

    /// What was counted since the last time belongs to `phase`.
    void end(run_phase phase, sim::picoseconds now);
    /// After the last one: all statistics by name, of that phase and of the whole run.
    json rows(run_phase measured) const;

private:
    using tallies = std::map<std::string, sim::tally>;

    const sim::simulation& of_;
    by_phase<tallies> counted_;
    by_phase<sim::picoseconds> length_;
    tallies all_;  ///< so far
    sim::picoseconds now_ = 0;
};

/// What the statistics of a simulation were at several instants: rows for those that changed since the last.
class statistics_series {
public:
    explicit statistics_series(const sim::simulation& of) : of_(of) {}

    void add(sim::picoseconds now);
    const json& rows() const { return rows_; }

private:
    const sim::simulation& of_;
    std::map<std::string, json> before_;
    sim::picoseconds begin_ = 0;
    json rows_ = json::array();
};

/// The parameters whose names match, as rows, by name.
json parameters_of(sim::simulation& of, const std::string& pattern);

}  // namespace vinic::testbench
