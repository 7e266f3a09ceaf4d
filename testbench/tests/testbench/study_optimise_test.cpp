// SPDX-License-Identifier: Apache-2.0
// `vinic study sensitivity`, `optimise`, `ask` and `tell` as users call them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"
#include "testbench/tests/testbench/study_program.h"

namespace vinic::testbench {
namespace {

/// Two numbers that cannot both be small: the front is where 10 <= n <= 30 and m = 5.
constexpr const char* trade = R"(
description "A trade-off"
local n = argument { name = "n", default = 1, min = 0, max = 100, help = "One" }
local m = argument { name = "m", default = 1, min = 0, max = 9, help = "The other" }
process(0, function()
    row("size_bytes", 8, "rise_us", (n - 10) * (n - 10) + (m - 5) * (m - 5), "fall_us", (n - 30) * (n - 30) + (m - 5) * (m - 5))
end)
)";

class study_optimise_test : public testing::Test {
protected:
    study_optimise_test() { vinic.write("t.lua", trade); }
    void search(const std::string& settings,
                const std::string& goals = "minimise: [rise_us, fall_us]") const {
        vinic.write(
            "s.yaml",
            "workload: ./t.lua\naxes:\n - arguments.n: {from: 0, to: 40}\n - arguments.m: [3, 4, 5, 6, 7]\n"
            "optimise: {" +
                goals + ", " + settings + "}\n");
    }
    std::string csv() const { return vinic.run("study export s.yaml --csv").output; }
    program vinic;
};

TEST_F(study_optimise_test, front_of_two_goals) {
    search("budget: 24, population: 8");
    const auto outcome = vinic.run("study optimise s.yaml --json");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const json found = json::parse(outcome.output);
    EXPECT_EQ(found["points_ran"], 24);
    ASSERT_FALSE(found["front"].empty());
    double last = -1;
    for (const json& one : found["front"]) {
        const double n = std::stod(one["values"]["arguments.n"].get<std::string>());
        const double m = std::stod(one["values"]["arguments.m"].get<std::string>());
        const double rise = (n - 10) * (n - 10) + (m - 5) * (m - 5);
        EXPECT_EQ(one["goals"]["rise_us"], rise);
        EXPECT_GE(rise, last) << "by the first goal";
        last = rise;
    }
    const std::string table = vinic.run("study optimise s.yaml").output;
    EXPECT_NE(table.find("24 points ran; "), std::string::npos) << table;
    EXPECT_NE(table.find("o on the front"), std::string::npos) << table;
}

TEST_F(study_optimise_test, an_interrupt_says_what_goes_on) {
    vinic.write("hang.lua", trivial_workload);
    vinic.write("points.json", R"([{"arguments.n": 2}])");
    const std::string hangs = "workload: ./hang.lua\narguments: {fate: hang}\n";
    vinic.write("o.yaml",
                hangs + "axes: [{arguments.n: [1, 2]}]\noptimise: {minimise: [value_us], budget: 2}\n");
    vinic.write("c.yaml", hangs + "sensitivity: {parameters: [bus.free]}\n");
    const std::vector<std::pair<std::string, std::string>> verbs{
        {"optimise", "o.yaml"}, {"sensitivity", "c.yaml"}, {"tell", "o.yaml points.json"}};
    for (const auto& [verb, files] : verbs) {
        const auto outcome = vinic.run("study " + verb + " " + files, "timeout --preserve-status -s INT 4");
        EXPECT_EQ(outcome.status, 130) << outcome.errors;
        EXPECT_NE(outcome.errors.find("are in the database; `" + verb + "` goes on from there"),
                  std::string::npos)
            << outcome.errors;
    }
}

TEST_F(study_optimise_test, a_larger_budget_goes_on_and_ask_and_tell_are_the_same_search) {
    search("budget: 16, population: 4, seed: 3");
    ASSERT_EQ(vinic.run("study optimise s.yaml").status, 0);
    const std::string at_once = csv();
    EXPECT_EQ(std::ranges::count(at_once, '\n'), 17);

    std::filesystem::remove(vinic.folder() / "s.sqlite");
    search("budget: 6, population: 4, seed: 3");
    ASSERT_EQ(vinic.run("study optimise s.yaml").status, 0);
    search("budget: 16, population: 4, seed: 3");
    EXPECT_EQ(json::parse(vinic.run("study status s.yaml --json").output)["results"], json({{"done", 6}}));
    int rounds = 0;
    while (vinic.run("study ask s.yaml 3 --json next.json").status == 0 &&
           !json::parse(vinic.read("next.json"))["points"].empty() && ++rounds < 20)
        ASSERT_EQ(vinic.run("study tell s.yaml next.json").status, 0);
    EXPECT_EQ(vinic.run("study tell s.yaml next.json").status, 0) << "the search had no more";
    EXPECT_EQ(vinic.run("study ask s.yaml 3").output, "the search is at its end\n");
    EXPECT_EQ(csv(), at_once);
}

TEST_F(study_optimise_test, points_of_others_are_answered_and_kept) {
    search("budget: 4, population: 4", "maximise: rise_us");
    vinic.write("p.json",
                R"([{"arguments.n": 40, "arguments.m": "7"}, {"arguments.n": 10, "arguments.m": 5}])");
    const auto outcome = vinic.run("study tell s.yaml p.json --json");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const json answer = json::parse(outcome.output);
    EXPECT_EQ(answer["points"][0]["goals"]["rise_us"], 904);
    EXPECT_EQ(answer["points"][1]["goals"]["rise_us"], 0);
    EXPECT_EQ(answer["points"][1]["command"], "vinic run ./t.lua --design myvia --seed 1 -- m=5 n=10");
    EXPECT_NE(csv().find(",40,7,8,"), std::string::npos) << csv();
    EXPECT_EQ(vinic.run("study optimise s.yaml").status, 0);
    const json front = json::parse(vinic.run("study optimise s.yaml --json").output)["front"];
    EXPECT_EQ(front[0]["goals"]["rise_us"], 904) << "the best, whoever asked for it";
}

TEST_F(study_optimise_test, seeds_are_runs_of_one_point) {
    vinic.write(
        "t.lua",
        "description \"Differs by seed\"\nlocal n = argument { name = \"n\", default = 1, help = \"One\" }\n"
        "process(0, function()\n    row(\"size_bytes\", 8, \"rise_us\", n + math.random(0, 1000))\n"
        "    if n == 9 then error(\"as told\") end\nend)\n");
    vinic.write(
        "s.yaml",
        "workload: ./t.lua\nrepeats: 3\naxes: [{arguments.n: [1, 2, 9]}]\noptimise: {minimise: rise_us}\n");
    vinic.write("p.json", R"([{"arguments.n": 1}, {"arguments.n": 9}])");
    const auto outcome = vinic.run("study tell s.yaml p.json --json");
    EXPECT_EQ(outcome.status, 1);
    const json points = json::parse(outcome.output)["points"];
    EXPECT_EQ(points[0]["status"], "done");
    EXPECT_EQ(points[1]["status"], "bad input");
    EXPECT_TRUE(points[1]["goals"]["rise_us"].is_null());
    EXPECT_EQ(points[1]["values"], json({{"arguments.n", "9"}})) << "a seed is no axis";
    double sum = 0;
    const json rows = json::parse(vinic.run("study export s.yaml --json").output)["rows"];
    for (const json& row : rows)
        if (row["arguments.n"] == "1") sum += row["rise_us"].get<double>();
    EXPECT_DOUBLE_EQ(points[0]["goals"]["rise_us"].get<double>(), sum / 3) << "their mean";
}

TEST_F(study_optimise_test, wrong_requests_are_one_line) {
    search("budget: 4, population: 4");
    vinic.write("p.json", R"([{"arguments.n": 41, "arguments.m": 5}])");
    vinic.write("q.json", "points");
    vinic.write("plain.yaml", "workload: ./t.lua\naxes: [{arguments.n: [1]}]\n");
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"tell s.yaml p.json", "p.json: point 1: arguments.n is 41: expected a whole number from 0 to 40"},
        {"tell s.yaml q.json", "q.json: not JSON"},
        {"tell s.yaml none.json", "none.json"},
        {"run s.yaml", "s.yaml:5: optimise: `vinic study optimise` runs it"},
        {"optimise plain.yaml",
         "plain.yaml: no key `optimise`, as in `optimise: {minimise: [latency_us size_bytes=8]}`"},
        {"sensitivity plain.yaml", "plain.yaml: no key `sensitivity`, as in `sensitivity: {change: 10%}`"},
        {"ask s.yaml", "number is required"},
        {"ask s.yaml -3", "-3"},
    };
    for (const auto& [verb, said] : wrong) {
        const auto outcome = vinic.run("study " + verb);
        EXPECT_EQ(outcome.status, 2) << verb;
        EXPECT_EQ(outcome.output, "");
        EXPECT_NE(outcome.errors.find(said), std::string::npos) << outcome.errors;
        EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
        EXPECT_FALSE(vinic.has("s.sqlite"));
    }
    search("budget: 4, population: 4", "minimise: rice_us");
    const auto outcome = vinic.run("study optimise s.yaml");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.errors, "vinic: s.yaml:5: no result has 'rice_us'; did you mean 'rise_us'?\n");
}

