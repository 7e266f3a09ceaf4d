// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <optional>

#include "hw/sim/error.h"
#include "testbench/cli/firmware_observers.h"
#include "testbench/cli/observers.h"
#include "testbench/cli/output.h"
#include "testbench/cli/verbs.h"
#include "testbench/cli/version.h"
#include "testbench/platform/runner.h"
#include "testbench/platform/setup.h"
#include "testbench/report/message_report.h"
#include "testbench/report/profile.h"
#include "testbench/report/run_report.h"
#include "testbench/report/statistics.h"
#include "testbench/report/table.h"
#include "traces/space_time.h"

namespace vinic::testbench {

namespace {

json provenance_of(const run_options& options, const design& on, const workload& what,
                   const firmware& image) {
    return {{"version", version},
            {"git_revision", git_revision},
            {"compiler", compiler},
            {"build_type", build_type},
            {"design_sha256", hash_of(on)},
            {"workload_sha256", what.sha256()},
            {"firmware_sha256", image.sha256},
            {"seed", options.seed}};
}

json provenance_of_run(const run_options& options) {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    char date[32];
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return {{"command", options.command}, {"host", host}, {"date", date}};
}

status print_arguments(const run_options& options, const workload& what) {
    json rows = json::array();
    for (const auto& a : what.arguments())
        rows.push_back(
            {{"argument", a.name}, {"default", a.default_text}, {"unit", a.unit}, {"help", a.help}});
    output to(options.json.empty() ? "-" : options.json);
    if (options.json.empty())
        to.commit(fmt::format("{}: {}\n\n{}", options.workload, what.description(),
                              table_of_rows(rows, is_terminal(STDOUT_FILENO))));
    else
        to.commit(json_text({{"format", "vinic workload 1"},
                             {"workload", options.workload},
                             {"description", what.description()},
                             {"arguments", rows}}));
    return status::done;
}

/// The places that a run writes to; opened before it, so that nobody simulates in vain.
struct places {
    explicit places(const run_options& options) {
        check_distinct({{"--wave", options.wave},
                        {"--gtkw", options.gtkw},
                        {"--log", options.log},
                        {"--pcap", options.pcap},
                        {"--timeline", options.timeline},
                        {"--json", options.json},
                        {"--profile", options.profile},
                        {"--itrace", options.itrace},
                        {"--svg", options.svg},
                        {"--stats", options.statistics}});
        check_writable(options.wave);
        check_writable(options.gtkw);
        check_writable(options.log);
        check_writable(options.pcap);
        check_writable(options.timeline);
        check_writable(options.itrace);
        if (!options.json.empty()) json_to.emplace(options.json);
        if (!options.statistics.empty() && options.statistics != "-")
            statistics_to.emplace(options.statistics);
        if (!options.svg.empty()) svg_to.emplace(options.svg);
        if (!options.profile.empty() && options.profile != "-") {
            profile_to.emplace(options.profile);
            folded_to.emplace(options.profile + ".folded");
        }
    }
    std::optional<output> json_to;
    std::optional<output> statistics_to;
    std::optional<output> profile_to;
    std::optional<output> folded_to;
    std::optional<output> svg_to;
};

void write(places& to, const run_options& options, const run_report& report, const profile* cycles) {
    const bool json_only = options.json == "-";
    if (to.json_to) to.json_to->commit(json_text(to_json(report, options.reproducible)));
    if (to.profile_to) to.profile_to->commit(cycles->to_text(false));
    if (to.folded_to) to.folded_to->commit(cycles->folded());
    if (json_only) return;
    std::string text = to_text(report, options.reproducible, is_terminal(STDOUT_FILENO));
    if (options.profile == "-") text += "\n" + cycles->to_text(false);
    output("-").commit(text);
}

[[noreturn]] void report_deadlock(const platform& built, ending end) {
    std::string text = fmt::format(
        "deadlock at {} ps: all processes wait and {}", sim::now(),
        end == ending::deadlock ? "no event is left"
                                : "none has gone on for workload.patience_ms, though timers still tick");
    for (const auto& line : built.waiting()) text += "\n  " + line;
    throw std::runtime_error(text);
}

/// What the script printed and which checks failed, of a run that has no report.
void print_without_report(const run_options& options, const results& found) {
    std::FILE* const to = options.json == "-" ? stderr : stdout;
    for (const std::string& line : found.lines()) fmt::print(to, "{}\n", line);
    for (const std::string& failed : found.failed_checks())
        fmt::print(stderr, "vinic: check failed: {}\n", failed);
}

}  // namespace

status run(const run_options& options) {
    const auto started = std::chrono::steady_clock::now();
    const interrupt_guard interrupt;
    const design on = design_of(options);
    std::vector<std::string> arguments = options.arguments;
    const bool help = arguments == std::vector<std::string>{"help"} || options.help_workload;
    if (help) arguments.clear();
    const auto what = load_workload(options.workload, arguments, on, options.seed, options.unsafe);
    if (help) return print_arguments(options, *what);

    const firmware image = firmware_of(on);
    places to(options);
    results found;
    found.expect_rows(what->expected_rows());
    platform built(on, image, mode_of(options));
    built.load(*what, found);
    observers watching(options, built);
    firmware_observers cores(options, built, image);

    runner driver(built, started);
    if (watching.record() || cores.record())
        driver.between_stretches([&](sim::picoseconds now) {
            watching.flush(now);
            cores.flush();
        });
    statistics_series series(built.simulation());
    if (options.statistics_every)
        driver.stop_every(*options.statistics_every, [&](sim::picoseconds now) { series.add(now); });
    if (is_terminal(STDERR_FILENO) && !options.reproducible) driver.show_progress(found);
    ending end{};
    try {
        end = driver.run(options.until, interrupt);
        if (options.statistics_every) series.add(sim::now());
        watching.finish();
        cores.finish();
        if (end == ending::deadlock || end == ending::no_progress) report_deadlock(built, end);
        if (end == ending::interrupted) throw interrupted(fmt::format("interrupted at {} ps", sim::now()));
    } catch (...) {
        print_without_report(options, found);
        throw;
    }

    run_report report{.design = on.name,
                      .parameters = changed_parameters(on),
                      .workload = options.workload,
                      .provenance = provenance_of(options, on, *what, image),
                      .provenance_of_run = provenance_of_run(options),
                      .results = found.rows(),
                      .lines = found.lines(),
                      .failed_checks = found.failed_checks(),
                      .fingerprint = watching.fingerprint(),
                      .cost = driver.cost()};
    if (end == ending::time_limit) report.stopped = sim::now();
    report.expected_rows = what->expected_rows();
    for (const auto& argument : what->arguments()) report.arguments[argument.name] = argument.value;
    if (const auto account = watching.account()) {
        report.account = account->to_json();
        report.account_text = account->to_text(is_terminal(STDOUT_FILENO));
    }
    if (options.account_message != 0) {
        const message_report one(watching.message(options.account_message), options.account_message,
                                 built.simulation());
        report.message = one.to_json();
        report.account_text +=
            (report.account_text.empty() ? "" : "\n") + one.to_text(is_terminal(STDOUT_FILENO));
    }
    if (to.svg_to)
        to.svg_to->commit(traces::space_time_diagram(
            watching.message(options.account_message),
            fmt::format("{} on {}: where the time of a message went", options.workload, on.name)));
    if (!options.statistics.empty()) {
        const json rows =
            options.statistics_every ? series.rows() : statistics_of(built.simulation(), "", true);
        if (options.statistics == "-") report.statistics = rows;
        if (to.statistics_to) to.statistics_to->commit(statistics_text(rows, options.statistics));
    }
    if (options.profile == "-") report.profile = cores.profile()->to_json();
    write(to, options, report, cores.profile());
    for (const auto& failed : report.failed_checks) fmt::print(stderr, "vinic: check failed: {}\n", failed);
    return report.failed_checks.empty() ? status::done : status::failed;
}

}  // namespace vinic::testbench
