// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "hw/sim/error.h"
#include "testbench/report/table.h"

namespace vinic::testbench::study {

namespace {

constexpr int width = 72;
constexpr int height = 20;
constexpr double log_span = 16;
constexpr std::string_view marks = "o+x*#@%&ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Everything that may be an x, as texts: axes, then keys.
struct columns {
    explicit columns(const study_table& table) : table_(table) {
        names = table.axes;
        names.insert(names.end(), table.keys.begin(), table.keys.end());
    }
    std::string text(const study_table::line& line, std::size_t column) const {
        if (column < table_.axes.size()) return line.axes[column];
        return cell(line.keys[column - table_.axes.size()]);
    }
    std::set<std::string> values(std::size_t column) const {
        std::set<std::string> all;
        for (const auto& line : table_.lines) all.insert(text(line, column));
        all.erase("");
        return all;
    }
    std::vector<std::string> names;

private:
    const study_table& table_;
};

std::optional<double> number(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::size_t place(const std::vector<std::string>& names, const std::string& name, const char* what) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    const std::string near = sim::nearest_name(name, names);
    throw sim::input_error("no {} is named '{}'; {}", what, name,
                           near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                        : fmt::format("did you mean '{}'?", near));
}

/// The column with the most numbers; the number of columns when there is none.
std::size_t best_x(const columns& of) {
    std::size_t best = of.names.size(), most = 1;
    for (std::size_t column = 0; column < of.names.size(); ++column) {
        const auto values = of.values(column);
        const bool numbers = std::ranges::all_of(values, [](const auto& v) { return number(v).has_value(); });
        if (!numbers || of.names[column] == "seed" || values.size() <= most) continue;
        best = column;
        most = values.size();
    }
    return best;
}

/// Whether a column follows from x, as axes that advance together do.
bool follows(const columns& of, const study_table& table, std::size_t column, std::size_t x) {
    std::map<std::string, std::string> seen;
    return std::ranges::all_of(table.lines, [&](const study_table::line& line) {
        const std::string value = of.text(line, column);
        return value.empty() || seen.try_emplace(of.text(line, x), value).first->second == value;
    });
}

/// A range of values and where they fall among so many cells.
class scale {
public:
    scale(const std::vector<double>& values, int cells) : cells_(cells) {
        const auto [low, high] = std::ranges::minmax(values);
        low_ = low;
        high_ = high;
        log_ = low > 0 && high / low > log_span;
    }
    int cell_of(double value) const {
        if (high_ == low_) return 0;
        const double share =
            log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
        return static_cast<int>(std::lround(share * (cells_ - 1)));
    }
    std::string low() const { return fmt::format("{:.5g}", low_); }
    std::string high() const { return fmt::format("{:.5g}", high_); }
    const char* name() const { return log_ ? ", logarithmic" : ""; }

private:
    int cells_;
    double low_, high_;
    bool log_;
};

}  // namespace

curves curves_of(const study_table& table, std::string x, std::string y) {
    const columns from(table);
    const std::size_t x_column = x.empty() ? best_x(from) : place(from.names, x, "axis");
    if (table.metrics.empty() || x_column == from.names.size()) return {};
    const std::size_t y_column = y.empty() ? 0 : place(table.metrics, y, "metric");
    curves found{.x = from.names[x_column], .y = table.metrics[y_column]};

    std::vector<std::size_t> family;
    for (std::size_t column = 0; column < from.names.size(); ++column)
        if (from.names[column] != "seed" && !follows(from, table, column, x_column)) family.push_back(column);
    std::vector<std::string> order;
    std::map<std::string, std::map<double, std::pair<double, int>>> sums;
    for (const auto& line : table.lines) {
        const auto at = number(from.text(line, x_column));
        if (!at || line.metrics[y_column].is_null()) continue;
        std::string name;
        for (const std::size_t column : family)
            name += (name.empty() ? "" : " ") + from.names[column] + "=" + from.text(line, column);
        if (!sums.contains(name)) order.push_back(name);
        auto& [sum, count] = sums[name][*at];
        sum += line.metrics[y_column].get<double>();
        ++count;
    }
    for (const auto& name : order) {
        auto& one = found.all.emplace_back(curves::curve{.family = name});
        for (const auto& [at, sum] : sums[name]) one.points.emplace_back(at, sum.first / sum.second);
    }
    return found;
}

std::string text_plot(const curves& of) {
    std::vector<double> xs, ys;
    for (const auto& one : of.all)
        for (const auto& [x, y] : one.points) {
            xs.push_back(x);
            ys.push_back(y);
        }
    if (xs.empty()) return "";
    const scale across(xs, width), up(ys, height);
    std::vector<std::string> grid(height, std::string(width, ' '));
    for (std::size_t i = of.all.size(); i-- > 0;)
        for (const auto& [x, y] : of.all[i].points)
            grid[static_cast<std::size_t>(height - 1 - up.cell_of(y))]
                [static_cast<std::size_t>(across.cell_of(x))] = marks[i % marks.size()];
    const std::size_t margin = std::max(up.low().size(), up.high().size());
    std::string text = fmt::format("{}{}\n", heading(of.y), up.name());
    for (int row = 0; row < height; ++row) {
        const std::string label = row == 0 ? up.high() : row == height - 1 ? up.low() : "";
        std::string line = fmt::format("{:>{}} |{}", label, margin, grid[static_cast<std::size_t>(row)]);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    text += fmt::format("{:>{}} +{}\n", "", margin, std::string(width, '-'));
    const std::string right = across.high();
    text += fmt::format("{:>{}}  {:<{}}{}\n", "", margin, across.low(), width - right.size(), right);
    text += fmt::format("{:>{}}  {}{}\n", "", margin, heading(of.x), across.name());
    const std::size_t named = of.all.size() > 1 ? std::min(of.all.size(), marks.size()) : 0;
    for (std::size_t i = 0; i < named; ++i) text += fmt::format("  {} {}\n", marks[i], of.all[i].family);
    if (named < of.all.size() && named != 0)
        text += fmt::format("  ... and {} curves more: `study report` draws those that you choose\n",
                            of.all.size() - named);
    return text;
}

}  // namespace vinic::testbench::study