TEST_F(study_optimise_test, an_optimiser_in_python_drives_it) {
    if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "python3 is not installed";
    search("budget: 4, population: 4", "minimise: rise_us");
    const std::string run = "cd '" + vinic.folder().string() +
                            "' && python3 '" VINIC_SOURCE_DIR
                            "/testbench/study/coordinate_search.py' s.yaml '" VINIC_BINARY_DIR
                            "/vinic' > best.json";
    ASSERT_EQ(std::system(run.c_str()), 0);
    const json best = json::parse(vinic.read("best.json"));
    EXPECT_EQ(best["value"], 0);
    EXPECT_EQ(best["point"], json({{"arguments.n", 10}, {"arguments.m", "5"}}));
}

TEST_F(study_optimise_test, sensitivity_of_a_real_design) {
    vinic.write("s.yaml",
                "workload: pingpong\narguments: {sizes: 8, count: 5}\nmetrics: [latency_us]\nsensitivity:\n"
                "  parameters: [nic.lanai.clock_mhz, driver.boot_limit_us, bus.clock_mhz]\n");
    const auto outcome = vinic.run("study sensitivity s.yaml --json");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const json found = json::parse(outcome.output), of = found["effects"][0];
    EXPECT_EQ(of["metric"], "latency_us");
    EXPECT_EQ(of["row"], json({{"size_bytes", 8}}));
    EXPECT_EQ(of["by_share"][0]["parameter"], "nic.lanai.clock_mhz");
    EXPECT_LT(of["by_share"][0]["elasticity"], 0) << "a faster core is never worse";
    EXPECT_EQ(of["others"][0]["parameter"], "bus.clock_mhz");
    EXPECT_EQ(of["without_effect"], json({"driver.boot_limit_us"}));
    ASSERT_EQ(found["failures"].size(), 1u);
    EXPECT_EQ(found["failures"][0]["value"], "100") << "PCI has no such clock";
    EXPECT_EQ(vinic.run("study status s.yaml --json").status, 0);
    const auto table = vinic.run("study sensitivity s.yaml");
    EXPECT_NE(table.output.find("nic.lanai.clock_mhz  133  120 / 146  MHz"), std::string::npos)
        << table.output;
}

}  // namespace
}  // namespace vinic::testbench
