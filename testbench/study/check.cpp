// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/check.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "hw/sim/card_name.h"
#include "hw/sim/error.h"
#include "hw/sim/parameter_check.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unknown_parameter.h"
#include "testbench/platform/platform.h"
#include "testbench/platform/setup.h"
#include "testbench/report/statistics.h"
#include "testbench/study/metrics.h"

namespace vinic::testbench::study {

namespace {

/// What changes the tree of modules rather than a number in it.
const std::vector<std::string> structural{"design", "nodes", "cards", "topology", "firmware"};

bool is_structural(const std::string& name) {
    return std::ranges::find(structural, name) != structural.end();
}

/// What is wrong, with the place of the value that brought it.
template <typename Try>
void located_errors(const located& at, Try&& attempt) {
    const std::string file = at.origin.substr(0, at.origin.rfind(':') + 1);
    try {
        attempt();
    } catch (const sim::input_error& error) {
        // Who prints it knows other designs, too.
        if (const auto* unknown = dynamic_cast<const sim::unknown_parameter*>(&error))
            if (unknown->origin.starts_with(file)) throw;
        const std::string what = error.what();
        throw sim::input_error("{}", what.starts_with(file) ? what : at.origin + ": " + what);
    }
}

const sim::parameter_info* declaration(const sim::configuration& all, const std::string& name) {
    for (const auto& p : all.parameters())
        if (p.name == name || sim::without_node(p.name) == name || sim::without_card(p.name) == name)
            return &p;
    return nullptr;
}

/// A point with each value of a column that occurs at these points.
std::vector<std::size_t> each_value(const grid& all, std::size_t column,
                                    const std::vector<std::size_t>& points) {
    std::vector<std::size_t> chosen;
    std::set<std::string> seen;
    for (const std::size_t index : points)
        if (seen.insert(all.points[index][column].text).second) chosen.push_back(index);
    return chosen;
}

/// Names under which parameters of several modules are set at once have no declaration: their values are
/// checked by building with them; the points for that are returned.
std::vector<std::size_t> check_parameters(const plan& of, const sim::configuration& declared,
                                          const std::vector<std::size_t>& points) {
    const grid& all = of.points();
    std::vector<std::size_t> to_build;
    for (std::size_t column = 0; column < all.names.size(); ++column) {
        const std::string& name = all.names[column];
        if (is_structural(name) || name == "seed" || name.starts_with("arguments.")) continue;
        if (name == changed_parameter || name == changed_value) continue;  // come from the declarations
        const sim::parameter_info* const parameter = declaration(declared, name);
        for (const std::size_t index : each_value(all, column, points)) {
            const located& value = all.points[index][column];
            const std::string refused = parameter ? sim::refusal_of(*parameter, value.text) : "";
            if (!refused.empty()) throw sim::input_error("{}: {}", value.origin, refused);
            if (!parameter && index != points.front()) to_build.push_back(index);
        }
    }
    return to_build;
}

void check_statistics(const plan& of, const sim::simulation& built) {
    std::vector<std::string> names;
    for (const auto& [name, statistic] : built.statistics())
        for (const auto& [suffix, value] : statistic->values(0)) names.push_back(name + suffix);
    for (const located& metric : of.study().metrics) {
        if (!metric.text.starts_with(statistic_prefix)) continue;
        const std::string wanted = metric.text.substr(statistic_prefix.size());
        if (std::ranges::any_of(names, [&](const auto& name) { return metric_matches(wanted, name); }))
            continue;
        const std::string near = sim::nearest_name(wanted, names);
        throw sim::input_error("{}: no statistic is named '{}'{}", metric.origin, wanted,
                               near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near));
    }
}

/// Builds the platform of the first of these points, which differ in parameters only.
void check_platform(const plan& of, const std::vector<std::size_t>& points) {
    std::vector<std::size_t> to_build;
    {
        const design d = of.design_at(points.front());
        platform built(d, firmware_of(d), {});
        to_build = check_parameters(of, built.simulation().config(), points);
        check_statistics(of, built.simulation());
    }
    for (const std::size_t index : to_build) {
        const design d = of.design_at(index);
        const platform built(d, firmware_of(d), {});
    }
}

void check_platforms(const plan& of) {
    std::map<std::vector<std::string>, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < of.points().points.size(); ++i) {
        std::vector<std::string> key;
        for (std::size_t column = 0; column < of.points().names.size(); ++column)
            if (is_structural(of.points().names[column])) key.push_back(of.points().points[i][column].text);
        alike[key].push_back(i);
    }
    for (const auto& [key, points] : alike) {
        const located* at = of.value(points.front(), "nodes");
        if (!at) at = of.value(points.front(), "design");
        located_errors(at ? *at : of.study().workload, [&] { check_platform(of, points); });
    }
}

/// What is the same everywhere alone, then each value of an argument with the first of the others; scripts
/// are executed, not run.
void check_workload(const plan& of) {
    const grid& all = of.points();
    const auto attempt = [&](std::size_t index, const std::vector<std::string>& arguments,
                             const located& at) {
        located_errors(at, [&] { load_workload(of.workload(), arguments, of.design_at(index), 1, false); });
    };
    std::vector<std::string> fixed;
    for (const auto& [name, value] : of.study().arguments) fixed.push_back(name + "=" + value.text);
    attempt(0, fixed, fixed.empty() ? of.study().workload : of.study().arguments.front().second);
    std::vector<std::size_t> every(all.points.size());
    std::iota(every.begin(), every.end(), std::size_t{0});
    for (std::size_t column = 0; column < all.names.size(); ++column) {
        if (!all.names[column].starts_with("arguments.") && all.names[column] != "nodes") continue;
        for (const std::size_t i : each_value(all, column, every))
            attempt(i, of.arguments_at(i), all.points[i][column]);
    }
}

void check_metrics(const plan& of) {
    for (const located& metric : of.study().metrics) {
        if (!metric.text.starts_with(account_prefix)) continue;
        if (!account_metric(metric.text))
            throw sim::input_error("{}: {}: expected account.STAGE.KIND, where KIND is one of {}",
                                   metric.origin, metric.text, fmt::join(account_kinds, ", "));
    }
}

void check_seeds(const plan& of) {
    for (std::size_t i = 0; i < of.points().points.size(); ++i)
        if (const located* const seed = of.value(i, "seed"))
            located_errors(*seed, [&] { parse_seed(seed->text); });
}

}  // namespace

void check(const plan& of) {
    check_metrics(of);
    check_seeds(of);
    check_workload(of);
    check_platforms(of);
}

}  // namespace vinic::testbench::study
