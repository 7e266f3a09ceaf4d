// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/metrics.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "testbench/report/comparison.h"

namespace vinic::testbench::study {

namespace {

/// Of stages that overlap with others.
const std::string beside_prefix = "beside.";

void add_results(std::vector<metric>& to, const json& rows) {
    std::size_t number = 0;
    for (const json& row : rows) {
        ++number;
        json key = json::object();
        for (const auto& [name, value] : row.items())
            if (!is_measured(name, value)) key[name] = value;
        for (const auto& [name, value] : row.items())
            if (is_measured(name, value)) to.push_back({number, key, name, value.get<double>()});
    }
}

void add_statistics(std::vector<metric>& to, const json& rows, const std::string& wanted) {
    for (const json& row : rows) {
        const std::string name = row["statistic"];
        if (metric_matches(wanted, name))
            to.push_back({0, json::object(), statistic_prefix + name, row["value"].get<double>()});
    }
}

void add_account(std::vector<metric>& to, const json& sizes, const std::string& wanted) {
    const auto [stage, key] = *account_metric(wanted);
    std::size_t number = 0;
    for (const json& of : sizes) {
        ++number;
        for (const auto& [part, prefix] :
             {std::pair<const char*, std::string>{"stages", ""}, {"beside", beside_prefix}})
            for (const json& row : of[part]) {
                const std::string name = prefix + row["stage"].get<std::string>();
                if (metric_matches(stage, name))
                    to.push_back({number,
                                  {{"size_bytes", of["size_bytes"]}},
                                  account_prefix + name + "." + key,
                                  row[key].get<double>()});
            }
    }
}

}  // namespace

std::optional<std::pair<std::string, std::string>> account_metric(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    if (!name.starts_with(account_prefix) || dot <= account_prefix.size()) return std::nullopt;
    const std::string kind = name.substr(dot + 1);
    if (std::ranges::find(account_kinds, kind) == account_kinds.end()) return std::nullopt;
    return std::pair{name.substr(account_prefix.size(), dot - account_prefix.size()), kind + "_ps"};
}

std::optional<std::string> stage_of(const std::string& metric) {
    const std::size_t dot = metric.rfind('.');
    if (!metric.starts_with(account_prefix) || metric.starts_with(account_prefix + beside_prefix))
        return std::nullopt;
    return metric.substr(account_prefix.size(), dot - account_prefix.size());
}

bool metric_matches(const std::string& wanted, const std::string& name) {
    return wanted == name || ::fnmatch(wanted.c_str(), name.c_str(), 0) == 0;
}

std::vector<metric> metrics_of(const json& result, const std::vector<located>& wanted) {
    std::vector<metric> all;
    add_results(all, result["results"]);
    for (const located& one : wanted) {
        if (one.text.starts_with(statistic_prefix) && result.contains("statistics"))
            add_statistics(all, result["statistics"], one.text.substr(statistic_prefix.size()));
        if (one.text.starts_with(account_prefix) && result.contains("account"))
            add_account(all, result["account"], one.text);
    }
    return all;
}

}  // namespace vinic::testbench::study
