// SPDX-License-Identifier: Apache-2.0
// `vinic study` as users call it: bad studies, points that fail in every way, and studies that are killed.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <signal.h>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"
#include "testbench/tests/testbench/study_program.h"

namespace vinic::testbench {
namespace {

namespace fs = std::filesystem;

class study_test : public testing::Test {
protected:
    study_test() { vinic.write("t.lua", trivial_workload); }
    void study(const std::string& text) const { vinic.write("s.yaml", "workload: ./t.lua\n" + text); }
    std::string csv() const {
        const auto outcome = vinic.run("study export s.yaml --csv");
        EXPECT_EQ(outcome.status, 0) << outcome.errors;
        return outcome.output;
    }
    json status_of() const { return json::parse(vinic.run("study status s.yaml --json").output); }

    program vinic;
};

TEST_F(study_test, runs_once_and_only_what_is_new) {
    study("axes:\n - arguments.n: [1, 2]\n - bus.clock_mhz: [33, 66]\n");
    const auto first = vinic.run("study run s.yaml");
    ASSERT_EQ(first.status, 0) << first.errors;
    EXPECT_EQ(first.output.substr(0, 38), "s.sqlite: 4 points ran, 0 were there; ");
    EXPECT_EQ(csv(),
              "point,arguments.n,bus.clock_mhz,size_bytes,value_us,status\n"
              "1,1,33,1,1.5,done\n2,1,66,1,1.5,done\n3,2,33,2,3.0,done\n4,2,66,2,3.0,done\n");
    EXPECT_EQ(vinic.run("study run s.yaml").output, "s.sqlite: 0 points ran, 4 were there\n");
    study("axes:\n - arguments.n: [1, 2, 3]\n - bus.clock_mhz: [33, 66]\n");
    EXPECT_EQ(status_of()["to_do"], 2);
    EXPECT_EQ(vinic.run("study run s.yaml").output.substr(0, 38), "s.sqlite: 2 points ran, 4 were there; ");
    vinic.write("t.lua", std::string(trivial_workload) + "-- another one\n");
    EXPECT_EQ(status_of()["outdated"], 6);
    EXPECT_EQ(vinic.run("study run s.yaml").output.substr(0, 38), "s.sqlite: 6 points ran, 0 were there; ");
}

TEST_F(study_test, points_that_fail_are_recorded_and_the_study_goes_on) {
    study(
        "nodes: 8\nlimits: {time: 8s, memory: 500MB}\naxes:\n - arguments.fate: [well, check, error, hang, "
        "memory]\n"
        " - arguments.n: [1]\n");
    const auto outcome = vinic.run("study run s.yaml");
    EXPECT_EQ(outcome.status, 1) << outcome.errors;
    const json now = status_of();
    EXPECT_EQ(
        now["results"],
        json({{"bad input", 1}, {"check failed", 1}, {"done", 1}, {"out of memory", 1}, {"timed out", 1}}));
    ASSERT_EQ(now["failures"].size(), 4u);
    EXPECT_EQ(now["failures"][0]["log"], "vinic: check failed: as told");
    EXPECT_EQ(now["failures"][2]["log"], "vinic: ended after its limit of 8 s");
    EXPECT_EQ(now["failures"][1]["command"],
              "vinic run ./t.lua --design myvia --seed 1 --nodes 8 -- fate=error n=1");
    EXPECT_NE(csv().find("\n2,check,1,1,1.5,check failed\n"), std::string::npos) << "its numbers are kept";
    // Failures are results: they are run again only when asked for.
    EXPECT_EQ(vinic.run("study run s.yaml").output, "s.sqlite: 0 points ran, 5 were there\n");
    vinic.write(
        "s.yaml",
        "workload: ./t.lua\nnodes: 8\naxes:\n - arguments.fate: [well, check]\n - arguments.n: [1]\n");
    EXPECT_EQ(vinic.run("study run s.yaml --retry").output.substr(0, 38),
              "s.sqlite: 1 points ran, 1 were there; ");
}

TEST_F(study_test, wrong_studies_are_found_before_anything_runs) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"axes:\n - bus.clok_mhz: [33]\n",
         "s.yaml:3: no parameter is named 'bus.clok_mhz'; did you mean 'bus.clock_mhz'?"},
        {"axes:\n - wire.free: [true]\n",
         "s.yaml:3: no parameter is named 'wire.free'; what can be free: bus, host, link, nic.lanai, "
         "nic.translation"},
        {"design: clan\naxes:\n - nic.lanai.free: [true]\n",
         "s.yaml:4: no parameter of this design is named 'nic.lanai.free'; "},
        {"axes:\n - bus.clock_mhz: [33, 34]\n",
         "s.yaml:3: node0.bus.clock_mhz = 34 is out of range: expected 33, 66, 100, 133 in MHz"},
        {"axes:\n - bus.clock_mhz:\n    - 33\n    - fast\n",
         "s.yaml:5: node0.bus.clock_mhz = 'fast': expected integer 33, 66, 100, 133 in MHz"},
        {"parameters: {bus.width_bits: 16}\n",
         "s.yaml:2: node0.bus.width_bits = 16 is out of range: expected 32, 64 in bits"},
        {"axes:\n - link.byte_ps: [4000, fast]\n",
         "s.yaml:3: fabric.cable0.byte_ps = 'fast': expected integer"},
        {"axes:\n - nodes: [2, 200]\n", "s.yaml:3: nodes is '200': expected a number from 1 to 128"},
        {"axes:\n - design: [myvia, myvai]\n",
         "s.yaml:3: design: no design is named 'myvai'; did you mean 'myvia'?"},
        {"axes:\n - arguments.m: [1]\n", "s.yaml:3: t has no argument 'm'"},
        {"axes:\n - arguments.n: [1, -4]\n", "s.yaml:3: "},
        {"metrics: [statistics.node0.bus.retry]\n", "s.yaml:2: no statistic is named 'node0.bus.retry'"},
        {"metrics: [account.latency.middle]\n",
         "s.yaml:2: account.latency.middle: expected account.STAGE.KIND, where KIND is one of last, mean, "
         "median, p99, maximum"},
        {"axes:\n - seed: [one]\n", "s.yaml:3: "},
    };
    for (const auto& [text, said] : wrong) {
        study(text);
        for (const char* verb : {"check", "run"}) {
            const auto outcome = vinic.run(std::string("study ") + verb + " s.yaml");
            EXPECT_EQ(outcome.status, 2) << text;
            EXPECT_EQ(outcome.output, "");
            EXPECT_EQ(outcome.errors.substr(0, 7 + said.size()), "vinic: " + said) << text;
            EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
            EXPECT_FALSE(vinic.has("s.sqlite"));
        }
    }
    EXPECT_EQ(vinic.run("study show s.yaml").status, 2);
    EXPECT_EQ(vinic.run("study run no_such").status, 2);
    EXPECT_EQ(vinic.run("study").status, 2);
}

