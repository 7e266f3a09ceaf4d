// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/run_report.h"

#include "testbench/report/table.h"

namespace vinic::testbench {

namespace {

double simulated_seconds(const run_cost& cost) { return static_cast<double>(cost.simulated) / 1e12; }

double per_second(std::uint64_t count, double seconds) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

json cost_to_json(const run_cost& cost, bool reproducible) {
    json object{{"messages", cost.messages},
                {"instructions", cost.instructions},
                {"simulated_s", simulated_seconds(cost)}};
    if (reproducible) return object;
    object.update({{"events", cost.delta_cycles},
                   {"instructions_executed", cost.instructions_executed},
                   {"startup_s", cost.startup_s},
                   {"wall_s", cost.wall_s},
                   {"cpu_s", cost.cpu_s},
                   {"peak_memory_bytes", cost.peak_memory_bytes},
                   {"events_per_s", per_second(cost.delta_cycles, cost.wall_s)},
                   {"instructions_per_s", per_second(cost.instructions, cost.wall_s)},
                   {"slowdown", cost.wall_s / simulated_seconds(cost)}});
    return object;
}

/// "12.3 M", with three digits that count.
std::string scaled(double value) {
    constexpr std::pair<double, const char*> units[] = {{1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
    for (const auto& [factor, name] : units)
        if (value >= factor) return fmt::format("{:.3g}{}", value / factor, name);
    return fmt::format("{:.3g} ", value);
}

std::string cost_to_text(const run_cost& cost, bool reproducible) {
    std::string text = fmt::format("cost: {:.6f} ms simulated, {} messages, {} instructions\n",
                                   simulated_seconds(cost) * 1e3, cost.messages, cost.instructions);
    if (reproducible) return text;
    return text + fmt::format(
                      "      {:.2f} s (start {:.2f} s), {}events/s, {}instructions/s, {:.0f} times slower "
                      "than real time\n",
                      cost.wall_s, cost.startup_s, scaled(per_second(cost.delta_cycles, cost.wall_s)),
                      scaled(per_second(cost.instructions, cost.wall_s)),
                      cost.wall_s / simulated_seconds(cost));
}

}  // namespace

json to_json(const run_report& report, bool reproducible) {
    json object{{"format", "vinic result 1"},      {"design", report.design},
                {"parameters", report.parameters}, {"workload", report.workload},
                {"arguments", report.arguments},   {"provenance", report.provenance}};
    if (!reproducible) object["provenance"].update(report.provenance_of_run);
    object["results"] = report.results;
    if (report.stopped) object["stopped_at_ps"] = *report.stopped;
    if (!report.lines.empty()) object["lines"] = report.lines;
    if (!report.failed_checks.empty()) object["failed_checks"] = report.failed_checks;
    if (!report.fingerprint.empty()) object["fingerprint"] = report.fingerprint;
    if (!report.account.is_null()) object["account"] = report.account;
    if (!report.message.is_null()) object["message"] = report.message;
    if (!report.statistics.is_null()) object["statistics"] = report.statistics;
    if (!report.profile.is_null()) object["profile"] = report.profile;
    object["cost"] = cost_to_json(report.cost, reproducible);
    return object;
}

std::string to_text(const run_report& report, bool reproducible, bool colours) {
    std::string text = fmt::format("{} on {}\n", report.workload, report.design);
    for (const auto& [name, value] : report.parameters.items())
        text += fmt::format("  {} = {}\n", name, cell(value));
    text += '\n';
    for (const auto& line : report.lines) text += line + '\n';
    if (!report.results.empty()) text += table_of_rows(report.results, colours) + '\n';
    if (report.stopped)
        text += fmt::format("stopped by --until at {} ps, with {}{} rows\n\n", *report.stopped,
                            report.results.size(),
                            report.expected_rows ? fmt::format(" of {}", report.expected_rows) : "");
    if (!report.account_text.empty()) text += report.account_text + '\n';
    if (!report.statistics.is_null()) text += table_of_rows(report.statistics, colours) + '\n';
    if (!report.fingerprint.empty()) text += fmt::format("fingerprint: {}\n", report.fingerprint);
    return text + cost_to_text(report.cost, reproducible);
}

}  // namespace vinic::testbench
