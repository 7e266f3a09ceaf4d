// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/grid.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <set>

#include "hw/sim/error.h"
#include "hw/sim/random.h"
#include "testbench/lua/condition.h"

namespace vinic::testbench::study {

namespace {

constexpr std::size_t most_points = 1'000'000;

using point = std::vector<located>;

double fraction(sim::random_stream& stream) { return static_cast<double>(stream.next() >> 11) * 0x1p-53; }

/// The step of an axis at a share of its length, 0 to below 1.
point value_at(const axis& of, double share) {
    if (!of.range) {
        const auto last = of.steps.size() - 1;
        return of
            .steps[std::min(last, static_cast<std::size_t>(share * static_cast<double>(of.steps.size())))];
    }
    const continuous_range& r = *of.range;
    if (r.whole && !r.logarithmic)
        return {{fmt::format("{:.0f}", r.from + std::floor(share * (r.to - r.from + 1))), of.origin}};
    const double value =
        r.logarithmic ? r.from * std::pow(r.to / r.from, share) : r.from + share * (r.to - r.from);
    return {{r.whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value), of.origin}};
}

/// Shares for `count` points of one axis: independent, or one in each of `count` equal parts in random order.
std::vector<double> shares(std::size_t count, sampling method, sim::random_stream& stream) {
    std::vector<double> all(count);
    if (method == sampling::random) {
        for (double& share : all) share = fraction(stream);
        return all;
    }
    std::vector<std::size_t> part(count);
    std::iota(part.begin(), part.end(), std::size_t{0});
    for (std::size_t i = count; i > 1; --i) std::swap(part[i - 1], part[stream.below(i)]);
    for (std::size_t i = 0; i < count; ++i)
        all[i] = (static_cast<double>(part[i]) + fraction(stream)) / static_cast<double>(count);
    return all;
}

std::vector<point> sampled(const std::vector<axis>& axes, const sample& how) {
    std::vector<point> points(how.points);
    for (const axis& one : axes) {
        sim::random_stream stream(how.seed, one.names.front());
        const auto at = shares(how.points, how.method, stream);
        for (std::size_t i = 0; i < points.size(); ++i)
            for (const located& value : value_at(one, at[i])) points[i].push_back(value);
    }
    return points;
}

std::vector<point> combined(const std::vector<axis>& axes) {
    std::vector<point> points(1);
    for (const axis& one : axes) {
        if (points.size() * one.steps.size() > most_points)
            throw sim::input_error("{}: more than {} points; `sample` draws some of them", one.origin,
                                   most_points);
        std::vector<point> longer;
        for (const point& before : points)
            for (const point& step : one.steps) {
                longer.push_back(before);
                longer.back().insert(longer.back().end(), step.begin(), step.end());
            }
        points = std::move(longer);
    }
    return points;
}

std::vector<axis> axes_of(const study_file& study) {
    std::vector<axis> axes = study.axes;
    if (study.designs.size() > 1) {
        axis design{.names = {"design"}, .origin = study.designs.front().origin};
        for (const auto& one : study.designs) design.steps.push_back({one});
        axes.insert(axes.begin(), design);
    }
    if (study.repeats > 1) {
        axis seed{.names = {"seed"}, .origin = study.path.string()};
        for (std::uint64_t i = 1; i <= study.repeats; ++i)
            seed.steps.push_back({{std::to_string(i), study.path.string()}});
        axes.push_back(seed);
    }
    return axes;
}

class selection {
public:
    selection(const study_file& study, const std::vector<std::string>& names) : names_(names) {
        for (const auto& one : study.only) conditions_.emplace_back(one.text, one.origin);
    }
    bool keeps(const point& p) const {
        if (conditions_.empty()) return true;
        std::vector<std::pair<std::string, std::string>> values;
        for (std::size_t i = 0; i < names_.size(); ++i) values.emplace_back(names_[i], p[i].text);
        return std::ranges::all_of(conditions_, [&](const auto& c) { return c.holds(values); });
    }

private:
    const std::vector<std::string>& names_;
    std::deque<lua::condition> conditions_;
};

}  // namespace

std::size_t grid::column(const std::string& name) const {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

grid expand(const study_file& of) {
    grid all;
    std::vector<axis> axes = axes_of(of);
    for (const auto& one : axes) all.names.insert(all.names.end(), one.names.begin(), one.names.end());
    std::vector<point> points;
    if (of.sample) {  // repeats are of each point that was drawn
        std::vector<axis> repeats;
        if (of.repeats > 1) {
            repeats.push_back(axes.back());
            axes.pop_back();
        }
        for (const point& drawn : sampled(axes, *of.sample))
            for (const point& seed : combined(repeats)) {
                points.push_back(drawn);
                points.back().insert(points.back().end(), seed.begin(), seed.end());
            }
    } else {
        points = combined(axes);
    }
    const selection conditions(of, all.names);
    std::set<std::vector<std::string>> seen;
    for (point& p : points) {
        std::vector<std::string> texts;
        for (const auto& value : p) texts.push_back(value.text);
        if (!seen.insert(texts).second) continue;
        if (conditions.keeps(p))
            all.points.push_back(std::move(p));
        else
            ++all.dropped;
    }
    if (all.points.empty())
        throw sim::input_error("{}: `only` leaves none of {} points",
                               of.only.empty() ? of.path.string() : of.only.front().origin, points.size());
    return all;
}

}  // namespace vinic::testbench::study
