// SPDX-License-Identifier: Apache-2.0
// The verbs under `study`.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>

#include "hw/sim/error.h"
#include "testbench/cli/output.h"
#include "testbench/cli/study_engine.h"
#include "testbench/cli/study_files.h"
#include "testbench/cli/study_verbs.h"
#include "testbench/cli/verbs.h"
#include "testbench/report/study_report.h"
#include "testbench/report/table.h"
#include "testbench/study/check.h"
#include "testbench/study/curves.h"
#include "testbench/study/database.h"
#include "testbench/study/difference.h"
#include "testbench/study/local_engine.h"
#include "testbench/study/plan.h"
#include "testbench/study/runner.h"
#include "testbench/study/study_table.h"
#include "testbench/study/submission.h"
#include "testbench/validation/published.h"

namespace vinic::testbench {

namespace {

namespace fs = std::filesystem;

std::size_t count_of(const study::plan& of) { return of.points().points.size(); }

json points_of(const study::plan& of) {
    json rows = json::array();
    for (std::size_t i = 0; i < count_of(of); ++i) {
        json row{{"point", i + 1}};
        for (std::size_t column = 0; column < of.points().names.size(); ++column)
            row[of.points().names[column]] = of.points().points[i][column].text;
        rows.push_back(std::move(row));
    }
    return rows;
}

/// The line of a log that says why: vinic's own last one, behind which a traceback may stand.
std::string reason_in(const std::string& log) {
    std::size_t at = log.rfind("\nvinic: ");
    at = at == std::string::npos ? 0 : at + 1;
    return log.substr(at, log.find('\n', at) - at);
}

/// The first and the last point, run to judge all by.
std::vector<study::point_record> probes_of(const study::plan& of) {
    std::vector<study::point_record> probes;
    study::local_engine engine(1, of.study().limits);
    for (const std::size_t index : {std::size_t{0}, count_of(of) - 1}) {
        engine.start(index, of.at(index).command(of.result_options()));
        while (engine.under_way() != 0)
            for (const auto& ended : engine.wait(std::chrono::seconds(1))) {
                study::point_record& probe = probes.emplace_back();
                probe.wall_s = ended.wall_s;
                const json result = json::parse(ended.output, nullptr, false);
                if (result.is_object() && result.contains("results"))
                    probe.metrics = study::metrics_of(result, of.study().metrics);
                if (ended.status != "done")
                    fmt::print(stderr, "vinic: point {} does not end well: {}: {}\n", index + 1, ended.status,
                               reason_in(ended.log));
            }
    }
    return probes;
}

/// Says which metrics no point has; whether there are any.
bool miss_metrics(const study::plan& of, const std::vector<study::point_record>& points) {
    const auto lines = study::missing_metrics(of, points);
    for (const auto& line : lines) fmt::print(stderr, "vinic: {}\n", line);
    return !lines.empty();
}

struct state {
    std::map<std::string, std::size_t> by_status;  ///< of the points that have a result
    std::size_t outdated = 0;  ///< of those: of another vinic, design, workload or firmware
    std::size_t left = 0;      ///< have none
    json failures = json::array();
    double seconds = 0;  ///< of all with a result
};

state state_of(const study::plan& of, const std::vector<study::point_record>& records) {
    std::map<std::string, const study::point_record*> by_key;
    for (const auto& r : records) by_key[r.key] = &r;
    study::identities identities(of);
    state now;
    for (std::size_t i = 0; i < count_of(of); ++i) {
        const study::planned_point p = of.at(i);
        const auto found = by_key.find(p.key);
        if (found == by_key.end()) {
            ++now.left;
            continue;
        }
        const study::point_record& r = *found->second;
        ++now.by_status[r.status];
        now.seconds += r.wall_s;
        if (r.identity != identities.of(i, p)) ++now.outdated;
        if (r.status != "done")
            now.failures.push_back({{"point", i + 1},
                                    {"status", r.status},
                                    {"wall_s", r.wall_s},
                                    {"log", reason_in(r.log)},
                                    {"command", "vinic " + study::shell_text(p.command())}});
    }
    return now;
}

std::string status_text(const study::plan& of, const state& now) {
    std::string text = of.study().question.empty() ? "" : of.study().question + "\n";
    text += fmt::format("{} points", count_of(of));
    for (const auto& [status, count] : now.by_status) text += fmt::format(", {} {}", count, status);
    if (now.left != 0) text += fmt::format(", {} to do", now.left);
    text += "\n";
    if (now.outdated != 0)
        text += fmt::format(
            "{} were made by another vinic, design, workload or firmware: `run` runs them again\n",
            now.outdated);
    const std::size_t done = count_of(of) - now.left;
    if (done != 0)
        text += fmt::format("{} in points, {:.3g} s each\n", study::clock_text(now.seconds),
                            now.seconds / static_cast<double>(done));
    json shown = now.failures;
    for (auto& row : shown) row.erase("command");
    if (!shown.empty()) text += "\n" + beginning_of(shown);
    return text;
}

std::string summary_of(const study::study_runner::outcome& of, std::size_t jobs) {
    std::string text = fmt::format("{} points ran, {} were there", of.ran, of.kept);
    if (of.ran == 0) return text;
    text += fmt::format("; {:.1f} s, {:.3g} points/s", of.seconds, static_cast<double>(of.ran) / of.seconds);
    if (jobs != 0)
        text += fmt::format(", {:.1f} % of {} jobs' time inside points",
                            100 * of.inside_points_s / of.seconds / static_cast<double>(jobs), jobs);
    return text;
}

/// Whose points follow from results, or are to be shown in another way, has a verb of its own.
void refuse_other_kinds(const study::study_file& study) {
    const std::string* const at = study.optimise      ? &study.optimise->origin
                                  : study.sensitivity ? &study.sensitivity->origin
                                                      : nullptr;
    if (!at) return;
    const char* const verb = study.optimise ? "optimise" : "sensitivity";
    throw sim::input_error("{}: {}: `vinic study {}` runs it", *at, verb, verb);
}

}  // namespace

status check_study(const study_options& options) {
    const study::plan plan = plan_of(options);
    study::check(plan);
    const fs::path file = database_of(options.file, options.database);
    std::vector<double> known;
    if (fs::exists(file))
        for (const auto& [key, point] : study::database(file, study::database::mode::read).summaries())
            known.push_back(point.wall_s);
    const auto probes = known.empty() ? probes_of(plan) : std::vector<study::point_record>();
    for (const auto& probe : probes) known.push_back(probe.wall_s);
    const double each = std::accumulate(known.begin(), known.end(), 0.0) / static_cast<double>(known.size());
    const auto jobs = static_cast<double>(study::processors());
    const double all = each * static_cast<double>(count_of(plan)) / jobs;
    std::string text = beginning_of(points_of(plan)) + fmt::format("\n{} points", count_of(plan));
    if (plan.points().dropped != 0)
        text += fmt::format(" ({} more dropped by `only`)", plan.points().dropped);
    text += fmt::format(", about {:.2g} s each: {} on {} processors\n", each, study::clock_text(all), jobs);
    write(options, text,
          {{"format", "vinic study 1"}, {"points", points_of(plan)}, {"point_s", each}, {"estimate_s", all}});
    return miss_metrics(plan, probes) ? status::failed : status::done;
}

status run_study(const study_options& options) {
    const auto begun = std::chrono::steady_clock::now();
    const study::plan plan = plan_of(options);
    refuse_other_kinds(plan.study());
    check_engine(options);
    study::check(plan);
    const fs::path file = database_of(options.file, options.database);
    study::database results(file, study::database::mode::write);
    auto outcome = run_points(plan, results, options, "run");
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    output("-").commit(fmt::format("{}: {}\n", file.string(), summary_of(outcome, jobs_of(options))));
    const bool missed = miss_metrics(plan, results.points(false));
    say_failures(outcome);
    return outcome.failed.empty() && !missed ? status::done : status::failed;
}

status run_study_task(const study_options& options) {
    study::submission(options.file).run(options.task);
    return status::done;
}

status show_study_status(const study_options& options) {
    const study::plan plan = plan_of(options);
    const fs::path file = database_of(options.file, options.database);
    std::vector<study::point_record> records;
    if (fs::exists(file)) records = records_of(file, true);
    const state now = state_of(plan, records);
    write(options, status_text(plan, now),
          {{"format", "vinic study status 1"},
           {"points", count_of(plan)},
           {"results", now.by_status},
           {"to_do", now.left},
           {"outdated", now.outdated},
           {"failures", now.failures}});
    return status::done;
}

status show_study(const study_options& options) {
    const study::plan plan = plan_of(options);
    const auto table = study::tabulate(plan, records_of(database_of(options.file, options.database)));
    const std::string plot = study::text_plot(study::curves_of(table, options.x, options.y));
    std::string text = plan.study().question.empty() ? "" : plan.study().question + "\n\n";
    write(options, text + beginning_of(table.rows()) + (plot.empty() ? "" : "\n" + plot),
          {{"format", "vinic study results 1"}, {"rows", table.rows()}});
    return status::done;
}

status report_study(const study_options& options) {
    const study::plan plan = plan_of(options);
    const auto records = records_of(database_of(options.file, options.database), true);
    output to(options.html.empty() ? fs::path(options.file).replace_extension(".html").string()
                                   : options.html);
    to.commit(study_report(plan, records, validation::published_for(plan)));
    return status::done;
}

status export_study(const study_options& options) {
    if (options.json.empty() == options.csv.empty())
        throw sim::input_error("export: expected --csv or --json");
    const study::plan plan = plan_of(options);
    const auto table = study::tabulate(plan, records_of(database_of(options.file, options.database)));
    output to(options.csv.empty() ? options.json : options.csv);
    to.commit(options.csv.empty() ? json_text({{"format", "vinic study results 1"}, {"rows", table.rows()}})
                                  : table.csv());
    return status::done;
}

status run_study_point(const study_options& options) {
    const study::plan plan = plan_of(options);
    if (options.point > count_of(plan))
        throw sim::input_error("{}: has {} points, no point {}", options.file, count_of(plan), options.point);
    const study::planned_point p = plan.at(options.point - 1);
    run_options run_it;
    static_cast<simulation_options&>(run_it) = options;
    run_it.workload = p.workload;
    run_it.design = p.design;
    run_it.nodes = p.nodes;
    run_it.seed = p.seed;
    run_it.settings = p.settings;
    run_it.arguments = p.arguments;
    run_it.command = "vinic " + study::shell_text(p.command());
    return run(run_it);
}

status compare_studies(const study_options& options) {
    const auto read = [](const std::string& what) {
        return records_of(what.ends_with(".sqlite") ? fs::path(what) : database_of(what, ""));
    };
    const auto found =
        study::differences(read(options.file), read(options.other), options.tolerance_percent.value_or(0));
    const std::string summary =
        fmt::format("{} points in both, {} of {} numbers differ", found.in_both, found.rows.size(),
                    found.numbers) +
        (options.tolerance_percent ? fmt::format(" by more than {} %", *options.tolerance_percent) : "") +
        fmt::format("; only in {}: {}, only in {}: {}\n", options.file, found.only_before, options.other,
                    found.only_after) +
        (found.in_both == 0
             ? "Points are the same when their whole configuration is: design, workload, arguments, "
               "nodes, seed, parameters\n"
             : "");
    write(options, found.rows.empty() ? summary : beginning_of(found.rows) + "\n" + summary,
          {{"format", "vinic study difference 1"},
           {"in_both", found.in_both},
           {"only_before", found.only_before},
           {"only_after", found.only_after},
           {"numbers", found.numbers},
           {"rows", found.rows}});
    const bool beyond = !found.rows.empty() || found.only_before != 0 || found.only_after != 0;
    return options.tolerance_percent && beyond ? status::failed : status::done;
}

}  // namespace vinic::testbench