TEST_F(study_test, check_shows_points_and_an_estimate) {
    study("axes:\n - arguments.n: {from: 1, to: 50, step: 1}\nonly: arguments.n > 3\n");
    const auto outcome = vinic.run("study check s.yaml");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_NE(outcome.output.find("\n    1            4\n"), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("47 points (3 more dropped by `only`), about 0."), std::string::npos)
        << outcome.output;
    EXPECT_FALSE(vinic.has("s.sqlite"));
}

TEST_F(study_test, show_point_and_diff) {
    study(
        "question: How much?\naxes:\n - arguments.n: [1, 2, 4]\nmetrics: [value_us, account.latency.mean]\n");
    for (const char* verb : {"check s.yaml", "run s.yaml --db a.sqlite"}) {
        const auto ran = vinic.run(std::string("study ") + verb);
        EXPECT_EQ(ran.status, 1);
        EXPECT_NE(ran.errors.find("s.yaml:5: no result has a metric 'account.latency.mean'"),
                  std::string::npos)
            << ran.errors;
    }
    const auto shown = vinic.run("study show s.yaml --db a.sqlite --x arguments.n");
    EXPECT_NE(shown.output.find("How much?\n\npoint  arguments.n  size (bytes)  value (us)\n"),
              std::string::npos)
        << shown.output;
    EXPECT_NE(shown.output.find("  6 |"), std::string::npos) << shown.output;
    const auto point = vinic.run("study point s.yaml 3 --json --log p.log");
    EXPECT_EQ(json::parse(point.output)["results"][0]["value_us"], 6.0) << point.errors;
    EXPECT_TRUE(vinic.has("p.log"));
    EXPECT_EQ(vinic.run("study point s.yaml 4").errors, "vinic: s.yaml: has 3 points, no point 4\n");

    std::string slower = trivial_workload;
    slower.replace(slower.find("1.5"), 3, "1.8");
    vinic.write("t.lua", slower);
    vinic.run("study run s.yaml");
    const auto diff = vinic.run("study diff a.sqlite s.yaml --json --tolerance 1");
    EXPECT_EQ(diff.status, 1);
    const json found = json::parse(diff.output);
    EXPECT_EQ(found["rows"].size(), 3u);
    EXPECT_DOUBLE_EQ(found["rows"][0]["ratio"].get<double>(), 1.2);
    EXPECT_EQ(vinic.run("study diff a.sqlite s.yaml --tolerance 21").status, 0);
}

