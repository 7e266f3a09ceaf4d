// SPDX-License-Identifier: Apache-2.0
// Studies that take minutes: on a machine with two cores and much else to do 15 to 40 s each, 100 s for
// Slurm's time limit, 10 minutes for 10,000 points.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/browser.h"
#include "testbench/tests/testbench/slurm_cluster.h"
#include "testbench/tests/testbench/study_program.h"

namespace vinic::testbench {
namespace {

TEST(study_long, killed_twenty_times_and_resumed_is_the_same) { expect_same_when_killed(20, 150, "local"); }

TEST(study_long, killed_a_dozen_times_on_slurm_and_resumed_is_the_same) {
    const slurm_cluster slurm;
    expect_same_when_killed(12, 60, "slurm");
}

/// Slurm knows minutes only, and looks at them each half a minute.
TEST(study_long, a_task_that_outlives_slurms_limit_is_recorded) {
    const slurm_cluster slurm;
    const program vinic;
    vinic.write("t.lua", trivial_workload);
    vinic.write("s.yaml", "workload: ./t.lua\narguments: {fate: hang}\n");
    EXPECT_EQ(vinic.run("study run s.yaml --engine slurm --sbatch=--time=1").status, 1);
    const json now = json::parse(vinic.run("study status s.yaml --json").output);
    EXPECT_EQ(now["results"], json({{"timed out", 1}}));
    const std::string log = now["failures"][0]["log"];
    EXPECT_NE(log.find(" ended as TIMEOUT on "), std::string::npos) << log;
}

TEST(study_long, a_task_of_a_node_that_fails_runs_again) {
    const slurm_cluster slurm;
    const program vinic;
    vinic.write("t.lua", trivial_workload);
    vinic.write("s.yaml", "workload: ./t.lua\nlimits: {time: 4s}\narguments: {fate: hang}\n");
    running_study study(vinic, {"--engine", "slurm"});
    const auto state_is = [&](const std::string& state) {
        return soon([&] { return slurm.ask("squeue --noheader --format=%T") == state + "\n"; });
    };
    ASSERT_TRUE(state_is("RUNNING"));
    slurm.ask("scontrol update nodename=" + slurm.node() + " state=down reason=test");
    ASSERT_TRUE(state_is("PENDING"));  // and the node returns to service by itself
    ASSERT_TRUE(soon([&] { return study.has_ended(); }));
    const json now = json::parse(vinic.run("study status s.yaml --json").output);
    EXPECT_EQ(now["results"], json({{"timed out", 1}})) << "in its second life";
    study.end(0);
}

TEST(study_long, ten_thousand_points_stay_quick) {
    const program vinic;
    vinic.write("t.lua", trivial_workload);
    vinic.write("s.yaml",
                "workload: ./t.lua\naxes:\n - arguments.n: {from: 1, to: 2500, step: 1}\n"
                " - nic.lanai.clock_mhz: [33, 66, 100, 133]\n");
    ASSERT_EQ(vinic.run("study run s.yaml").status, 0);
    for (const char* verb :
         {"status s.yaml", "show s.yaml", "export s.yaml --csv all.csv", "report s.yaml -o all.html"}) {
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_EQ(vinic.run(std::string("study ") + verb).status, 0) << verb;
        EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(), 10)
            << verb;
    }
    EXPECT_EQ(std::ranges::count(vinic.read("all.csv"), '\n'), 10'001);
    if (!browser::is_installed()) GTEST_SKIP() << "chromium and chromedriver are not installed: no look at the page";
    browser in(vinic.folder());
    const auto begun = std::chrono::steady_clock::now();
    in.open(vinic.folder() / "all.html");
    in.type("#filter", "value_us=150");
    EXPECT_EQ(in.run("return document.getElementById('count').textContent;"), "4 of 10000 lines");
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(), 10);
    EXPECT_EQ(in.console(), json::array());
}

}  // namespace
}  // namespace vinic::testbench
