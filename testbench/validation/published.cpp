// SPDX-License-Identifier: Apache-2.0
#include "testbench/validation/published.h"

#include <algorithm>
#include <set>

#include "testbench/cli/paths.h"
#include "testbench/report/table.h"
#include "testbench/validation/figures.h"

namespace vinic::testbench::validation {

namespace {

/// Arguments that choose rows and how many messages make one: they change no figure.
bool chooses_rows(const std::string& argument) { return argument == "sizes" || argument == "count"; }

using values = std::set<std::pair<std::string, std::string>>;

/// Whether a study asks for the same measurement: its workload, arguments and parameters, where they do not
/// vary, are those of the figure's run.
bool same_measurement(const run_recipe& run, const study::study_file& study) {
    if (run.workload.text != study.workload.text) return false;
    values of_run(run.settings.begin(), run.settings.end()), of_study;
    for (const auto& [name, value] : run.arguments)
        if (!chooses_rows(name)) of_run.emplace("arguments." + name, value);
    for (const auto& [name, value] : study.parameters) of_study.emplace(name, value.text);
    for (const auto& [name, value] : study.arguments)
        if (!chooses_rows(name)) of_study.emplace("arguments." + name, value.text);
    return of_run == of_study;
}

bool is_shown(const figure& one) {
    const bool known = one.evidence == evidence::seen || one.evidence == evidence::derived;
    return known && one.measure && !one.over && one.measure->what != measure::kind::half_peak && one.least &&
           one.most && heading(one.measure->column).ends_with("(" + one.unit + ")");
}

}  // namespace

json published_for(const study::plan& of) {
    const figures_file known =
        read_figures(folders().workloads.parent_path() / "validation" / "figures.yaml");
    std::set<std::string> designs;
    for (std::size_t i = 0; i < of.points().points.size(); ++i) designs.insert(of.at(i).design);
    json all = json::array();
    for (const figure& one : known.figures) {
        if (!is_shown(one) || !designs.contains(one.measure->design.text)) continue;
        if (!same_measurement(known.runs.at(one.measure->run), of.study())) continue;
        json row = json::object();
        for (const auto& [name, value] : one.measure->row) row[name] = value;
        all.push_back(
            {{"what", one.what},
             {"design", one.measure->design.text},
             {"column", one.measure->column},
             {"row", row},
             {"least", *one.least},
             {"most", *one.most},
             {"unit", one.unit},
             {"evidence", one.evidence == evidence::seen ? "Seen" : "Derived from figures that were seen"},
             {"fitted", one.fitted},
             {"source", one.source}});
    }
    return all;
}

}  // namespace vinic::testbench::validation
