// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/goal.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "hw/sim/error.h"
#include "testbench/report/table.h"
#include "testbench/study/number.h"

namespace vinic::testbench::study {

namespace {

std::string shown(const json& key) {
    std::string text;
    for (const auto& [name, value] : key.items())
        text += (text.empty() ? "" : " ") + name + "=" + text_of(value);
    return text;
}

}  // namespace

goal::goal(const goal_text& from, const space& in) : text_(from.text), maximise_(from.maximise) {
    std::istringstream words(text_.text);
    words >> metric_;
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            throw sim::input_error("{}: '{}': expected a metric and its row, as in `latency_us size_bytes=8`",
                                   text_.origin, text_.text);
        row_.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
    if (const auto stage = account_metric(metric_))
        metric_ = account_prefix + stage->first + "." + stage->second;
    const auto at = std::ranges::find(in.names(), metric_);
    if (at == in.names().end()) return;
    column_ = static_cast<std::size_t>(at - in.names().begin());
    if (!in.has_numbers(*column_))
        throw sim::input_error("{}: {}: this axis has values that are no numbers", text_.origin, metric_);
}

std::string goal::heading() const {
    std::string text = testbench::heading(metric_);
    for (const auto& [name, value] : row_) text += ", " + testbench::heading(name) + " " + value;
    return text;
}

bool goal::is_of(const study::metric& m) const {
    return m.name == metric_ && std::ranges::all_of(row_, [&](const auto& key) {
               return m.key.contains(key.first) && text_of(m.key[key.first]) == key.second;
           });
}

std::optional<double> goal::value(const point& at, const point_record& of) const {
    if (of.status != "done") return std::nullopt;
    if (column_) return number(at[*column_].text);
    const study::metric* found = nullptr;
    for (const study::metric& m : of.metrics) {
        if (!is_of(m)) continue;
        if (found)
            throw sim::input_error(
                "{}: '{}' is in several rows of the results ({}; {}); say which, as in `{} {}`", text_.origin,
                text_.text, shown(found->key), shown(m.key), metric_, shown(m.key));
        found = &m;
    }
    return found ? std::optional(found->value) : std::nullopt;
}

void goal::check(const std::vector<const point_record*>& of) const {
    std::set<std::string> names;
    if (column_) return;
    for (const point_record* r : of)
        for (const study::metric& m : r->metrics) {
            if (is_of(m)) return;
            names.insert(m.name == metric_ ? m.name + " " + shown(m.key) : m.name);
        }
    if (names.empty()) return;
    const std::string near = sim::nearest_name(text_.text, names);
    throw sim::input_error("{}: no result has '{}'; {}", text_.origin, text_.text,
                           near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                        : fmt::format("did you mean '{}'?", near));
}

}  // namespace vinic::testbench::study
