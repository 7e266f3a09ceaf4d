// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "testbench/report/table.h"
#include "testbench/study/number.h"

namespace vinic::testbench::study {

namespace {

/// Half the width of the bars.
constexpr int half_width = 16;

/// Means over seeds: of a parameter (none: the design as it is), a value and a row of the results.
class means {
public:
    means(const study_table& table, std::size_t metric) {
        for (const auto& line : table.lines) {
            if (line.status != "done" || line.metrics[metric].is_null()) continue;
            json row = json::object();
            for (std::size_t i = 0; i < table.keys.size(); ++i)
                if (!line.keys[i].is_null()) row[table.keys[i]] = line.keys[i];
            mean& of = all_[{line.axes[0], line.axes[1], row.dump()}];
            of.sum += line.metrics[metric].get<double>();
            of.points.push_back(line.point);
            if (line.axes[0].empty() && of.points.size() == 1) rows_.push_back(std::move(row));
        }
    }
    /// Of the design as it is.
    const std::vector<json>& rows() const { return rows_; }
    std::optional<effect::change> find(const std::string& parameter, const std::string& value,
                                       const json& row) const {
        const auto found = all_.find({parameter, value, row.dump()});
        if (found == all_.end()) return std::nullopt;
        const mean& of = found->second;
        return effect::change{value, of.sum / static_cast<double>(of.points.size()), of.points};
    }

private:
    struct mean {
        double sum = 0;
        std::vector<std::size_t> points;
    };
    std::map<std::array<std::string, 3>, mean> all_;
    std::vector<json> rows_;
};

std::optional<double> elasticity_of(const effect& of, double base) {
    const auto is = number(of.parameter.value);
    std::vector<std::pair<double, double>> at{{is.value_or(0), base}};
    for (const auto& change : of.changes)
        if (const auto value = number(change.value)) at.emplace_back(*value, change.metric);
    const auto [least, most] = std::ranges::minmax(at);
    if (!is || *is == 0 || base == 0 || least.first == most.first) return std::nullopt;
    return (most.second - least.second) / base / ((most.first - least.first) / *is);
}

effects of_row(const means& from, const perturbations& changes, const std::string& metric, const json& row) {
    effects all{.metric = metric, .row = row, .base = from.find("", "", row)->metric};
    for (const auto& p : changes.parameters) {
        effect one{.parameter = p};
        double least = all.base, most = all.base;
        for (const auto& value : p.values)
            if (auto change = from.find(p.name, value, row)) {
                least = std::min(least, change->metric);
                most = std::max(most, change->metric);
                one.changes.push_back(std::move(*change));
            }
        if (one.changes.empty()) continue;
        if (least == most) {
            all.none.push_back(p.name);
            continue;
        }
        one.swing = most - least;
        one.percent = all.base == 0 ? 0 : 100 * one.swing / std::abs(all.base);
        one.elasticity = elasticity_of(one, all.base);
        (p.by_share ? all.by_share : all.others).push_back(std::move(one));
    }
    for (auto* list : {&all.by_share, &all.others})
        std::ranges::stable_sort(*list, std::ranges::greater(), &effect::swing);
    return all;
}

std::string shown(double value) { return fmt::format("{:.5g}", value); }

/// "  ----|++++" with the design's metric in the middle.
std::string bar_of(const effect& of, double base, double longest) {
    std::string bar(2 * half_width + 1, ' ');
    bar[half_width] = '|';
    const auto is = number(of.parameter.value);
    for (const auto& change : of.changes) {
        const auto value = number(change.value);
        const char mark = !is || !value ? '*' : *value < *is ? '-' : '+';
        const int length =
            static_cast<int>(std::lround((change.metric - base) / longest * static_cast<double>(half_width)));
        for (int i = 1; i <= std::abs(length); ++i)
            bar[static_cast<std::size_t>(half_width + (length < 0 ? -i : i))] = mark;
    }
    bar.erase(bar.find_last_not_of(' ') + 1);
    return bar;
}

std::string table_of(const std::vector<effect>& all, const effects& of, bool colours) {
    double longest = 0;
    for (const auto& one : all)
        for (const auto& change : one.changes) longest = std::max(longest, std::abs(change.metric - of.base));
    std::vector<std::vector<std::string>> rows;
    for (const auto& one : all) {
        std::vector<std::string> tried, gave;
        for (const auto& change : one.changes) {
            tried.push_back(change.value);
            gave.push_back(shown(change.metric));
        }
        rows.push_back({one.parameter.name, one.parameter.value, fmt::format("{}", fmt::join(tried, " / ")),
                        one.parameter.unit, fmt::format("{}", fmt::join(gave, " / ")),
                        fmt::format("{:.2f}", one.percent),
                        one.elasticity ? fmt::format("{:+.3f}", *one.elasticity) : "",
                        bar_of(one, of.base, longest)});
    }
    return table({"parameter", "is", "tried", "unit", heading(of.metric), "effect (%)", "elasticity",
                  std::string(half_width - 4, ' ') + "less | more"},
                 rows, colours);
}

}  // namespace

std::vector<effects> effects_of(const study_table& table, const perturbations& changes) {
    std::vector<effects> all;
    for (std::size_t metric = 0; metric < table.metrics.size(); ++metric) {
        const means from(table, metric);
        for (const json& row : from.rows()) all.push_back(of_row(from, changes, table.metrics[metric], row));
    }
    return all;
}

json apart(const perturbations& changes, const study_table& table) {
    json failures = json::array(), not_changed = json::object();
    for (const auto& line : table.lines)
        if (line.status != "done" && !line.status.empty())
            failures.push_back({{"point", line.point},
                                {"parameter", line.axes[0]},
                                {"value", line.axes[1]},
                                {"status", line.status}});
    for (const auto& [name, why] : changes.left_out) not_changed[name] = why;
    return {{"failures", failures}, {"not_changed", not_changed}};
}

json to_json(const effects& of) {
    const auto list = [](const std::vector<effect>& from) {
        json rows = json::array();
        for (const auto& one : from) {
            json row{{"parameter", one.parameter.name},
                     {"unit", one.parameter.unit},
                     {"value", one.parameter.value},
                     {"swing", one.swing},
                     {"effect_percent", one.percent},
                     {"elasticity", one.elasticity ? json(*one.elasticity) : json()},
                     {"changes", json::array()}};
            for (const auto& change : one.changes)
                row["changes"].push_back(
                    {{"value", change.value}, {"metric", change.metric}, {"points", change.points}});
            rows.push_back(std::move(row));
        }
        return rows;
    };
    return {{"metric", of.metric},       {"row", of.row},
            {"value", of.base},          {"by_share", list(of.by_share)},
            {"others", list(of.others)}, {"without_effect", of.none}};
}

std::string to_text(const effects& of, double change_percent, bool colours) {
    std::string row;
    for (const auto& [name, value] : of.row.items())
        row += fmt::format(", {} {}", heading(name), text_of(value));
    std::string text = fmt::format("{}{}: {} as the design is\n", heading(of.metric), row, shown(of.base));
    if (!of.by_share.empty())
        text += fmt::format("\nNumbers, each {:g} % lower and higher (or as `ranges` says):\n{}",
                            change_percent, table_of(of.by_share, of, colours));
    if (!of.others.empty())
        text += fmt::format("\nThe nearest other values, where {:g} % are none:\n{}", change_percent,
                            table_of(of.others, of, colours));
    return text + fmt::format("\nWithout effect: {}\n",
                              of.none.empty() ? "none" : fmt::format("{}", fmt::join(of.none, ", ")));
}

}  // namespace vinic::testbench::study
