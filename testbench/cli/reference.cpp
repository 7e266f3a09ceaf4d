// SPDX-License-Identifier: Apache-2.0
// The verbs that print what the modules declare: params and stats.
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "hw/sim/card_name.h"
#include "hw/sim/configuration.h"
#include "hw/sim/error.h"
#include "testbench/cli/output.h"
#include "testbench/cli/verbs.h"
#include "testbench/platform/setup.h"
#include "testbench/report/statistics.h"
#include "testbench/report/table.h"

namespace vinic::testbench {

namespace {

using to_text = std::string (*)(const json& rows);

void write(const result_options& options, const char* format, const std::string& design, const char* key,
           const json& rows, to_text text_of) {
    output to(options.json.empty() ? "-" : options.json);
    to.commit(options.json.empty() ? text_of(rows)
                                   : json_text({{"format", format}, {"design", design}, {key, rows}}));
}

/// What is the same on every node, and for every card, stands there once, without node and card: that is how
/// users set it, too.
json without_repetition(const json& rows, const std::string& name_key) {
    const auto common = [&](const json& row) {
        json without = row;
        without[name_key] = sim::without_card(row[name_key].get<std::string>());
        return without;
    };
    std::map<std::string, std::vector<json>> alike;
    for (const auto& row : rows) alike[common(row)[name_key].get<std::string>()].push_back(common(row));
    json shorter = json::array();
    std::set<std::string> done;
    for (const auto& row : rows) {
        const json short_row = common(row);
        const auto& all = alike[short_row[name_key].get<std::string>()];
        const bool one =
            all.size() > 1 && std::ranges::all_of(all, [&](const json& r) { return r == all.front(); });
        if (!one)
            shorter.push_back(row);
        else if (done.insert(short_row[name_key].get<std::string>()).second)
            shorter.push_back(short_row);
    }
    return shorter;
}

std::string statistics_text(const json& rows) {
    return table_of_rows(without_repetition(rows, "statistic"), is_terminal(STDOUT_FILENO));
}

/// Three lines each: what it is, what it is for, where it comes from.
std::string parameters_text(const json& rows) {
    const bool colours = is_terminal(STDOUT_FILENO);
    std::string text;
    for (const auto& row : without_repetition(rows, "parameter")) {
        const auto get = [&](const char* key) { return row[key].get<std::string>(); };
        const std::string unit = get("unit").empty() ? "" : " " + get("unit");
        text += fmt::format("{}{}{} = {}{}\n", colours ? "\x1b[1m" : "", get("parameter"),
                            colours ? "\x1b[0m" : "", get("value"), unit);
        text += fmt::format("    {}; {}: {}, default {}\n", get("help"), get("type"), get("range"),
                            get("default"));
        text += fmt::format("    source: {}{}\n", get("source"),
                            get("origin").empty() ? "" : "; set by " + get("origin"));
    }
    return text;
}

[[noreturn]] void nothing_matches(const char* what, const std::string& pattern) {
    throw sim::input_error("no {} matches '{}'", what, pattern);
}

}  // namespace

status list_parameters(const params_options& options) {
    const design on = design_of(options);
    platform built(on, firmware_of(on), mode_of(options));
    const json rows = parameters_of(built.simulation(), options.pattern);
    if (rows.empty()) nothing_matches("parameter", options.pattern);
    write(options, "vinic parameters 1", on.name, "parameters", rows, parameters_text);
    return status::done;
}

status list_statistics(const stats_options& options) {
    const design on = design_of(options);
    platform built(on, firmware_of(on), mode_of(options));
    const json rows = statistics_of(built.simulation(), options.pattern);
    if (rows.empty()) nothing_matches("statistic", options.pattern);
    write(options, "vinic statistics 1", on.name, "statistics", rows, statistics_text);
    return status::done;
}

}  // namespace vinic::testbench
