// SPDX-License-Identifier: Apache-2.0
// Pareto ranks, the optimiser, goals and the space of a search, as algorithms.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "hw/sim/error.h"
#include "testbench/study/goal.h"
#include "testbench/study/optimiser.h"
#include "testbench/study/pareto.h"
#include "testbench/study/space.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench::study {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

TEST(pareto, ranks_peel_fronts_off) {
    // 0, 1 and 2 are a front; 3 is beaten by 1 alone, 4 by all but 0, and 5 by everybody.
    const std::vector<costs> all{{1, 9}, {2, 4}, {6, 1}, {3, 5}, {7, 6}, {infinite, infinite}};
    EXPECT_EQ(ranks_of(all), (std::vector<std::size_t>{0, 0, 0, 1, 2, 3}));
    EXPECT_EQ(front_of(all), (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_EQ(front_of({{2, 2}, {1, 2}, {1, 2}}), (std::vector<std::size_t>{1, 2})) << "equal ones both stay";
    EXPECT_EQ(front_of({{infinite, infinite}}), std::vector<std::size_t>{});
    EXPECT_FALSE(dominates({1, 2}, {1, 2})) << "equal points do not beat each other";
    EXPECT_TRUE(dominates({1, 2}, {1, 3}));
    EXPECT_EQ(ranks_of({}), std::vector<std::size_t>{});
}

TEST(pareto, crowding_is_the_extent_of_the_neighbours) {
    const std::vector<costs> front{{0, 10}, {2, 4}, {5, 3}, {10, 0}};
    const auto crowding = crowding_of(front, {0, 0, 0, 0});
    EXPECT_EQ(crowding[0], infinite);
    EXPECT_EQ(crowding[3], infinite);
    EXPECT_DOUBLE_EQ(crowding[1], 5.0 / 10 + 7.0 / 10);
    EXPECT_DOUBLE_EQ(crowding[2], 8.0 / 10 + 4.0 / 10);
}

class study_search_test : public testing::Test {
protected:
    study_file read(const std::string& text) const {
        folder_.write("s.yaml", "workload: pingpong\n" + text);
        return read_study(folder_.folder() / "s.yaml");
    }
    std::string error_of(const std::string& text) const {
        try {
            const study_file s = read(text);
            const space in(s);
            for (const auto& from : s.optimise->goals) goal(from, in);
        } catch (const sim::input_error& error) {
            const std::string what = error.what(), path = folder_.folder().string() + "/";
            return what.starts_with(path) ? what.substr(path.size()) : what;
        }
        return "no error";
    }
    program folder_;
};

double value_of(const point& p, std::size_t axis) { return std::stod(p[axis].text); }

/// All points that the optimiser asks for, when `cost` says what they cost.
template <typename Cost>
std::vector<point> searched(const study_file& of, Cost&& cost) {
    optimiser o(of);
    std::vector<point> all;
    for (auto asked = o.ask(); !asked.empty(); asked = o.ask()) {
        std::vector<costs> results;
        for (const point& p : asked) results.push_back(cost(p));
        all.insert(all.end(), asked.begin(), asked.end());
        o.tell(results);
    }
    return all;
}

TEST_F(study_search_test, finds_the_front_of_two_goals) {
    // Schaffer's problem: x² against (x - 2)²; the front is 0 <= x <= 2, a hundredth of the axis.
    const study_file s = read(
        "axes: [{a.x: {from: -100.0, to: 100}}]\n"
        "optimise: {minimise: [f, g], budget: 320, population: 20}\n");
    const auto all = searched(s, [](const point& p) {
        const double x = value_of(p, 0);
        return costs{x * x, (x - 2) * (x - 2)};
    });
    ASSERT_EQ(all.size(), 320u);
    const auto on_front = [](const point& p) { return value_of(p, 0) >= 0 && value_of(p, 0) <= 2; };
    EXPECT_GE(std::ranges::count_if(all, on_front), 32) << "by chance: 3";
}

TEST_F(study_search_test, finds_the_best_of_one_goal) {
    const study_file s = read(
        "axes:\n - a.x: {from: 0.0, to: 10}\n - a.y: {from: 1.0, to: 1000, scale: log}\n"
        "optimise: {minimise: f, budget: 200}\n");
    double best = infinite;
    searched(s, [&](const point& p) {
        const double x = value_of(p, 0) - 7, y = std::log10(value_of(p, 1)) - 2;
        best = std::min(best, x * x + y * y);
        return costs{x * x + y * y};
    });
    EXPECT_LT(best, 0.01) << "a hundredth of what a grid of 200 points has between two of its lines";
}

TEST_F(study_search_test, no_point_comes_twice_and_a_small_space_is_searched_whole) {
    const study_file s = read(
        "axes:\n - a.x: [1, 2, 3, 4]\n - {a.y: [1, 2], a.z: [p, q]}\n - a.w: [1, 2, 3]\n"
        "only: ['a.x ~= 2']\noptimise: {minimise: f, budget: 1000}\n");
    std::set<std::vector<std::string>> seen;
    const auto all = searched(s, [&](const point& p) {
        std::vector<std::string> texts;
        for (const auto& value : p) texts.push_back(value.text);
        EXPECT_TRUE(seen.insert(texts).second);
        EXPECT_EQ(p[1].text == "1", p[2].text == "p") << "names of one entry advance together";
        return costs{value_of(p, 0)};
    });
    EXPECT_EQ(all.size(), 3u * 2 * 3);
}

TEST_F(study_search_test, the_same_results_give_the_same_points) {
    const auto texts = [&](const char* seed) {
        const study_file s = read(std::string("axes: [{a.x: {from: 0.0, to: 1}}, {a.y: {from: 0, to: 999}}]\n"
                                              "optimise: {minimise: [f, g], budget: 60, seed: ") +
                                  seed + "}\n");
        std::string all;
        for (const auto& p : searched(s, [](const point& at) {
                 return costs{value_of(at, 0), value_of(at, 1) * (1 - value_of(at, 0))};
             }))
            all += p[0].text + " " + p[1].text + "\n";
        return all;
    };
    EXPECT_EQ(texts("1"), texts("1"));
    EXPECT_NE(texts("1"), texts("2"));
}

TEST_F(study_search_test, points_are_read_against_the_axes) {
    const space in(
        read("axes:\n - bus.clock_mhz: [33, 66]\n - {a.y: [1, 2], a.z: [p, q]}\n"
             " - a.r: {from: 1, to: 9}\noptimise: {minimise: f}\n"));
    const json good{{"a.r", 4.0}, {"bus.clock_mhz", 66}, {"a.y", "2"}, {"a.z", "q"}};
    const point p = in.read(good, "here");
    EXPECT_EQ(p[0].text + p[1].text + p[2].text + p[3].text, "662q4");
    const auto error = [&](const char* name, const json& value) {
        json bad = good;
        if (value.is_null())
            bad.erase(name);
        else
            bad[name] = value;
        try {
            in.read(bad, "here");
        } catch (const sim::input_error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_EQ(error("bus.clock_mhz", 50), "here: bus.clock_mhz is 50: expected 33, 66");
    EXPECT_EQ(error("a.z", "p"), "here: a.y, a.z is 2, p: expected 1, p or 2, q");
    EXPECT_EQ(error("a.r", 4.5), "here: a.r is 4.5: expected a whole number from 1 to 9");
    EXPECT_EQ(error("a.r", "many"), "here: a.r is many: expected a whole number from 1 to 9");
    EXPECT_EQ(error("a.r", nullptr), "here: no value of a.r");
    EXPECT_EQ(error("bus.clok_mhz", 3),
              "here: no axis is named 'bus.clok_mhz'; did you mean 'bus.clock_mhz'?");
}

TEST_F(study_search_test, goals_are_numbers_of_one_row) {
    const study_file s = read(
        "axes: [{bus.clock_mhz: [33, 66]}]\noptimise:\n"
        "  minimise: [latency_us size_bytes=8, bus.clock_mhz, account.core.mean]\n"
        "  maximise: latency_us\n");
    const space in(s);
    std::vector<goal> goals;
    for (const auto& from : s.optimise->goals) goals.emplace_back(from, in);
    const point at{{"66", "here"}};
    point_record r{.status = "done"};
    for (int bytes : {8, 64}) {
        r.metrics.push_back({1, {{"size_bytes", bytes}}, "latency_us", bytes * 0.5});
        r.metrics.push_back({1, {{"size_bytes", bytes}}, "min_us", 1});
    }
    r.metrics.push_back({0, {{"size_bytes", 8}}, "account.core.mean_ps", 7});
    EXPECT_EQ(goals[0].value(at, r), 4);
    EXPECT_EQ(goals[1].value(at, r), 66);
    EXPECT_EQ(goals[2].value(at, r), 7);
    EXPECT_TRUE(goals[3].maximise());
    EXPECT_THROW(goals[3].value(at, r), sim::input_error) << "which row?";
    ASSERT_EQ(s.metrics.size(), 1u) << "what only a request brings is requested";
    EXPECT_EQ(s.metrics[0].text, "account.core.mean");
    r.status = "crashed";
    EXPECT_EQ(goals[1].value(at, r), std::nullopt);
}

TEST_F(study_search_test, wrong_searches_are_named) {
    EXPECT_EQ(error_of("optimise: {minimise: f}\n"), "s.yaml:2: optimise: expected `axes` to move on");
    const std::string axes = "axes: [{bus.kind: [pci, pcix]}]\n";
    EXPECT_EQ(
        error_of(axes + "optimise: {budget: 3}\n"),
        "s.yaml:3: optimise: expected minimise or maximise, as in `minimise: [latency_us size_bytes=8]`");
    EXPECT_EQ(error_of(axes + "optimise: {minimize: f}\n"),
              "s.yaml:3: no key is named 'minimize'; did you mean 'minimise'?");
    EXPECT_EQ(error_of(axes + "optimise: {minimise: f, budget: 0}\n"),
              "s.yaml:3: budget: expected a whole number from 1 to 1000000");
    EXPECT_EQ(error_of(axes + "optimise: {minimise: bus.kind}\n"),
              "s.yaml:3: bus.kind: this axis has values that are no numbers");
    EXPECT_EQ(error_of(axes + "optimise: {minimise: latency_us 8}\n"),
              "s.yaml:3: 'latency_us 8': expected a metric and its row, as in `latency_us size_bytes=8`");
    EXPECT_EQ(error_of(axes + "sample: {points: 3}\noptimise: {minimise: f}\n"),
              "s.yaml:4: expected `sample` or `optimise`, not both");
    EXPECT_EQ(
        error_of(axes + "sensitivity: {}\n"),
        "s.yaml:3: sensitivity changes parameters one by one: expected no axes, only, sample or optimise");
    EXPECT_EQ(error_of("sensitivity: {change: 0%}\n"),
              "s.yaml:2: change is '0%': expected a share above 0 and below 100, such as 10%");
    EXPECT_EQ(error_of("sensitivity: {ranges: {bus.clock_mhz: [33]}}\n"),
              "s.yaml:2: bus.clock_mhz: expected two values, as in [100, 200]");
}

}  // namespace
}  // namespace vinic::testbench::study
