// SPDX-License-Identifier: Apache-2.0
// Study files: what they mean, and what is said about wrong ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hw/sim/error.h"
#include "testbench/cli/study_paths.h"
#include "testbench/study/check.h"
#include "testbench/study/grid.h"
#include "testbench/study/study_file.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench::study {
namespace {

class study_file_test : public testing::Test {
protected:
    study_file read(const std::string& text) const {
        folder_.write("s.yaml", text);
        return read_study(folder_.folder() / "s.yaml");
    }
    /// The values of all points, as "33 pci/66 pci".
    std::string points_of(const std::string& text) const {
        std::string all;
        for (const auto& point : expand(read("workload: pingpong\n" + text)).points) {
            if (!all.empty()) all += '/';
            for (std::size_t i = 0; i < point.size(); ++i) all += (i ? " " : "") + point[i].text;
        }
        return all;
    }
    /// What is said about it, without the folder's name.
    std::string error_of(const std::string& text) const {
        try {
            expand(read(text));
        } catch (const sim::input_error& error) {
            std::string what = error.what();
            const std::string path = folder_.folder().string() + "/";
            if (const auto at = what.find(path); at != std::string::npos) what.erase(at, path.size());
            return what;
        }
        return "no error";
    }

    program folder_;
};

TEST_F(study_file_test, keys_are_read_with_their_places) {
    const study_file s = read(
        "question: Does it pay?\ndesign: [myvia, ./mine.yaml]\nworkload: stream\nnodes: 2\n"
        "parameters: {bus.width_bits: 32}\narguments:\n  sizes: [8, 64]\naxes:\n  - bus.clock_mhz: [33, 66]\n"
        "repeats: 3\nmetrics: [latency_us]\nlimits: {time: 2min, memory: 3GB}\n");
    EXPECT_EQ(s.question, "Does it pay?");
    ASSERT_EQ(s.designs.size(), 2u);
    EXPECT_EQ(s.designs[1].text, "./mine.yaml");
    EXPECT_EQ(s.workload.text, "stream");
    EXPECT_EQ(s.nodes->text, "2");
    EXPECT_EQ(s.parameters[0].first, "bus.width_bits");
    EXPECT_EQ(s.arguments[0].second.text, "8,64");
    EXPECT_TRUE(s.arguments[0].second.origin.ends_with("s.yaml:7")) << s.arguments[0].second.origin;
    EXPECT_TRUE(s.axes[0].steps[1][0].origin.ends_with("s.yaml:9"));
    EXPECT_EQ(s.repeats, 3u);
    EXPECT_EQ(s.metrics[0].text, "latency_us");
    EXPECT_EQ(s.limits.seconds, 120);
    EXPECT_EQ(s.limits.memory_bytes, std::uint64_t{3} << 30);
}

TEST_F(study_file_test, lists_and_ranges) {
    EXPECT_EQ(points_of("axes: [{nodes: [2, 4]}]"), "2/4");
    EXPECT_EQ(points_of("axes: {nodes: 3}"), "3");
    EXPECT_EQ(points_of("axes: [{a.b: {from: 2, to: 8, step: 3}}]"), "2/5/8");
    EXPECT_EQ(points_of("axes: [{a.b: {from: 2, to: 9, step: 3}}]"), "2/5/8");
    EXPECT_EQ(points_of("axes: [{a.b: {from: 0.1, to: 0.5, step: 0.1}}]"), "0.1/0.2/0.3/0.4/0.5");
    EXPECT_EQ(points_of("axes: [{a.b: {from: 0, to: 10, points: 5}}]"), "0/2/5/8/10");
    EXPECT_EQ(points_of("axes: [{a.b: {from: 0.0, to: 10, points: 5}}]"), "0/2.5/5/7.5/10");
    EXPECT_EQ(points_of("axes: [{a.b: {from: 1, to: 1000, points: 4, scale: log}}]"), "1/10/100/1000");
    EXPECT_EQ(points_of("axes: [{a.b: {from: 5, to: 70, scale: powers_of_two}}]"), "8/16/32/64");
    EXPECT_EQ(points_of("axes: [{a.b: {from: 1, to: 3, points: 9}}]"), "1/2/3") << "the same value once only";
    EXPECT_EQ(points_of("axes: [{arguments.sizes: [[0, 8], [4096]]}]"), "0,8/4096");
}

TEST_F(study_file_test, axes_combine_and_names_of_one_entry_advance_together) {
    EXPECT_EQ(points_of("axes:\n - bus.clock_mhz: [33, 66]\n - nodes: [2, 3]"), "33 2/33 3/66 2/66 3");
    EXPECT_EQ(points_of("axes:\n - {bus.clock_mhz: [33, 133], bus.kind: [pci, pcix]}\n - nodes: [2, 3]"),
              "33 pci 2/33 pci 3/133 pcix 2/133 pcix 3");
    EXPECT_EQ(points_of("design: [a, b]\nrepeats: 2\naxes: [{nodes: [2, 4]}]"),
              "a 2 1/a 2 2/a 4 1/a 4 2/b 2 1/b 2 2/b 4 1/b 4 2");
    EXPECT_EQ(points_of("arguments: {count: 3}"), "") << "one point without any axis";
}

TEST_F(study_file_test, conditions_select) {
    const std::string axes = "axes:\n - bus.clock_mhz: [33, 66, 133]\n - bus.kind: [pci, pcix]\n";
    EXPECT_EQ(points_of(axes + "only: bus.clock_mhz <= 66 or bus.kind == \"pcix\""),
              "33 pci/33 pcix/66 pci/66 pcix/133 pcix");
    EXPECT_EQ(points_of(axes + "only: [bus.clock_mhz > 33, 'bus.kind ~= \"pci\"']"), "66 pcix/133 pcix");
    EXPECT_EQ(points_of("axes: [{a.on: [true, false]}, {nodes: [2, 4]}]\nonly: a.on and nodes // 4 == 1"),
              "true 4");
    EXPECT_EQ(points_of("axes: [{a.n: [3, 4]}]\nonly: math.fmod(a.n, 2) == 0 and string.len('x') == 1"), "4");
}

TEST_F(study_file_test, latin_hypercube_has_one_point_in_each_part_of_each_axis) {
    const grid all =
        expand(read("workload: w\nsample: {points: 20, seed: 4}\naxes:\n - a.x: {from: 0, to: 200.0}\n"
                    " - a.y: {from: 1.0, to: 1024, scale: log}\n - a.z: [1, 2, 3, 4]\n"));
    ASSERT_EQ(all.points.size(), 20u);
    std::set<int> x, y;
    std::map<std::string, int> z;
    for (const auto& p : all.points) {
        x.insert(static_cast<int>(std::stod(p[0].text) / 10));
        y.insert(static_cast<int>(std::log2(std::stod(p[1].text)) * 2));
        ++z[p[2].text];
    }
    EXPECT_EQ(x.size(), 20u);
    EXPECT_EQ(y.size(), 20u);
    for (const auto& [value, count] : z) EXPECT_EQ(count, 5) << value;
}

TEST_F(study_file_test, samples_are_the_same_for_a_seed_and_others_for_another) {
    const std::string axes = "axes: [{a.x: {from: 0, to: 1000000}}]\n";
    const auto drawn = [&](const std::string& how) { return points_of(axes + "sample: {" + how + "}"); };
    for (const std::string method : {"random", "latin_hypercube"}) {
        const std::string one = drawn("points: 9, method: " + method + ", seed: 1");
        EXPECT_EQ(one, drawn("points: 9, method: " + method + ", seed: 1"));
        EXPECT_NE(one, drawn("points: 9, method: " + method + ", seed: 2"));
        EXPECT_EQ(std::ranges::count(one, '/'), 8);
    }
}

TEST_F(study_file_test, wrong_files_are_said_in_one_line) {
    const std::string w = "workload: pingpong\n";
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"",
         "s.yaml:1: expected keys and values: question, design, workload, nodes, parameters, arguments, "
         "axes, "
         "only, repeats, sample, optimise, sensitivity, metrics, limits"},
        {"design: myvia\n", "s.yaml: no key `workload`, as in `workload: pingpong`"},
        {w + "axis: []\n", "s.yaml:2: no key is named 'axis'; did you mean 'axes'?"},
        {w + "workload: stream\n", "s.yaml:2: workload stands there twice"},
        {w + "axes:\n - nodes: []\n",
         "s.yaml:3: nodes: expected values, as in [33, 66] or {from: 33, to: 133, step: 33}"},
        {w + "axes:\n - node: [2]\n", "s.yaml:3: no axis is named 'node'; did you mean 'nodes'?"},
        {w + "axes:\n - a.b: {from: 8, to: 4, step: 1}\n", "s.yaml:3: a.b: from 8 lies above to 4"},
        {w + "axes:\n - a.b: {from: 1, to: 4, step: 0}\n", "s.yaml:3: a.b: step: expected a number above 0"},
        {w + "axes:\n - a.b: {from: 1, to: four, step: 1}\n", "s.yaml:3: to: expected a number"},
        {w + "axes:\n - a.b: {from: 1, to: 4, steps: 1}\n",
         "s.yaml:3: no key is named 'steps'; did you mean 'step'?"},
        {w + "axes:\n - a.b: {from: 1, to: 4, step: 1, points: 2}\n",
         "s.yaml:3: a.b: expected step or points, not both"},
        {w + "axes:\n - a.b: {from: 0, to: 4, points: 2, scale: log}\n",
         "s.yaml:3: a.b: scale log needs from above 0"},
        {w + "axes:\n - a.b: {from: 1, to: 4, points: 2, scale: cubic}\n",
         "s.yaml:3: a.b: scale is 'cubic': expected linear, log or powers_of_two"},
        {w + "axes:\n - a.b: {from: 5, to: 7, scale: powers_of_two}\n",
         "s.yaml:3: a.b: no power of two lies from 5 to 7"},
        {w + "axes:\n - a.b: {from: 5, to: 7}\n",
         "s.yaml:3: a.b: expected step, points or scale: powers_of_two; a range without them needs `sample` "
         "or `optimise`"},
        {w + "axes:\n - {a.b: [1, 2], a.c: [1, 2, 3]}\n",
         "s.yaml:3: a.c has 3 values, a.b has 2: names of one entry advance together"},
        {w + "axes:\n - a.b: [1]\n - a.b: [2]\n", "s.yaml:4: a.b has a value already"},
        {w + "parameters: {a.b: 1}\naxes:\n - a.b: [2]\n", "s.yaml:4: a.b has a value already"},
        {w + "repeats: 2\naxes:\n - seed: [2]\n", "s.yaml:4: seed has a value already: `repeats` sets it"},
        {w + "repeats: none\n", "s.yaml:2: repeats: expected a whole number from 1 to 1000000"},
        {w + "axes: [{a.b: [1, 2]}]\nonly: a.b > 2\n", "s.yaml:3: `only` leaves none of 2 points"},
        {w + "axes: [{a.b: [1, 2]}]\nonly: a.c > 2\n",
         "s.yaml:3: only: a.c > 2: 'a.c' is no axis of the study"},
        {w + "axes: [{a.b: [1, 2]}]\nonly: a.b\n", "s.yaml:3: only: a.b: expected true or false"},
        {w + "axes: [{a.b: [1, 2]}]\nonly: 'os.exit(0)'\n",
         "s.yaml:3: only: os.exit(0): 'os' is no axis of the study"},
        {w + "sample: {points: 3, method: lucky}\n",
         "s.yaml:2: method is 'lucky': expected random or latin_hypercube"},
        {w + "limits: {time: 5}\n", "s.yaml:2: time is '5': expected a limit such as 60s"},
        {w + "limits: {memory: 5parsecs}\n", "s.yaml:2: memory is '5parsecs': expected a limit such as 2GB"},
    };
    for (const auto& [text, said] : wrong) EXPECT_EQ(error_of(text), said) << text;
}

TEST_F(study_file_test, a_condition_without_an_end_is_ended) {
    const std::string said =
        error_of("workload: w\naxes: [{a.b: [1, 2]}]\nonly: '(function() while true do end end)()'\n");
    EXPECT_NE(said.find("does not end"), std::string::npos) << said;
}

TEST(studies, those_that_ship_can_run) {
    const auto names = names_in(studies_folder(), ".yaml");
    EXPECT_GE(names.size(), 5u);
    for (const auto& name : names)
        EXPECT_NO_THROW(check(plan(read_study(studies_folder() / (name + ".yaml"))))) << name;
}

}  // namespace
}  // namespace vinic::testbench::study
