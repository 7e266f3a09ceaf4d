// SPDX-License-Identifier: Apache-2.0
// `vinic study run --engine slurm` on a real Slurm of one node.
#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <array>
#include <optional>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/slurm_cluster.h"
#include "testbench/tests/testbench/study_program.h"

namespace vinic::testbench {
namespace {

class slurm_test : public testing::Test {
protected:
    slurm_test() { vinic.write("t.lua", trivial_workload); }
    void SetUp() override {
        ASSERT_TRUE(slurm_cluster::is_installed())
            << "Debian packages slurmctld, slurmd, slurm-client, munge";
        slurm.emplace();
    }
    void study(const std::string& text) const { vinic.write("s.yaml", "workload: ./t.lua\n" + text); }
    program::outcome run(const std::string& options = "") const {
        return vinic.run("study run s.yaml --engine slurm " + options);
    }
    json status_of() const { return json::parse(vinic.run("study status s.yaml --json").output); }
    std::string csv(const std::string& options = "") const {
        return vinic.run("study export s.yaml --csv " + options).output;
    }
    /// Tasks in a state, or all that Slurm knows: a line each, as "1_0".
    std::string lines(const std::string& state) const {
        return slurm->ask("squeue --noheader --array --format=%i --states=" + state);
    }
    std::size_t tasks(const std::string& state = "all") const {
        return static_cast<std::size_t>(std::ranges::count(lines(state), '\n'));
    }