TEST_F(study_test, points_die_with_the_study_and_a_second_run_is_refused) {
    study("axes:\n - arguments.fate: [hang]\n - arguments.n: [1, 2]\n");
    running_study first(vinic);
    ASSERT_TRUE(soon([&] { return processes_in(vinic.folder()).size() >= 2; }));
    ASSERT_TRUE(soon([&] { return vinic.has("s.sqlite-wal"); }));
    const auto second = vinic.run("study run s.yaml");
    EXPECT_EQ(second.status, 2);
    EXPECT_EQ(second.errors, "vinic: s.sqlite: another `vinic study` is writing it\n");
    EXPECT_EQ(status_of()["to_do"], 2);
    EXPECT_EQ(first.end(SIGKILL), -SIGKILL);
    EXPECT_TRUE(soon([&] { return processes_in(vinic.folder()).empty(); }));
}

TEST_F(study_test, a_point_that_somebody_kills_runs_again) {
    const std::string axes = "axes:\n - arguments.fate: [hang]\n";
    study(axes);
    running_study first(vinic);
    std::vector<pid_t> workers;
    ASSERT_TRUE(soon([&] {
        workers = processes_in(vinic.folder());
        std::erase(workers, first.process());
        return !workers.empty();
    }));
    for (const pid_t worker : workers) ::kill(worker, SIGKILL);
    EXPECT_EQ(first.end(0), 1);
    EXPECT_EQ(status_of()["results"], json({{"killed", 1}}));
    study("limits: {time: 1s}\n" + axes);
    vinic.run("study run s.yaml");
    EXPECT_EQ(status_of()["results"], json({{"timed out", 1}}));
    EXPECT_EQ(vinic.run("study run s.yaml").output, "s.sqlite: 0 points ran, 1 were there\n");
}

/// A file that may not grow stands for a disk that is full.
TEST_F(study_test, a_full_disk_is_said_and_loses_nothing) {
    study("axes:\n - arguments.n: {from: 1, to: 12, step: 1}\n");
    const auto outcome = vinic.run("study run s.yaml", "trap '' XFSZ; ulimit -f 100;");  // of 512 bytes
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(outcome.errors, "vinic: s.sqlite: disk I/O error\n");
    const json now = status_of();
    ASSERT_TRUE(now["results"].contains("done")) << now;
    const int done = now["results"]["done"];
    EXPECT_GT(now["to_do"], 0);
    const auto second = vinic.run("study run s.yaml");
    EXPECT_EQ(second.status, 0) << second.errors;
    EXPECT_NE(second.output.find(fmt::format("{} points ran, {} were there", 12 - done, done)),
              std::string::npos)
        << second.output;
}

TEST_F(study_test, places_where_no_database_can_be_are_refused) {
    study("axes:\n - arguments.n: [1]\n");
    EXPECT_EQ(vinic.run("study run s.yaml --db none/s.sqlite").errors,
              "vinic: cannot write none/s.sqlite: No such file or directory\n");
    EXPECT_EQ(vinic.run("study run s.yaml --db .").errors, "vinic: cannot write .: Is a directory\n");
    // As on a disk without any room, from the first byte on.
    EXPECT_EQ(vinic.run("study run s.yaml", "trap '' XFSZ; ulimit -f 0;").status, 2);
    EXPECT_FALSE(vinic.has("s.sqlite"));
}

TEST_F(study_test, interrupt_loses_points_under_way_only) {
    study("axes:\n - arguments.n: [1, 2]\n - arguments.fate: [well, hang]\n");
    running_study run(vinic);
    ASSERT_TRUE(soon([&] { return vinic.has("s.sqlite") && status_of()["to_do"] < 4; }));
    EXPECT_EQ(run.end(SIGINT), 130);
    EXPECT_TRUE(processes_in(vinic.folder()).empty());
    EXPECT_EQ(status_of()["results"].size(), 1u);
    EXPECT_TRUE(status_of()["results"].contains("done"));
}

TEST(study, killed_thrice_and_resumed_is_the_same) { expect_same_when_killed(3, 24, "local"); }

}  // namespace
}  // namespace vinic::testbench
