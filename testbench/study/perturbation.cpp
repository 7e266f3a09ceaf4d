// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/perturbation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "hw/sim/card_name.h"
#include "hw/sim/error.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter_check.h"
#include "testbench/platform/platform.h"
#include "testbench/platform/setup.h"
#include "testbench/study/metrics.h"
#include "testbench/study/number.h"
#include "testbench/study/plan.h"

namespace vinic::testbench::study {

namespace {

/// A rounded change counts as one by the stated share up to so many times that.
constexpr double most_rounding = 1.5;

struct named_parameter {
    std::string name;
    sim::parameter_info declared;
};

/// Parameters that have one value in all modules of their kind stand there once, under the common name.
std::vector<named_parameter> parameters_of(const sim::configuration& all) {
    std::map<std::string, std::set<std::string>> values;
    for (const auto& p : all.parameters()) values[common_name(p.name)].insert(p.value_text);
    std::vector<named_parameter> once;
    std::set<std::string> seen;
    for (const auto& p : all.parameters()) {
        const std::string common = common_name(p.name);
        const std::string name = values[common].size() == 1 ? common : p.name;
        if (seen.insert(name).second) once.push_back({name, p});
    }
    return once;
}

bool is_numeric(const sim::parameter_info& p) { return p.type == "integer" || p.type == "real"; }

/// The choices beside that of the design: of numbers the next ones, of others all.
std::vector<std::string> other_choices(const sim::parameter_info& p) {
    std::vector<std::string> all = sim::choices_of(p);
    if (!is_numeric(p)) {
        std::erase(all, p.value_text);
        return all;
    }
    const double is = *number(p.value_text);
    std::optional<std::string> below, above;
    for (const auto& choice : all) {
        const double value = *number(choice);
        if (value < is && (!below || value > *number(*below))) below = choice;
        if (value > is && (!above || value < *number(*above))) above = choice;
    }
    std::vector<std::string> near;
    if (below) near.push_back(*below);
    if (above) near.push_back(*above);
    return near;
}

/// Less and more by a share, whole where the parameter is, inside its range.
void change_by_share(perturbed_parameter& to, const sim::parameter_info& p, double share) {
    const double is = *number(p.value_text);
    const bool whole = p.type == "integer";
    const double step = whole ? std::max(1.0, std::round(is * share)) : is * share;
    const auto ends = *sim::ends_of(p);
    const double least = *number(ends.first), most = *number(ends.second);
    for (const double value : {std::max(is - step, least), std::min(is + step, most)})
        if (value != is)
            to.values.push_back(whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value));
    to.by_share = step <= is * share * most_rounding;
}

class perturbing {
public:
    explicit perturbing(const study_file& of)
        : study_(of), settings_(*of.sensitivity), base_(study_, grid{.points = {{}}}) {}

    perturbations all() {
        const design d = base_.design_at(0);
        platform built(d, firmware_of(d), {});
        const auto known = parameters_of(built.simulation().config());
        for (const located& pattern : settings_.parameters) check_pattern(pattern, known);
        for (const auto& range : settings_.ranges) check_range(range, known);
        for (const auto& one : known)
            if (wanted(one.name)) add(one);
        return std::move(found_);
    }

private:
    bool wanted(const std::string& name) const {
        const auto& patterns = settings_.parameters;
        return patterns.empty() || range_of(name) ||
               std::ranges::any_of(
                   patterns, [&](const located& pattern) { return metric_matches(pattern.text, name); });
    }

    const sensitivity::range* range_of(const std::string& name) const {
        const auto found = std::ranges::find(settings_.ranges, name, &sensitivity::range::name);
        return found == settings_.ranges.end() ? nullptr : &*found;
    }

    [[noreturn]] static void unknown(const std::string& origin, const std::string& name,
                                     const std::vector<named_parameter>& known) {
        std::set<std::string> names;
        for (const auto& one : known) names.insert(one.name);
        const std::string near = sim::nearest_name(name, names);
        throw sim::input_error("{}: no parameter is named '{}'{}", origin, name,
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
    }

    static void check_pattern(const located& pattern, const std::vector<named_parameter>& known) {
        if (std::ranges::none_of(known, [&](const auto& p) { return metric_matches(pattern.text, p.name); }))
            unknown(pattern.origin, pattern.text, known);
    }

    static void check_range(const sensitivity::range& range, const std::vector<named_parameter>& known) {
        const auto found = std::ranges::find(known, range.name, &named_parameter::name);
        if (found == known.end()) unknown(range.low.origin, range.name, known);
        for (const located* value : {&range.low, &range.high})
            if (const auto refused = sim::refusal_of(found->declared, value->text); !refused.empty())
                throw sim::input_error("{}: {}", value->origin, refused);
    }

    void add(const named_parameter& one) {
        const sim::parameter_info& p = one.declared;
        perturbed_parameter to{.name = one.name, .unit = p.unit, .value = p.value_text};
        if (const auto* const range = range_of(one.name)) {
            to.by_share = true;
            for (const located* value : {&range->low, &range->high})
                if (value->text != p.value_text) to.values.push_back(value->text);
        } else if (!is_numeric(p) || !sim::choices_of(p).empty()) {
            to.values = other_choices(p);
        } else if (*number(p.value_text) != 0) {
            change_by_share(to, p, settings_.change_percent / 100);
        }
        if (!to.values.empty())
            found_.parameters.push_back(std::move(to));
        else
            found_.left_out.emplace_back(one.name, !is_numeric(p)        ? "a text without choices"
                                                   : p.value_text == "0" ? "0, which has no share"
                                                                         : "no other value is allowed");
    }

    const study_file& study_;
    const sensitivity& settings_;
    plan base_;  ///< the design as the study has it
    perturbations found_;
};

}  // namespace

std::string common_name(const std::string& parameter) {
    for (std::size_t dot = parameter.rfind('.'); dot != std::string::npos;
         dot = parameter.rfind('.', dot - 1)) {
        const auto* const owner =
            dynamic_cast<sim::module*>(sc_core::sc_find_object(parameter.substr(0, dot).c_str()));
        if (!owner) continue;
        if (owner->parameter_alias().empty()) break;
        return owner->parameter_alias() + parameter.substr(dot);
    }
    return sim::without_card(parameter);
}

perturbations perturb(const study_file& of) { return perturbing(of).all(); }

grid expand(const perturbations& changes, const study_file& of) {
    const std::string& origin = of.sensitivity->origin;
    grid all{.names = {changed_parameter, changed_value}};
    all.points.push_back({{"", origin}, {"", origin}});
    for (const auto& p : changes.parameters)
        for (const auto& value : p.values) all.points.push_back({{p.name, origin}, {value, origin}});
    if (of.repeats == 1) return all;
    grid repeated{.names = all.names};
    repeated.names.emplace_back("seed");
    for (const auto& p : all.points)
        for (std::uint64_t seed = 1; seed <= of.repeats; ++seed) {
            repeated.points.push_back(p);
            repeated.points.back().push_back({std::to_string(seed), origin});
        }
    return repeated;
}

}  // namespace vinic::testbench::study
