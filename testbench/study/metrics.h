// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "testbench/platform/design.h"
#include "testbench/report/json.h"

namespace vinic::testbench::study {

inline const std::string statistic_prefix = "statistics.";
inline const std::string account_prefix = "account.";
inline constexpr std::array account_kinds{"last", "mean", "median", "p99", "maximum"};

/// A number that a point gave. `row`: what it is of, as {"size_bytes": 8}; {} for what belongs to the whole
/// point. Times of the account are in picoseconds and their names say so: account.STAGE.median_ps;
/// those of work that overlaps, which belongs to no sum, begin with account.beside.
struct metric {
    std::size_t row = 0;  ///< rows stand in the order in which they were given
    json key = json::object();
    std::string name;
    double value = 0;
};

/// "account.STAGE.KIND" -> STAGE (a pattern) and the key in the account, as "median_ps".
std::optional<std::pair<std::string, std::string>> account_metric(const std::string& name);

/// "account.STAGE.median_ps" -> STAGE, where that is on the way of the message.
std::optional<std::string> stage_of(const std::string& metric);

/// Whether a name of the model is meant by a metric: it is equal, or a pattern with * and ? fits.
bool metric_matches(const std::string& wanted, const std::string& name);

/// What a study keeps of a result of `vinic run --json`: all columns of its rows, and the statistics and
/// stages of the account that `wanted` names.
std::vector<metric> metrics_of(const json& result, const std::vector<located>& wanted);

}  // namespace vinic::testbench::study
