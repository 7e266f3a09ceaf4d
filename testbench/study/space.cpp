// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/space.h"

#include <algorithm>

#include "hw/sim/error.h"
#include "testbench/study/number.h"
#include "testbench/study/sampling.h"

namespace vinic::testbench::study {

namespace {

/// "66" and "66.0" are one value.
bool same(const std::string& a, const std::string& b) {
    if (a == b) return true;
    const auto x = number(a), y = number(b);
    return x && y && *x == *y;
}

std::optional<point> on_axis(const axis& of, const std::vector<std::string>& texts) {
    if (of.range) {
        const continuous_range& r = *of.range;
        const auto value = number(texts.front());
        if (!value || *value < r.from || *value > r.to || (r.whole && *value != std::floor(*value)))
            return {};
        return point{{fmt::format("{:.{}g}", *value, r.whole ? 17 : 6), of.origin}};
    }
    const auto fits = [&](const point& step) {
        return std::ranges::equal(step, texts, same, &located::text);
    };
    const auto step = std::ranges::find_if(of.steps, fits);
    return step == of.steps.end() ? std::nullopt : std::optional(*step);
}

std::string expected(const axis& of) {
    if (of.range)
        return fmt::format("a {}number from {} to {}", of.range->whole ? "whole " : "", of.range->from,
                           of.range->to);
    std::vector<std::string> all;
    for (const point& step : of.steps) {
        std::vector<std::string> texts;
        for (const located& value : step) texts.push_back(value.text);
        all.push_back(fmt::format("{}", fmt::join(texts, ", ")));
    }
    return fmt::format("{}", fmt::join(all, of.names.size() > 1 ? " or " : ", "));
}

}  // namespace

space::space(const study_file& of) {
    study_file once = of;
    once.repeats = 1;
    axes_ = axes_of(once);
    for (const axis& one : axes_) names_.insert(names_.end(), one.names.begin(), one.names.end());
}

bool space::has_numbers(std::size_t name) const {
    for (const axis& one : axes_) {
        if (name < one.names.size())
            return one.range || std::ranges::all_of(one.steps, [&](const point& step) {
                       return number(step[name].text).has_value();
                   });
        name -= one.names.size();
    }
    return false;
}

std::optional<point> space::find(const std::vector<std::string>& texts) const {
    point found;
    auto from = texts.begin();
    for (const axis& one : axes_) {
        const auto to = from + static_cast<std::ptrdiff_t>(one.names.size());
        const auto values = on_axis(one, {from, to});
        if (!values) return std::nullopt;
        found.insert(found.end(), values->begin(), values->end());
        from = to;
    }
    return found;
}

point space::read(const json& values, const std::string& origin) const {
    if (!values.is_object())
        throw sim::input_error("{}: expected names and values, as in {{\"{}\": ...}}", origin,
                               names_.front());
    for (const auto& [name, value] : values.items())
        if (std::ranges::find(names_, name) == names_.end()) {
            const std::string near = sim::nearest_name(name, names_);
            throw sim::input_error("{}: no axis is named '{}'; {}", origin, name,
                                   near.empty() ? fmt::format("there are {}", fmt::join(names_, ", "))
                                                : fmt::format("did you mean '{}'?", near));
        }
    point read;
    for (const axis& one : axes_) {
        std::vector<std::string> texts;
        for (const auto& name : one.names) {
            if (!values.contains(name)) throw sim::input_error("{}: no value of {}", origin, name);
            texts.push_back(text_of(values[name]));
        }
        const auto found = on_axis(one, texts);
        if (!found)
            throw sim::input_error("{}: {} is {}: expected {}", origin, fmt::join(one.names, ", "),
                                   fmt::join(texts, ", "), expected(one));
        read.insert(read.end(), found->begin(), found->end());
    }
    return read;
}

json space::to_json() const {
    json all = json::array();
    for (const axis& one : axes_) {
        json is{{"names", one.names}};
        if (one.range) {
            is.update({{"from", one.range->from},
                       {"to", one.range->to},
                       {"scale", one.range->logarithmic ? "log" : "linear"},
                       {"whole", one.range->whole}});
        } else {
            for (const point& step : one.steps) {
                json values = json::array();
                for (const located& value : step) values.push_back(value.text);
                is["values"].push_back(std::move(values));
            }
        }
        all.push_back(std::move(is));
    }
    return all;
}

}  // namespace vinic::testbench::study
