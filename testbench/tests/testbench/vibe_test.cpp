// SPDX-License-Identifier: Apache-2.0
// `vinic vibe`: VIBe's tests on several designs, as one table.
#include <gtest/gtest.h>

#include <algorithm>

#include "hw/sim/error.h"
#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"
#include "testbench/vibe/suite.h"

namespace vinic::testbench {
namespace {

TEST(vibe, a_row_for_each_case_and_a_column_for_each_design) {
    const program vinic;
    vinic.write("slow.yaml", "base: myvia\ndescription: slower bus\nbus.clock_mhz: 33\n");
    const auto outcome =
        vinic.run("vibe --design myvia,./slow.yaml --test 'base latency,pipeline depth' --json");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const json object = json::parse(outcome.output);
    EXPECT_EQ(object["format"], "vinic vibe 1");
    EXPECT_TRUE(object["failures"].empty());
    const json& rows = object["results"];
    ASSERT_EQ(rows.size(), 7u + 5u);
    for (const auto& row : rows) {
        const bool latency = row["test"] == "base latency";
        EXPECT_EQ(row["quantity"], latency ? "latency (us)" : "bandwidth (MB/s)");
        ASSERT_TRUE(row.contains("myvia") && row.contains("slow")) << row;
        if (!latency) continue;
        EXPECT_GT(row["slow"].get<double>(), row["myvia"].get<double>()) << row;
    }
    EXPECT_EQ(rows[1]["case"], "4 bytes");
    EXPECT_EQ(rows[8]["case"], "window 2");
    EXPECT_GT(rows[9]["myvia"].get<double>(), rows[7]["myvia"].get<double>()) << "deeper is better";
    // The same number as the workload's own.
    const auto alone = vinic.run("run pingpong --json -- sizes=0,4,64,256,1024,4096,16384 count=50");
    EXPECT_EQ(json::parse(alone.output)["results"][1]["latency_us"], rows[1]["myvia"]);
}

TEST(vibe, every_test_of_the_suite_runs_on_myvia) {
    const auto outcome = program().run("vibe --json");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    const json object = json::parse(outcome.output);
    for (const auto& test : vibe::read_suite(VINIC_SOURCE_DIR "/testbench/vibe/suite.yaml"))
        EXPECT_TRUE(std::ranges::any_of(object["results"], [&](const json& row) {
            return row["test"] == test.name;
        })) << test.name;
    for (const auto& row : object["results"])
        if (row["test"] == "overlap") {
            EXPECT_GT(row["myvia"].get<double>(), 80) << row;
            EXPECT_LE(row["myvia"].get<double>(), 100) << row;
        }
}

TEST(vibe, wrong_wishes) {
    EXPECT_EQ(program().run("vibe --test 'base latence'").errors,
              "vinic: --test 'base latence': did you mean 'base latency'?\n");
    EXPECT_EQ(program().run("vibe --design myvai").errors,
              "vinic: no design is named 'myvai'; did you mean 'myvia'?\n");
    const program vinic;
    vinic.write("s.yaml", "tests:\n - test: x\n   workload: pingpong\n   kees: [a]\n");
    EXPECT_THROW(vibe::read_suite(vinic.folder() / "s.yaml"), sim::input_error);
    const auto failed = vinic.run("vibe --test 'base latency' --set nic.chip=lanai4");
    EXPECT_EQ(failed.status, 1);
    EXPECT_NE(failed.errors.find("vinic: base latency on myvia: firmware myvia runs on lanai9"),
              std::string::npos)
        << failed.errors;
}

}  // namespace
}  // namespace vinic::testbench
