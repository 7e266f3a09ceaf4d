// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/search.h"

#include <algorithm>
#include <limits>
#include <set>

#include "hw/sim/error.h"
#include "testbench/study/number.h"

namespace vinic::testbench::study {

namespace {

const study_file& with_goals(const study_file& of) {
    if (!of.optimise)
        throw sim::input_error(
            "{}: no key `optimise`, as in `optimise: {{minimise: [latency_us size_bytes=8]}}`",
            of.path.string());
    return of;
}

/// What a configuration has under each name, when it has all.
std::optional<std::vector<std::string>> texts_in(const json& configuration,
                                                 const std::vector<std::string>& names) {
    static const std::string argument = "arguments.";
    std::vector<std::string> texts;
    for (const auto& name : names) {
        const bool is_argument = name.starts_with(argument);
        const bool at_top = name == "design" || name == "nodes" || name == "seed";
        const char* const part = is_argument ? "arguments" : "parameters";
        const json& in = at_top ? configuration : configuration.value(part, json::object());
        const std::string key = is_argument ? name.substr(argument.size()) : name;
        if (!in.contains(key)) return std::nullopt;
        texts.push_back(text_of(in[key]));
    }
    return texts;
}

std::vector<std::string> texts_of(const point& p) {
    std::vector<std::string> texts;
    for (const located& value : p) texts.push_back(value.text);
    return texts;
}

}  // namespace

std::map<std::string, const point_record*> by_key(const std::vector<point_record>& records) {
    std::map<std::string, const point_record*> all;
    for (const auto& r : records) all[r.key] = &r;
    return all;
}

search::search(study_file of) : study_(with_goals(of)), space_(study_), optimiser_(study_) {
    for (const goal_text& text : study_.optimise->goals) goals_.emplace_back(text, space_);
    generation_ = optimiser_.ask();
    if (generation_.empty())
        throw sim::input_error("{}: `only` leaves no point",
                               study_.only.empty() ? study_.path.string() : study_.only.front().origin);
}

plan search::plan_of(const std::vector<point>& points) const {
    grid all{.names = space_.names()};
    if (study_.repeats > 1) all.names.emplace_back("seed");
    for (const point& p : points)
        for (std::uint64_t seed = 1; seed <= study_.repeats; ++seed) {
            all.points.push_back(p);
            if (study_.repeats > 1) all.points.back().push_back({std::to_string(seed), study_.path.string()});
        }
    return plan(study_, std::move(all));
}

std::optional<std::vector<double>> search::values(
    const plan& of, std::size_t number, const std::map<std::string, const point_record*>& by_key) const {
    std::vector<double> sums(goals_.size(), 0);
    for (std::size_t seed = 0; seed < seeds(); ++seed) {
        const std::size_t index = number * seeds() + seed;
        const auto found = by_key.find(of.at(index).key);
        if (found == by_key.end()) return std::nullopt;
        for (std::size_t i = 0; i < goals_.size(); ++i) {
            const auto value = goals_[i].value(of.points().points[index], *found->second);
            if (!value) return std::nullopt;
            sums[i] += *value;
        }
    }
    for (double& sum : sums) sum /= static_cast<double>(seeds());
    return sums;
}

costs search::cost(const std::optional<std::vector<double>>& values) const {
    if (!values) return costs(goals_.size(), std::numeric_limits<double>::infinity());
    costs all = *values;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (goals_[i].maximise()) all[i] = -all[i];
    return all;
}

void search::advance(const std::vector<point_record>& records) {
    const auto known = by_key(records);
    const plan now = generation();
    std::vector<const point_record*> ran;
    for (std::size_t i = 0; i < now.points().points.size(); ++i) ran.push_back(known.at(now.at(i).key));
    for (const goal& one : goals_) one.check(ran);
    std::vector<costs> results;
    for (std::size_t i = 0; i < generation_.size(); ++i) results.push_back(cost(values(now, i, known)));
    optimiser_.tell(results);
    asked_.insert(asked_.end(), generation_.begin(), generation_.end());
    generation_ = optimiser_.ask();
}

void search::replay(const std::vector<point_record>& records) {
    std::set<std::string> known;
    for (const auto& r : records) known.insert(r.key);
    const auto complete = [&] {
        const plan now = generation();
        for (std::size_t i = 0; i < now.points().points.size(); ++i)
            if (!known.contains(now.at(i).key)) return false;
        return true;
    };
    while (goes_on() && complete()) advance(records);
}

plan search::all_points(const std::vector<point_record>& records) const {
    std::vector<point> all = asked_;
    all.insert(all.end(), generation_.begin(), generation_.end());
    std::set<std::vector<std::string>> known, others;
    for (const point& p : all) known.insert(texts_of(p));
    for (const auto& r : records) {
        const auto texts = texts_in(r.configuration, space_.names());
        const auto found = texts ? space_.find(*texts) : std::nullopt;
        if (!found || known.contains(texts_of(*found))) continue;
        const plan alone = plan_of({*found});
        for (std::size_t seed = 0; seed < seeds(); ++seed)
            if (alone.at(seed).key == r.key) others.insert(texts_of(*found));
    }
    for (const auto& texts : others) all.push_back(*space_.find(texts));
    return plan_of(all);
}

}  // namespace vinic::testbench::study
