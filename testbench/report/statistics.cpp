// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/statistics.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "hw/sim/card_name.h"
#include "hw/sim/configuration.h"
#include "hw/sim/statistic.h"
#include "hw/sim/time.h"
#include "testbench/report/table.h"

namespace vinic::testbench {

namespace {

struct number {
    std::string name;
    json value;
    std::string unit;
};

/// What a statistic prints of a stretch of the run. Of a distribution the count has a unit of its own, and
/// the mean three decimals.
std::vector<number> numbers_of(const sim::statistic& of, const sim::tally& counted, sim::picoseconds length) {
    std::vector<number> all;
    for (const auto& [suffix, value] : of.numbers(counted, length)) {
        number one{of.name() + suffix, value, of.unit()};
        if (suffix == ".count") one.unit = "samples";
        if (suffix == ".mean" && counted.samples.count() != 0) {
            const double mean =
                static_cast<double>(counted.samples.sum()) / static_cast<double>(counted.samples.count());
            one.value = std::round(mean * 1000) / 1000;
        }
        all.push_back(std::move(one));
    }
    return all;
}

json difference(const json& after, const json& before) {
    if (after.is_number_integer() && before.is_number_integer())
        return static_cast<std::int64_t>(after.get<std::uint64_t>() - before.get<std::uint64_t>());
    return std::round((after.get<double>() - before.get<double>()) * 1000) / 1000;
}

}  // namespace

bool matches(const std::string& name, const std::string& pattern) {
    if (pattern.find_first_of("*?") == std::string::npos) return name.find(pattern) != std::string::npos;
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
           ::fnmatch(pattern.c_str(), std::string(sim::without_node(name)).c_str(), 0) == 0 ||
           ::fnmatch(pattern.c_str(), sim::without_card(name).c_str(), 0) == 0;
}

json statistics_of(const sim::simulation& of, const std::string& pattern) {
    json rows = json::array();
    for (const auto& [name, statistic] : of.statistics())
        if (matches(name, pattern))
            rows.push_back({{"statistic", name}, {"unit", statistic->unit()}, {"help", statistic->help()}});
    return rows;
}

void statistics_by_phase::end(run_phase phase, sim::picoseconds now) {
    for (const auto& [name, statistic] : of_.statistics()) {
        sim::tally& before = all_[name];
        sim::tally after = statistic->counted(now);
        sim::tally since = after;
        since -= before;
        counted_[phase][name] += since;
        before = std::move(after);
    }
    length_[phase] += now - now_;
    now_ = now;
}

json statistics_by_phase::rows(run_phase measured) const {
    json rows = json::array();
    for (const auto& [name, statistic] : of_.statistics()) {
        const auto part = numbers_of(*statistic, counted_[measured].at(name), length_[measured]);
        const auto whole = numbers_of(*statistic, all_.at(name), now_);
        for (std::size_t i = 0; i < part.size(); ++i)
            rows.push_back({{"statistic", part[i].name},
                            {"value", part[i].value},
                            {"whole_run", whole[i].value},
                            {"unit", part[i].unit}});
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
        for (number& n : numbers_of(*statistic, statistic->counted(now), now)) {
            json& before = before_.try_emplace(n.name, 0u).first->second;
            if (n.value == before) continue;
            rows_.push_back({{"begin_ps", begin_},
                             {"end_ps", now},
                             {"statistic", n.name},
                             {"value", n.value},
                             {"change", difference(n.value, before)},
                             {"unit", n.unit}});
            before = std::move(n.value);
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
