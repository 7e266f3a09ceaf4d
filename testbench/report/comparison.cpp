// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hw/sim/error.h"
#include "testbench/report/sha256.h"
#include "testbench/report/table.h"

namespace vinic::testbench {

namespace {

std::string name_of_row(const json& row) {
    std::string name;
    for (const auto& [key, value] : row.items()) {
        if (is_measured(key, value)) continue;
        if (!name.empty()) name += ' ';
        name += key + "=" + cell(value);
    }
    return name;
}

/// Rows by name; a name that comes again is numbered.
std::vector<std::pair<std::string, json>> named_rows(const json& rows) {
    std::map<std::string, unsigned> seen;
    std::vector<std::pair<std::string, json>> named;
    for (const auto& row : rows) {
        std::string name = name_of_row(row);
        if (const unsigned n = ++seen[name]; n > 1) name += fmt::format(" #{}", n);
        named.emplace_back(name, row);
    }
    return named;
}

std::optional<double> ratio_of(const json& before, const json& after) {
    if (!before.is_number() || !after.is_number()) return {};
    const double a = before.get<double>();
    const double b = after.get<double>();
    if (a == b) return 1.0;
    if (a == 0) return {};
    return b / a;
}

}  // namespace

bool is_measured(const std::string& key, const json& value) {
    static const std::vector<std::string> endings{"_ps", "_ns",      "_us",  "_ms",
                                                  "_s",  "_percent", "_ppm", "_clocks"};
    if (value.is_number_float()) return true;
    return value.is_number() && std::any_of(endings.begin(), endings.end(),
                                            [&](const std::string& ending) { return key.ends_with(ending); });
}

json comparison::read_result(const std::string& file) {
    const json result = json::parse(read_file(file), nullptr, false);
    if (result.is_discarded() || !result.is_object() || !result.contains("format") ||
        !result.contains("results"))
        throw sim::input_error("{}: no result of vinic (expected JSON from `vinic run --json`)", file);
    for (const auto& row : result["results"])
        if (!row.is_object()) throw sim::input_error("{}: results: expected rows with keys", file);
    return result;
}

comparison::comparison(const json& before, const json& after) {
    designs_ = {before.value("design", json()), after.value("design", json())};
    parameters_ = json::object();
    const json a = before.value("parameters", json::object());
    const json b = after.value("parameters", json::object());
    for (const json* side : {&a, &b})
        for (const auto& [name, value] : side->items())
            if (a.value(name, json()) != b.value(name, json()))
                parameters_[name] = {a.value(name, json()), b.value(name, json())};
    compare_rows(before["results"], after["results"]);
}

void comparison::compare_rows(const json& before, const json& after) {
    const auto add = [&](const std::string& row, const json& a, const json& b) {
        std::vector<std::string> keys;
        for (const json* side : {&a, &b})
            for (const auto& [key, value] : side->items())
                if (is_measured(key, value) && std::find(keys.begin(), keys.end(), key) == keys.end())
                    keys.push_back(key);
        for (const auto& key : keys) {
            const json x = a.value(key, json());
            const json y = b.value(key, json());
            lines_.push_back({row, key, x, y, ratio_of(x, y)});
        }
        if (keys.empty() && a.empty() != b.empty())
            lines_.push_back(
                {row, "row", a.empty() ? json() : json("present"), b.empty() ? json() : json("present"), {}});
    };
    auto later = named_rows(after);
    for (const auto& [name, row] : named_rows(before)) {
        const auto match = std::find_if(later.begin(), later.end(),
                                        [&, &wanted = name](const auto& l) { return l.first == wanted; });
        add(name, row, match == later.end() ? json::object() : match->second);
        if (match != later.end()) later.erase(match);
    }
    for (const auto& [name, row] : later) add(name, json::object(), row);
}

bool comparison::beyond(double tolerance_percent) const {
    return std::any_of(lines_.begin(), lines_.end(), [&](const line& l) {
        if (l.before == l.after) return false;
        return !l.ratio || std::abs(*l.ratio - 1) * 100 > tolerance_percent;
    });
}

json comparison::to_json() const {
    json rows = json::array();
    for (const auto& l : lines_)
        rows.push_back({{"row", l.row},
                        {"what", l.what},
                        {"before", l.before},
                        {"after", l.after},
                        {"ratio", l.ratio ? json(*l.ratio) : json()}});
    return {{"format", "vinic comparison 1"},
            {"designs", designs_},
            {"parameters", parameters_},
            {"results", rows}};
}

std::string comparison::to_text(bool colours) const {
    std::string text;
    if (designs_[0] != designs_[1])
        text += fmt::format("design: {} -> {}\n", cell(designs_[0]), cell(designs_[1]));
    for (const auto& [name, values] : parameters_.items()) {
        const auto shown = [](const json& v) { return v.is_null() ? std::string("(design's)") : cell(v); };
        text += fmt::format("{}: {} -> {}\n", name, shown(values[0]), shown(values[1]));
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& l : lines_)
        rows.push_back({l.row, heading(l.what), cell(l.before), cell(l.after),
                        l.ratio ? fmt::format("{:.4f}", *l.ratio) : std::string()});
    return text + table({"row", "what", "before", "after", "ratio"}, rows, colours);
}

}  // namespace vinic::testbench
