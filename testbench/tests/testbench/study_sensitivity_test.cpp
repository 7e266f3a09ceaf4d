// SPDX-License-Identifier: Apache-2.0
// Which values a study of sensitivity tries, and what effects follow from results.
#include <gtest/gtest.h>

#include <algorithm>

#include "hw/sim/error.h"
#include "testbench/study/effects.h"
#include "testbench/study/perturbation.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench::study {
namespace {

class study_sensitivity_test : public testing::Test {
protected:
    study_file read(const std::string& text) const {
        folder_.write("s.yaml", "workload: pingpong\n" + text);
        return read_study(folder_.folder() / "s.yaml");
    }
    static std::string tried(const perturbations& in, const std::string& name) {
        const auto found = std::ranges::find(in.parameters, name, &perturbed_parameter::name);
        if (found == in.parameters.end()) {
            const auto out =
                std::ranges::find(in.left_out, name, &std::pair<std::string, std::string>::first);
            return out == in.left_out.end() ? "unknown" : out->second;
        }
        std::string text = found->by_share ? "share" : "near";
        for (const auto& value : found->values) text += " " + value;
        return text;
    }
    program folder_;
};

TEST_F(study_sensitivity_test, values_follow_type_and_range) {
    const auto changes =
        perturb(read("parameters: {nic.lanai.clock_mhz: 100, host.cpu.copy_bytes_per_clock: 0.4,\n"
                     "  nic.dma.setup_clocks: 8, nic.dma.trigger_clocks: 4,\n"
                     "  nic.lanai.load_slots: 1, bus.latency_timer_clocks: 250}\n"
                     "sensitivity: {change: 10%, ranges: {vipl.post_clocks: [60, 240]}}\n"));
    EXPECT_EQ(tried(changes, "nic.lanai.clock_mhz"), "share 90 110");
    EXPECT_EQ(tried(changes, "host.cpu.copy_bytes_per_clock"), "share 0.36 0.44");
    EXPECT_EQ(tried(changes, "nic.dma.setup_clocks"), "share 7 9") << "an eighth is nearly a tenth";
    EXPECT_EQ(tried(changes, "nic.dma.trigger_clocks"), "near 3 5") << "a quarter is not";
    EXPECT_EQ(tried(changes, "nic.lanai.load_slots"), "near 2") << "from 1 to 4: nothing is below";
    EXPECT_EQ(tried(changes, "bus.latency_timer_clocks"), "share 225 255") << "no further than its range";
    EXPECT_EQ(tried(changes, "bus.clock_mhz"), "near 33 100") << "66, of 33, 66, 100 and 133";
    EXPECT_EQ(tried(changes, "bus.kind"), "near pcix");
    EXPECT_EQ(tried(changes, "bus.free"), "near true");
    EXPECT_EQ(tried(changes, "vipl.post_clocks"), "share 60 240");
    EXPECT_EQ(tried(changes, "link.drop_rate"), "0, which has no share");
    EXPECT_EQ(tried(changes, "fabric.cable0.drop_rate"), "unknown") << "all cables change together";
}

TEST_F(study_sensitivity_test, parameters_are_chosen_by_pattern_and_points_repeat_by_seed) {
    const study_file s = read("repeats: 2\nsensitivity: {change: 50%, parameters: ['nic.dma.*_clocks']}\n");
    const auto changes = perturb(s);
    ASSERT_EQ(changes.parameters.size(), 3u);
    const grid points = expand(changes, s);
    EXPECT_EQ(points.names, (std::vector<std::string>{"parameter", "value", "seed"}));
    EXPECT_EQ(points.points.size(), 2u * (1 + 3 * 2));
    EXPECT_EQ(points.points[0][0].text, "") << "first the design as it is";
    const plan all(s, points);
    EXPECT_FALSE(all.at(0).configuration.contains("parameters"));
    EXPECT_EQ(all.at(3).configuration["parameters"].size(), 1u);
    EXPECT_EQ(all.at(3).configuration["seed"], 2);
}

TEST_F(study_sensitivity_test, wrong_names_and_ranges_are_named) {
    const auto error = [&](const std::string& text) {
        try {
            perturb(read("sensitivity: " + text + "\n"));
        } catch (const sim::input_error& e) {
            const std::string what = e.what();
            return what.substr(what.find("s.yaml"));
        }
        return std::string();
    };
    EXPECT_EQ(error("{parameters: [bus.clok_mhz]}"),
              "s.yaml:2: no parameter is named 'bus.clok_mhz'; did you mean 'bus.clock_mhz'?");
    EXPECT_EQ(error("{ranges: {bus.clok_mhz: [33, 66]}}"),
              "s.yaml:2: no parameter is named 'bus.clok_mhz'; did you mean 'bus.clock_mhz'?");
    EXPECT_EQ(error("{ranges: {bus.clock_mhz: [33, 50]}}"),
              "s.yaml:2: node0.bus.clock_mhz = 50 is out of range: expected 33, 66, 100, 133 in MHz");
}

/// A table as of a study with one metric and one row: the design gives 10.
study_table table_with(const std::vector<std::tuple<std::string, std::string, double>>& changes) {
    study_table t{.axes = {"parameter", "value"}, .keys = {"size_bytes"}, .metrics = {"latency_us"}};
    t.lines.push_back({1, "done", {"", ""}, {8}, {10.0}});
    for (const auto& [parameter, value, metric] : changes)
        t.lines.push_back(
            {t.lines.size() + 1, metric < 0 ? "bad input" : "done", {parameter, value}, {8}, {metric}});
    return t;
}

TEST_F(study_sensitivity_test, effects_are_sorted_and_parameters_without_stand_apart) {
    perturbations changes;
    changes.parameters = {{"a.small", "", "100", {"90", "110"}, true},
                          {"a.large", "clocks", "200", {"180", "220"}, true},
                          {"a.none", "", "50", {"45", "55"}, true},
                          {"a.flag", "", "false", {"true"}, false},
                          {"a.broken", "", "30", {"27", "33"}, true}};
    const auto table = table_with({{"a.small", "90", 9.9},
                                   {"a.small", "110", 10.1},
                                   {"a.large", "180", 11},
                                   {"a.large", "220", 9.5},
                                   {"a.none", "45", 10},
                                   {"a.none", "55", 10},
                                   {"a.flag", "true", 7},
                                   {"a.broken", "27", -1},
                                   {"a.broken", "33", 10.5}});
    const auto all = effects_of(table, changes);
    ASSERT_EQ(all.size(), 1u);
    const effects& of = all[0];
    EXPECT_EQ(of.base, 10);
    ASSERT_EQ(of.by_share.size(), 3u);
    EXPECT_EQ(of.by_share[0].parameter.name, "a.large");
    EXPECT_DOUBLE_EQ(of.by_share[0].percent, 15);
    EXPECT_DOUBLE_EQ(*of.by_share[0].elasticity, -0.75) << "15 % less for 20 % more";
    EXPECT_EQ(of.by_share[1].parameter.name, "a.broken") << "one side of it ended well";
    EXPECT_DOUBLE_EQ(*of.by_share[1].elasticity, 0.5) << "5 % more for 10 % more";
    EXPECT_EQ(of.by_share[2].parameter.name, "a.small");
    ASSERT_EQ(of.others.size(), 1u);
    EXPECT_DOUBLE_EQ(of.others[0].percent, 30);
    EXPECT_FALSE(of.others[0].elasticity);
    EXPECT_EQ(of.none, std::vector<std::string>{"a.none"});
    EXPECT_EQ(apart(changes, table)["failures"],
              json({{{"point", 9}, {"parameter", "a.broken"}, {"value", "27"}, {"status", "bad input"}}}));
    const std::string text = to_text(of, 10, false);
    EXPECT_NE(text.find("++++++++|----------------\n"), std::string::npos) << "more: 9.5; less: 11\n" << text;
    EXPECT_NE(text.find("Without effect: a.none\n"), std::string::npos);
}

}  // namespace
}  // namespace vinic::testbench::study
