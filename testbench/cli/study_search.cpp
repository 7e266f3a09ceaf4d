// SPDX-License-Identifier: Apache-2.0
// The verbs under `study` whose points are not written out: sensitivity, optimise, and ask and tell for other
// optimisers.
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "hw/sim/error.h"
#include "testbench/cli/output.h"
#include "testbench/cli/study_engine.h"
#include "testbench/cli/study_files.h"
#include "testbench/cli/study_verbs.h"
#include "testbench/report/sha256.h"
#include "testbench/report/table.h"
#include "testbench/study/check.h"
#include "testbench/study/curves.h"
#include "testbench/study/effects.h"
#include "testbench/study/pareto.h"
#include "testbench/study/perturbation.h"
#include "testbench/study/search.h"
#include "testbench/study/study_table.h"

namespace vinic::testbench {

namespace {

namespace fs = std::filesystem;

using records_by_key = std::map<std::string, const study::point_record*>;

/// Of a point with all of its seeds: the first that is not well.
std::string status_of(const study::plan& points, std::size_t first, std::size_t seeds,
                      const records_by_key& known) {
    for (std::size_t index = first; index < first + seeds; ++index) {
        const auto found = known.find(points.at(index).key);
        if (found == known.end()) return "to do";
        if (found->second->status != "done") return found->second->status;
    }
    return "done";
}

/// The points of a search with what they gave; a point stands for all of its seeds.
struct measured_points {
    struct entry {
        std::size_t number;  ///< of the point with the first seed, from 1
        study::point at;
        std::string command;
        std::string status;  ///< "to do" when a seed did not run, why not when one did not end well
        std::optional<std::vector<double>> values;  ///< of the goals
        bool best = false;                          ///< no other one beats it in all goals
    };
    std::vector<entry> all;

    measured_points(const study::search& of, const study::plan& points,
                    const std::vector<study::point_record>& records) {
        const auto known = study::by_key(records);
        std::vector<study::costs> costs;
        for (std::size_t i = 0; i * of.seeds() < points.points().points.size(); ++i) {
            const std::size_t index = i * of.seeds();
            study::point at = points.points().points[index];
            at.resize(of.space().names().size());  // without the seed
            all.push_back({index + 1, std::move(at), "vinic " + study::shell_text(points.at(index).command()),
                           status_of(points, index, of.seeds(), known), of.values(points, i, known)});
            costs.push_back(of.cost(all.back().values));
        }
        for (const std::size_t i : study::front_of(costs)) all[i].best = true;
    }

