// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/grid.h"

#include <algorithm>
#include <set>

#include "hw/sim/error.h"
#include "hw/sim/random.h"
#include "testbench/study/conditions.h"
#include "testbench/study/sampling.h"

namespace vinic::testbench::study {

namespace {

constexpr std::size_t most_points = 1'000'000;

using point = std::vector<located>;

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
    const conditions wanted(of, all.names);
    std::set<std::vector<std::string>> seen;
    for (point& p : points) {
        std::vector<std::string> texts;
        for (const auto& value : p) texts.push_back(value.text);
        if (!seen.insert(texts).second) continue;
        if (wanted.keep(p))
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
