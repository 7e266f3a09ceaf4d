// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/statistics.h"

#include <fnmatch.h>

#include <algorithm>

#include "hw/sim/configuration.h"
#include "hw/sim/statistic.h"
#include "hw/sim/time.h"
#include "testbench/report/table.h"

namespace vinic::testbench {

bool matches(const std::string& name, const std::string& pattern) {
    if (pattern.find_first_of("*?") == std::string::npos) return name.find(pattern) != std::string::npos;
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
           ::fnmatch(pattern.c_str(), std::string(sim::without_node(name)).c_str(), 0) == 0;
}

json statistics_of(const sim::simulation& of, const std::string& pattern, bool values) {
    json rows = json::array();
    for (const auto& [name, statistic] : of.statistics()) {
        if (!matches(name, pattern)) continue;
        if (!values) {
            rows.push_back({{"statistic", name}, {"unit", statistic->unit()}, {"help", statistic->help()}});
            continue;
        }
        for (const auto& [suffix, value] : statistic->values(sim::now()))
            rows.push_back({{"statistic", name + suffix}, {"value", value}, {"unit", statistic->unit()}});
    }
    return rows;
}

std::string statistics_text(const json& rows, const std::string& place) {
    if (place.ends_with(".json")) return json_text(rows);
    if (!place.ends_with(".csv")) return table_of_rows(rows);
    if (rows.empty()) return "";
    std::string text;
    for (const auto& [key, value] : rows.front().items()) text += (text.empty() ? "" : ",") + key;
    text += '\n';
    for (const json& row : rows) {
        bool first = true;
        for (const auto& [key, value] : row.items()) {
            text += (first ? "" : ",") + (value.is_string() ? value.get<std::string>() : value.dump());
            first = false;
        }
        text += '\n';
    }
    return text;
}

void statistics_series::add(sim::picoseconds now) {
    for (const auto& [name, statistic] : of_.statistics())
        for (const auto& [suffix, value] : statistic->values(now)) {
            std::uint64_t& before = before_[name + suffix];
            if (value == before) continue;
            rows_.push_back({{"begin_ps", begin_},
                             {"end_ps", now},
                             {"statistic", name + suffix},
                             {"value", value},
                             {"change", static_cast<std::int64_t>(value - before)},
                             {"unit", statistic->unit()}});
            before = value;
        }
    begin_ = now;
}

json parameters_of(sim::simulation& of, const std::string& pattern) {
    std::vector<sim::parameter_info> all = of.config().parameters();
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    json rows = json::array();
    for (const auto& p : all)
        if (matches(p.name, pattern))
            rows.push_back({{"parameter", p.name},
                            {"value", p.value_text},
                            {"unit", p.unit},
                            {"type", p.type},
                            {"default", p.default_text},
                            {"range", p.range},
                            {"help", p.help},
                            {"source", p.source},
                            {"origin", p.origin}});
    return rows;
}

}  // namespace vinic::testbench
