// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/simulate.h"

#include <unistd.h>

#include <ctime>

#include "hw/sim/error.h"
#include "testbench/cli/firmware_observers.h"
#include "testbench/cli/observers.h"
#include "testbench/cli/version.h"
#include "testbench/platform/run_phases.h"
#include "testbench/platform/setup.h"
#include "testbench/report/message_report.h"
#include "testbench/report/profile.h"
#include "testbench/report/run_report.h"
#include "testbench/report/statistics.h"
#include "traces/space_time.h"

namespace vinic::testbench {

namespace {

json provenance_of(const simulation_options& options, const design& on, const subject& what,
                   const std::optional<firmware>& image) {
    return {{"version", version},
            {"git_revision", git_revision},
            {"compiler", compiler},
            {"build_type", build_type},
            {"design_sha256", hash_of(on)},
            {"workload_sha256", what.sha256},
            {"firmware_sha256", image ? json(image->sha256) : json()},
            {"seed", options.seed}};
}

json provenance_of_run(const std::string& command) {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    char date[32];
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return {{"command", command}, {"host", host}, {"date", date}};
}

/// Where tables go: programs have standard output for themselves.
void print(const subject& what, const std::string& text) {
    if (what.owns_output)
        output("-").commit(text);
    else
        fmt::print(stderr, "{}", text);
}

void write(output_places& to, const simulation_options& options, const subject& what,
           const run_report& report, const profile* cycles) {
    const bool json_only = options.json == "-";
    if (to.json_to) to.json_to->commit(json_text(to_json(report, options.reproducible)));
    if (to.profile_to) to.profile_to->commit(cycles->to_text(false));
    if (to.folded_to) to.folded_to->commit(cycles->folded());
    if (json_only) return;
    const bool colours = is_terminal(what.owns_output ? STDOUT_FILENO : STDERR_FILENO);
    std::string text = to_text(report, options.reproducible, colours);
    if (options.profile == "-") text += "\n" + cycles->to_text(false);
    print(what, text);
}

/// A workload that relies on what UDP does not promise waits in vain, or takes a datagram for another one.
std::string loss_note(const platform& built) {
    const std::uint64_t lost = built.lost_datagrams();
    if (lost == 0) return "";
    return fmt::format(
        "{} of UDP {} lost, and nobody sends again what UDP loses (TCP does: -- transport=tcp)",
        lost == 1 ? "a datagram" : fmt::format("{} datagrams", lost), lost == 1 ? "was" : "were");
}

void print_failed_checks(const std::vector<std::string>& failed) {
    for (const std::string& one : failed) fmt::print(stderr, "vinic: check failed: {}\n", one);
}

[[noreturn]] void report_deadlock(const platform& built, ending end) {
    std::string text = fmt::format(
        "deadlock at {} ps: all processes wait and {}", sim::now(),
        end == ending::deadlock ? "no event is left"
                                : "none has gone on for workload.patience_ms, though timers still tick");
    for (const auto& line : built.waiting()) text += "\n  " + line;
    if (const std::string note = loss_note(built); !note.empty()) text += "\n  " + note;
    throw std::runtime_error(text);
}

/// What the script printed and which checks failed, of a run that has no report.
void print_without_report(const simulation_options& options, const subject& what, const results& found) {
    std::string text;
    for (const std::string& line : found.lines()) text += line + "\n";
    if (options.json == "-")
        fmt::print(stderr, "{}", text);
    else
        print(what, text);
    print_failed_checks(found.failed_checks());
}

/// A file's form follows its suffix; a name without one promises nothing.
void check_suffix(const std::string& option, const std::string& place, const std::string& suffix) {
    const std::string given = std::filesystem::path(place).extension().string();
    if (!given.empty() && given != suffix)
        throw sim::input_error("{} {}: this form of file is not written; the name ends in {}", option, place,
                               suffix);
}

}  // namespace

output_places::output_places(const simulation_options& options) {
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
    check_suffix("--gtkw", options.gtkw, ".gtkw");
    check_suffix("--pcap", options.pcap, ".pcapng");
    check_suffix("--timeline", options.timeline, ".json");
    check_suffix("--svg", options.svg, ".svg");
    check_writable(options.wave);
    check_writable(options.gtkw);
    check_writable(options.log);
    check_writable(options.pcap);
    check_writable(options.timeline);
    check_writable(options.itrace);
    if (!options.json.empty()) json_to.emplace(options.json);
    if (!options.statistics.empty() && options.statistics != "-") statistics_to.emplace(options.statistics);
    if (!options.svg.empty()) svg_to.emplace(options.svg);
    if (!options.profile.empty() && options.profile != "-") {
        profile_to.emplace(options.profile);
        folded_to.emplace(options.profile + ".folded");
    }
}

status simulate(const simulation_options& options, const subject& what, const design& on,
                const std::optional<firmware>& image, platform& built, results& found, output_places& to,
                std::chrono::steady_clock::time_point started, const interrupt_guard& interrupt) {
    observers watching(options, built, image);
    firmware_observers cores(options, built, image, watching.instructions());

    runner driver(built, started);
    if (watching.record()) driver.between_stretches([&](sim::picoseconds now) { watching.flush(now); });
    statistics_series series(built.simulation());
    if (options.statistics_every)
        driver.stop_every(*options.statistics_every, [&](sim::picoseconds now) { series.add(now); });
    statistics_by_phase counted(built.simulation());
    std::optional<run_phases> phases;
    if (!options.statistics.empty() || cores.profile()) {
        phases.emplace(built.measured());
        driver.follow(*phases, [&](sim::picoseconds now) {
            counted.end(phases->entered(), now);
            phases->enter();
            cores.enter(phases->entered());
        });
    }
    if (is_terminal(STDERR_FILENO) && !options.reproducible) driver.show_progress(found);
    if (what.look_outside) driver.look_outside(what.look_outside);
    if (what.begin) what.begin();
    ending end{};
    try {
        end = driver.run(options.until, interrupt);
        if (options.statistics_every) series.add(sim::now());
        if (phases) counted.end(phases->entered(), sim::now());
        watching.finish();
        if (phases) cores.finish(phases->measured());
        if (end == ending::deadlock || end == ending::no_progress) report_deadlock(built, end);
        if (end == ending::interrupted) throw interrupted(fmt::format("interrupted at {} ps", sim::now()));
    } catch (...) {
        print_without_report(options, what, found);
        throw;
    }

    run_report report{.design = on.name,
                      .parameters = changed_parameters(on),
                      .workload = what.name,
                      .arguments = what.arguments,
                      .provenance = provenance_of(options, on, what, image),
                      .provenance_of_run = provenance_of_run(what.command),
                      .results = found.rows(),
                      .lines = found.lines(),
                      .failed_checks = found.failed_checks(),
                      .fingerprint = watching.fingerprint(),
                      .cost = driver.cost()};
    if (end == ending::time_limit) report.stopped = sim::now();
    report.expected_rows = what.expected_rows;
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
            fmt::format("{} on {}: where the time of a message went", what.name, on.name)));
    if (!options.statistics.empty()) {
        const json rows = options.statistics_every ? series.rows() : counted.rows(phases->measured());
        if (options.statistics == "-") report.statistics = rows;
        if (to.statistics_to) to.statistics_to->commit(statistics_text(rows, options.statistics));
    }
    if (options.profile == "-") report.profile = cores.profile()->to_json();
    write(to, options, what, report, cores.profile());
    print_failed_checks(report.failed_checks);
    if (const std::string note = loss_note(built); !report.failed_checks.empty() && !note.empty())
        fmt::print(stderr, "vinic: {}\n", note);
    return report.failed_checks.empty() ? status::done : status::failed;
}

}  // namespace vinic::testbench