    /// Those that no other one beats in all goals, by the first goal.
    std::vector<const entry*> front() const {
        std::vector<const entry*> best;
        for (const auto& one : all)
            if (one.best) best.push_back(&one);
        std::ranges::stable_sort(best, {}, [](const entry* e) { return e->values->front(); });
        return best;
    }
};

/// A line for each point: its number (when they have one), axes, goals that are none, and its status.
std::string table_of(const study::search& of, const std::vector<const measured_points::entry*>& points,
                     bool numbers, bool statuses) {
    std::vector<std::string> head;
    if (numbers) head.emplace_back("point");
    for (const auto& name : of.space().names()) head.push_back(heading(name));
    for (const auto& goal : of.goals())
        if (!goal.is_axis()) head.push_back(goal.heading());
    if (statuses) head.emplace_back("status");
    std::vector<std::vector<std::string>> rows;
    for (const auto* one : points) {
        auto& row = rows.emplace_back();
        if (numbers) row.push_back(std::to_string(one->number));
        for (const auto& value : one->at) row.push_back(value.text);
        for (std::size_t i = 0; i < of.goals().size(); ++i)
            if (!of.goals()[i].is_axis())
                row.push_back(one->values ? fmt::format("{:.6g}", (*one->values)[i]) : "");
        if (statuses) row.push_back(one->status);
    }
    return table(head, rows, is_terminal(STDOUT_FILENO));
}

json goals_of(const study::search& of) {
    json goals = json::array();
    for (const auto& goal : of.goals())
        goals.push_back({{"goal", goal.text()}, {"direction", goal.maximise() ? "maximise" : "minimise"}});
    return goals;
}

/// The values of a point on the axes, and its command.
json to_json(const study::search& of, const measured_points::entry& one) {
    json values = json::object();
    for (std::size_t i = 0; i < one.at.size(); ++i) values[of.space().names()[i]] = one.at[i].text;
    return {{"values", values}, {"command", one.command}};
}

/// And what it gave.
json answer_of(const study::search& of, const measured_points::entry& one) {
    json goals = json::object(), all = to_json(of, one);
    for (std::size_t i = 0; i < of.goals().size(); ++i)
        goals[of.goals()[i].text()] = one.values ? json((*one.values)[i]) : json();
    all["status"] = one.status;
    all["goals"] = goals;
    return all;
}

/// The first two goals against each other.
std::string plot_of(const study::search& of, const measured_points& points) {
    if (of.goals().size() < 2) return "";
    study::curves plot{.x = of.goals()[0].heading(), .y = of.goals()[1].heading()};
    study::curves::curve front{.family = "on the front"}, others{.family = "beaten"};
    for (const auto& one : points.all)
        if (one.values) (one.best ? front : others).points.emplace_back((*one.values)[0], (*one.values)[1]);
    plot.all.push_back(std::move(front));
    if (!others.points.empty()) plot.all.push_back(std::move(others));
    return "\n" + study::text_plot(plot);
}

std::size_t ran_in(const measured_points& points) {
    return static_cast<std::size_t>(
        std::ranges::count_if(points.all, [](const auto& one) { return one.status != "to do"; }));
}

/// Points as somebody names them: {"points": [{name: value, ...}, ...]}, or the list alone; none, where `ask`
/// had none.
std::vector<study::point> points_in(const study::space& space, const std::string& place) {
    const std::string shown = place == "-" ? "standard input" : place;
    const json read = json::parse(read_file(place == "-" ? "/dev/stdin" : place), nullptr, false);
    if (read.is_discarded()) throw sim::input_error("{}: not JSON", shown);
    const json& list = read.is_object() ? read.value("points", json()) : read;
    if (!list.is_array())
        throw sim::input_error("{}: expected a list of points, as in [{{\"{}\": ...}}]", shown,
                               space.names().front());
    std::vector<study::point> points;
    for (const json& one : list) {
        const bool answered = one.is_object() && one.contains("values");  // as `ask` writes it
        points.push_back(space.read(answered ? one["values"] : one,
                                    fmt::format("{}: point {}", shown, points.size() + 1)));
    }
    return points;
}

/// Changes without a result, and parameters that were not changed, by reason.
std::string text_of(const json& apart) {
    std::string text;
    if (const json& failures = apart["failures"]; !failures.empty())
        text +=
            "Changes without a result (`vinic study status` says why):\n" + table_of_rows(failures) + "\n";
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const auto& [name, why] : apart["not_changed"].items())
        by_reason[why.get<std::string>()].push_back(name);
    for (const auto& [why, names] : by_reason)
        text += fmt::format("Not changed ({}): {}\n", why, fmt::join(names, ", "));
    return text;
}

}  // namespace

status study_sensitivity(const study_options& options) {
    const study::study_file file = study_of(options.file);
    if (!file.sensitivity)
        throw sim::input_error("{}: no key `sensitivity`, as in `sensitivity: {{change: 10%}}`",
                               options.file);
    output to(options.json.empty() ? "-" : options.json);
    const auto changes = study::perturb(file);
    const study::plan plan(file, study::expand(changes, file));
    study::check(plan);
    check_engine(options);
    study::database results(database_of(options.file, options.database), study::database::mode::write);
    const auto outcome = run_points(plan, results, options, "sensitivity");
    const auto records = results.points(false);
    const auto table = study::tabulate(plan, records);
    const auto found = study::effects_of(table, changes);
    for (const auto& line : study::missing_metrics(plan, records)) fmt::print(stderr, "vinic: {}\n", line);

    std::string text = file.question.empty() ? "" : file.question + "\n\n";
    json tables = json::array();
    for (const auto& one : found) {
        text += study::to_text(one, file.sensitivity->change_percent, is_terminal(STDOUT_FILENO)) + "\n";
        tables.push_back(study::to_json(one));
    }
    const json apart = study::apart(changes, table);
    json object{{"format", "vinic study sensitivity 1"},
                {"change_percent", file.sensitivity->change_percent},
                {"effects", tables}};
    object.update(apart);
    to.commit(options.json.empty() ? text + text_of(apart) : json_text(object));
    if (!found.empty()) return status::done;
    say_failures(outcome);
    return status::failed;
}