    program vinic;
    std::optional<slurm_cluster> slurm;
};

TEST_F(slurm_test, every_end_of_a_point_is_the_same_as_on_this_machine) {
    study("axes:\n - arguments.fate: [well, check, error]\n - arguments.n: [1, 2]\n");
    EXPECT_EQ(vinic.run("study run s.yaml --db local.sqlite").status, 1);
    const auto outcome = run("--points-per-task 2");
    EXPECT_EQ(outcome.status, 1) << outcome.errors;
    EXPECT_EQ(outcome.output.substr(0, 38), "s.sqlite: 6 points ran, 0 were there; ");
    EXPECT_EQ(tasks(), 3u);
    EXPECT_EQ(csv(), csv("--db local.sqlite"));
    EXPECT_FALSE(vinic.has("s.slurm")) << "nothing stays behind";
    EXPECT_EQ(run().output, "s.sqlite: 0 points ran, 6 were there\n");
    study("limits: {time: 1s}\naxes: [{arguments.fate: [hang]}]\n");
    EXPECT_EQ(run().status, 1);
    EXPECT_EQ(status_of()["results"], json({{"timed out", 1}}));
    EXPECT_EQ(status_of()["failures"][0]["log"], "vinic: ended after its limit of 1 s");
}

TEST_F(slurm_test, a_study_that_is_killed_finds_its_tasks_again) {
    study("axes:\n - arguments.n: [1, 2, 3]\n");
    slurm->ask("scontrol update partitionname=all state=down");
    running_study first(vinic, {"--engine", "slurm", "--jobs", "1"});
    ASSERT_TRUE(soon([&] { return tasks() == 3; }));
    EXPECT_NE(slurm->ask("scontrol show job").find("ArrayTaskThrottle=1"), std::string::npos);
    EXPECT_EQ(first.end(SIGKILL), -SIGKILL);
    slurm->ask("scontrol update partitionname=all state=up");
    const auto outcome = run();
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(tasks(), 3u) << "no other job";
    vinic.run("study run s.yaml --db local.sqlite");
    EXPECT_EQ(csv(), csv("--db local.sqlite"));
}

TEST_F(slurm_test, tasks_that_are_gone_or_no_longer_wanted_are_done_without) {
    study("axes:\n - arguments.n: [1, 2, 3]\n");
    slurm->ask("scontrol update partitionname=all state=down");
    running_study first(vinic, {"--engine", "slurm"});
    ASSERT_TRUE(soon([&] { return tasks() == 3; }));
    EXPECT_EQ(first.end(SIGTERM), 130) << "leaves its tasks";
    EXPECT_EQ(tasks("PENDING"), 3u);
    slurm->ask("scancel $(squeue --noheader --array --format=%i | grep _0)");
    study("axes:\n - arguments.n: [1, 2]\n");
    running_study second(vinic, {"--engine", "slurm", "--jobs", "2"});
    // Task 1 of the first job stays, and the first point is submitted anew.
    ASSERT_TRUE(
        soon([&] { return tasks("PENDING") == 2 && lines("PENDING").find("1_2") == std::string::npos; }));
    EXPECT_TRUE(soon([&] {
        return slurm->ask("scontrol show job").find(" Dependency=afterany:1") != std::string::npos;
    })) << "never more than two at a time";
    slurm->ask("scontrol update partitionname=all state=up");
    ASSERT_TRUE(soon([&] { return second.has_ended(); }));
    EXPECT_EQ(second.end(0), 0);
    EXPECT_EQ(csv(), "point,arguments.n,size_bytes,value_us,status\n1,1,1,1.5,done\n2,2,2,3.0,done\n");
    EXPECT_EQ(tasks("COMPLETED"), 2u);
}

TEST_F(slurm_test, ctrl_c_cancels) {
    study("axes:\n - arguments.fate: [hang]\n - arguments.n: [1, 2]\n");
    running_study first(vinic, {"--engine", "slurm"});
    ASSERT_TRUE(soon([&] { return tasks("RUNNING") == 2; }));
    EXPECT_EQ(first.end(SIGINT), 130);
    EXPECT_TRUE(soon([&] { return slurm->ask("squeue --noheader").empty(); }));
    EXPECT_TRUE(soon([&] { return processes_in(vinic.folder()).empty(); }));
    EXPECT_EQ(status_of()["to_do"], 2);
}

/// What the verbs whose points follow from results print and leave, on an engine.
struct searched {
    std::string sensitivity, front, told, csv;
    bool operator==(const searched&) const = default;
};

TEST_F(slurm_test, sensitivity_searches_and_what_is_told_are_the_same_as_on_this_machine) {
    vinic.write("n.lua",
                "local n = argument { name = 'n', default = 1, min = 0, max = 100, help = '-' }\n"
                "process(0, function() row('size_bytes', 8, 'rise_us', (n - 10) ^ 2, 'fall_us', (n - 30) ^ "
                "2) end)\n");
    vinic.write("s.yaml",
                "workload: ./n.lua\naxes: [{arguments.n: {from: 0, to: 40}}]\n"
                "optimise: {minimise: [rise_us, fall_us], budget: 8, population: 4}\n");
    vinic.write(
        "p.yaml",
        "workload: ./t.lua\nsensitivity: {ranges: {bus.clock_mhz: [33, 66]}, parameters: [bus.free]}\n");
    vinic.write("points.json", R"([{"arguments.n": 7}, {"arguments.n": 8}])");
    const auto all = [&](const std::string& engine, const std::string& name) {
        const std::string on = " --engine " + engine + " --db " + name + ".sqlite";
        const auto ask = [&](const std::string& verb) {
            const auto outcome = vinic.run(verb + on);
            EXPECT_EQ(outcome.status, 0) << verb << on << outcome.errors;
            return outcome.output;
        };
        searched found{.front = ask("study optimise s.yaml"), .told = ask("study tell s.yaml points.json")};
        found.csv = vinic.run("study export s.yaml --csv --db " + name + ".sqlite").output;
        found.sensitivity =
            vinic.run("study sensitivity p.yaml --engine " + engine + " --db p" + name + ".sqlite").output;
        return found;
    };
    const searched here = all("local", "here"), there = all("slurm", "there");
    EXPECT_NE(here.front.find("8 points ran"), std::string::npos) << here.front;
    EXPECT_NE(here.told.find("done"), std::string::npos) << here.told;
    EXPECT_NE(here.sensitivity, "");
    EXPECT_EQ(here.front, there.front);
    EXPECT_EQ(here.told, there.told);
    EXPECT_EQ(here.csv, there.csv);
    EXPECT_EQ(here.sensitivity, there.sensitivity);
    EXPECT_FALSE(vinic.has("there.slurm")) << "nothing stays behind";
}

TEST_F(slurm_test, a_search_that_is_killed_finds_its_tasks_again) {
    const std::string study = "workload: ./t.lua\naxes: [{arguments.n: [1, 2, 3]}]\n";
    vinic.write("s.yaml", study + "optimise: {minimise: [value_us], budget: 3}\n");
    slurm->ask("scontrol update partitionname=all state=down");
    running_study first(vinic, {"--engine", "slurm"}, "optimise");
    ASSERT_TRUE(soon([&] { return tasks() == 3; }));
    EXPECT_EQ(first.end(SIGKILL), -SIGKILL);
    slurm->ask("scontrol update partitionname=all state=up");
    const auto outcome = vinic.run("study optimise s.yaml --engine slurm");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(tasks(), 3u) << "no other job";
    EXPECT_FALSE(vinic.has("s.slurm"));
}

TEST_F(slurm_test, jobs_of_another_work_folder_are_found) {
    study("axes:\n - arguments.n: [1, 2, 3]\n");
    slurm->ask("scontrol update partitionname=all state=down");
    running_study first(vinic, {"--engine", "slurm", "--work-dir", "shared"});
    ASSERT_TRUE(soon([&] { return tasks() == 3; }));
    EXPECT_EQ(first.end(SIGKILL), -SIGKILL);
    const auto elsewhere = run("--work-dir other");
    EXPECT_EQ(elsewhere.status, 2);
    EXPECT_EQ(elsewhere.errors.find("vinic: --work-dir other: jobs of an earlier run of this study are in "),
              0u)
        << elsewhere.errors;
    slurm->ask("scontrol update partitionname=all state=up");
    const auto outcome = run();
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(tasks(), 3u) << "no other job";
    EXPECT_FALSE(std::filesystem::is_symlink(vinic.folder() / "s.slurm")) << "nothing stays behind";
    EXPECT_EQ(run("--work-dir other").status, 0);
}

TEST_F(slurm_test, what_slurm_does_to_a_task_is_recorded) {
    study("axes:\n - arguments.fate: [hang]\n - arguments.n: [1, 2]\n");
    running_study first(vinic, {"--engine", "slurm", "--sbatch=--no-requeue"});
    ASSERT_TRUE(soon([&] { return tasks("RUNNING") == 2; }));
    slurm->ask("scancel $(squeue --noheader --array --format=%i | grep _0)");
    ASSERT_TRUE(soon([&] { return tasks("RUNNING") == 1; }));
    slurm->ask("scontrol update nodename=" + slurm->node() + " state=down reason=test");
    ASSERT_TRUE(soon([&] { return first.has_ended(); }));
    EXPECT_EQ(first.end(0), 1);
    const json now = status_of();
    EXPECT_EQ(now["results"], json({{"cancelled", 1}, {"node failed", 1}}));
    const std::string log = now["failures"][1]["log"];
    EXPECT_NE(log.find("_1 ended as NODE_FAIL on " + slurm->node()), std::string::npos) << log;
}

TEST_F(slurm_test, jobs_that_slurm_refuses_are_said_in_one_line_and_nothing_is_written) {
    study("axes:\n - arguments.n: [1, 2]\n");
    const std::vector<std::array<std::string, 3>> wrong{
        {"", "--partition none",
         "vinic: Slurm took no job: invalid partition specified: none; Batch job submission failed: Invalid "
         "partition name specified\n"},
        {"", "--work-dir /proc/none", "vinic: cannot make a folder in /proc/none/"},
        {"PATH=/nowhere", "",
         "vinic: --engine slurm: there is no sbatch here: run it where Slurm's commands are, or without "
         "--engine\n"}};
    for (const auto& [before, options, said] : wrong) {
        const auto outcome = vinic.run("study run s.yaml --engine slurm " + options, before);
        EXPECT_EQ(outcome.status, 2) << options;
        EXPECT_EQ(outcome.output, "");
        EXPECT_EQ(outcome.errors.substr(0, said.size()), said);
        EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
        EXPECT_FALSE(vinic.has("s.sqlite"));
        EXPECT_FALSE(vinic.has("s.slurm"));
    }
    EXPECT_EQ(vinic.run("study run s.yaml --partition all").status, 2) << "without --engine slurm";
}

}  // namespace
}  // namespace vinic::testbench
