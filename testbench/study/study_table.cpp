// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/study_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "hw/sim/error.h"

namespace vinic::testbench::study {

namespace {

bool is_of_result(const std::string& metric) {
    return !metric.starts_with(statistic_prefix) && !metric.starts_with(account_prefix);
}

/// Whether a metric that a study names means this one.
bool means(const std::string& wanted, const std::string& name) {
    if (is_of_result(wanted)) return wanted == name;
    if (wanted.starts_with(statistic_prefix)) return metric_matches(wanted, name);
    const auto stage = account_metric(wanted);
    return stage && name.ends_with("." + stage->second) &&
           metric_matches(account_prefix + stage->first, name.substr(0, name.rfind('.')));
}

void note(std::vector<std::string>& to, const std::string& name) {
    if (std::ranges::find(to, name) == to.end()) to.push_back(name);
}

bool contained(const json& part, const json& whole) {
    for (const auto& [name, value] : part.items())
        if (!whole.contains(name) || whole[name] != value) return false;
    return true;
}

/// One row of a point with the metrics of it.
struct row {
    std::size_t number;
    json key;
    std::map<std::string, double> values;
};

/// Statistics and stages of the account join the rows of results that they are of.
std::vector<row> rows_of(const point_record& p) {
    std::vector<row> rows;
    for (const auto& m : p.metrics) {
        if (!is_of_result(m.name)) continue;
        if (rows.empty() || rows.back().number != m.row) rows.push_back({m.row, m.key, {}});
        rows.back().values[m.name] = m.value;
    }
    const std::size_t results = rows.size();
    for (const auto& m : p.metrics) {
        if (is_of_result(m.name)) continue;
        bool joined = false;
        for (std::size_t i = 0; i < results; ++i)
            if (contained(m.key, rows[i].key)) {
                rows[i].values[m.name] = m.value;
                joined = true;
            }
        if (joined) continue;
        auto own = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(results), rows.end(),
                                [&](const row& r) { return r.key == m.key; });
        if (own == rows.end()) own = rows.insert(rows.end(), {m.row, m.key, {}});
        own->values[m.name] = m.value;
    }
    return rows;
}

std::vector<std::string> metrics_kept(const plan& of, const std::vector<const point_record*>& points) {
    std::vector<std::string> seen;
    std::set<std::string> known;
    for (const point_record* p : points)
        for (const auto& m : p ? p->metrics : std::vector<metric>{})
            if (known.insert(m.name).second) seen.push_back(m.name);
    const auto& wanted = of.study().metrics;
    std::vector<std::string> kept;
    for (const auto& one : wanted)
        for (const auto& name : seen)
            if (means(one.text, name)) note(kept, name);
    const bool all_results =
        std::ranges::none_of(wanted, [](const located& one) { return is_of_result(one.text); });
    if (all_results)
        for (const auto& name : seen)
            if (is_of_result(name)) note(kept, name);
    return kept;
}

std::vector<const point_record*> in_order(const plan& of, const std::vector<point_record>& records) {
    std::unordered_map<std::string, const point_record*> by_key;
    for (const auto& r : records) by_key[r.key] = &r;
    std::vector<const point_record*> points;
    for (std::size_t i = 0; i < of.points().points.size(); ++i) {
        const auto found = by_key.find(of.at(i).key);
        points.push_back(found == by_key.end() ? nullptr : found->second);
    }
    return points;
}

std::string csv_cell(const json& value) {
    if (value.is_null()) return "";
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

}  // namespace

study_table tabulate(const plan& of, const std::vector<point_record>& records) {
    const auto points = in_order(of, records);
    study_table table{.axes = of.points().names, .metrics = metrics_kept(of, points)};
    for (const point_record* p : points)
        for (const auto& m : p ? p->metrics : std::vector<metric>{})
            for (const auto& [name, value] : m.key.items()) note(table.keys, name);
    for (std::size_t i = 0; i < points.size(); ++i) {
        study_table::line line{.point = i + 1, .status = points[i] ? points[i]->status : ""};
        for (const auto& value : of.points().points[i]) line.axes.push_back(value.text);
        std::vector<row> rows;
        if (points[i]) rows = rows_of(*points[i]);
        if (rows.empty()) rows.push_back({0, json::object(), {}});
        for (const row& r : rows) {
            study_table::line one = line;
            for (const auto& key : table.keys) one.keys.push_back(r.key.contains(key) ? r.key[key] : json());
            for (const auto& name : table.metrics) {
                const auto value = r.values.find(name);
                one.metrics.push_back(value == r.values.end() ? json() : json(value->second));
            }
            table.lines.push_back(std::move(one));
        }
    }
    return table;
}

std::vector<std::string> missing_metrics(const plan& of, const std::vector<point_record>& records) {
    std::set<std::string> seen;
    for (const auto& r : records)
        for (const auto& m : r.metrics) seen.insert(m.name);
    std::vector<std::string> lines;
    if (seen.empty()) return lines;
    for (const auto& one : of.study().metrics) {
        if (std::ranges::any_of(seen, [&](const auto& name) { return means(one.text, name); })) continue;
        const std::string near = sim::nearest_name(one.text, seen);
        lines.push_back(fmt::format("{}: no result has a metric '{}'{}", one.origin, one.text,
                                    near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
    }
    return lines;
}

json study_table::rows() const {
    json all = json::array();
    const bool failures = std::ranges::any_of(lines, [](const line& l) { return l.status != "done"; });
    for (const line& l : lines) {
        json row{{"point", l.point}};
        for (std::size_t i = 0; i < axes.size(); ++i) row[axes[i]] = l.axes[i];
        for (std::size_t i = 0; i < keys.size(); ++i) row[keys[i]] = l.keys[i];
        for (std::size_t i = 0; i < metrics.size(); ++i) row[metrics[i]] = l.metrics[i];
        if (failures) row["status"] = l.status.empty() ? "to do" : l.status;
        all.push_back(std::move(row));
    }
    return all;
}

std::string study_table::csv() const {
    std::string text = "point";
    for (const auto* names : {&axes, &keys, &metrics})
        for (const auto& name : *names) text += "," + csv_cell(name);
    text += ",status\n";
    for (const line& l : lines) {
        text += std::to_string(l.point);
        for (const auto& value : l.axes) text += "," + csv_cell(value);
        for (const auto* values : {&l.keys, &l.metrics})
            for (const auto& value : *values) text += "," + csv_cell(value);
        text += "," + (l.status.empty() ? "to do" : l.status) + "\n";
    }
    return text;
}

}  // namespace vinic::testbench::study