status study_optimise(const study_options& options) {
    study::search search(study_of(options.file));
    output to(options.json.empty() ? "-" : options.json);
    study::check(search.generation());
    check_engine(options);
    study::database results(database_of(options.file, options.database), study::database::mode::write);
    while (search.goes_on()) {
        run_points(search.generation(), results, options, "optimise");
        search.advance(results.points(false));
    }
    const auto records = results.points(false);
    const measured_points points(search, search.all_points(records), records);
    const auto best = points.front();
    json front = json::array();
    for (const auto* one : best) {
        front.push_back({{"point", one->number}});
        front.back().update(answer_of(search, *one));
    }
    const std::string text =
        fmt::format("{}{} points ran; {} that no other one beats in {}:\n\n",
                    search.question().empty() ? "" : search.question() + "\n\n", ran_in(points), best.size(),
                    search.goals().size() == 1 ? "the goal" : "all goals") +
        table_of(search, best, true, false) + plot_of(search, points);
    to.commit(options.json.empty() ? text
                                   : json_text({{"format", "vinic study front 1"},
                                                {"goals", goals_of(search)},
                                                {"points_ran", ran_in(points)},
                                                {"front", front}}));
    if (const auto failed = std::ranges::count_if(
            points.all, [](const auto& one) { return one.status != "to do" && one.status != "done"; }))
        fmt::print(stderr, "vinic: {} points did not end well; `vinic study status` says which and why\n",
                   failed);
    return front.empty() ? status::failed : status::done;
}

status ask_study(const study_options& options) {
    study::search search(study_of(options.file));
    study::check(search.generation());
    const auto records = records_so_far(database_of(options.file, options.database));
    search.replay(records);
    std::vector<const measured_points::entry*> next;
    std::optional<measured_points> points;
    if (search.goes_on()) points.emplace(search, search.generation(), records);
    if (points)
        for (const auto& one : points->all)
            if (one.status == "to do" && next.size() < options.point) next.push_back(&one);
    json asked = json::array();
    for (const auto* one : next) asked.push_back(to_json(search, *one));
    const bool nothing_left = next.empty() && options.point != 0;
    write(options, nothing_left ? "the search is at its end\n" : table_of(search, next, false, false),
          {{"format", "vinic study points 1"},
           {"axes", search.space().to_json()},
           {"goals", goals_of(search)},
           {"points", asked}});
    return status::done;
}

status tell_study(const study_options& options) {
    study::search search(study_of(options.file));
    const auto told = points_in(search.space(), options.other);
    output to(options.json.empty() ? "-" : options.json);
    const study::plan plan = search.plan_of(told);
    study::check(plan);
    check_engine(options);
    study::database results(database_of(options.file, options.database), study::database::mode::write);
    run_points(plan, results, options, "tell");
    const auto records = results.points(false);
    const measured_points points(search, plan, records);
    std::vector<const measured_points::entry*> answered;
    json answers = json::array();
    for (const auto& one : points.all) {
        answered.push_back(&one);
        answers.push_back(answer_of(search, one));
    }
    to.commit(options.json.empty() ? table_of(search, answered, false, true)
                                   : json_text({{"format", "vinic study answers 1"},
                                                {"goals", goals_of(search)},
                                                {"points", answers}}));
    const bool well = std::ranges::all_of(points.all, [](const auto& one) { return one.status == "done"; });
    return well ? status::done : status::failed;
}

}  // namespace vinic::testbench
