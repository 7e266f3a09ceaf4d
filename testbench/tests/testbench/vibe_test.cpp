// SPDX-License-Identifier: Apache-2.0
// `vinic vibe`: VIBe's tests on several designs, as one table.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "hw/sim/error.h"
#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"
#include "testbench/vibe/suite.h"

namespace vinic::testbench {
namespace {

const json& row_of(const json& rows, const std::string& test, const std::string& which,
                   const std::string& quantity) {
    static const json none;
    const auto found = std::ranges::find_if(rows, [&](const json& row) {
        return row["test"] == test && row["case"] == which && row["quantity"] == quantity;
    });
    return found == rows.end() ? none : *found;
}

TEST(vibe, a_row_for_each_case_and_a_column_for_each_design) {
    const program vinic;
    vinic.write("slow.yaml", "base: myvia\ndescription: slower bus\nbus.clock_mhz: 33\n");
    const auto outcome =
        vinic.run("vibe --design myvia,./slow.yaml --test 'base latency,pipeline depth' --json");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const json object = json::parse(outcome.output);
    EXPECT_EQ(object["format"], "vinic vibe 1");
    EXPECT_TRUE(object["failures"].empty());
    EXPECT_TRUE(object["unsupported"].empty());
    const json& rows = object["results"];
    ASSERT_EQ(rows.size(), 2u * 9 * 2 + 6u * 2);
    for (const auto& row : rows) {
        ASSERT_TRUE(row.contains("myvia") && row.contains("slow")) << row;
        if (row["quantity"] != "latency (us)") continue;
        EXPECT_GT(row["slow"].get<double>(), row["myvia"].get<double>()) << row;
    }
    // Who polls always has a processor. Who blocks gives it up, and pays for the interrupt.
    const json& polled = row_of(rows, "base latency", "wait poll, 65536 bytes", "cpu (%)");
    ASSERT_FALSE(polled.is_null()) << rows;
    EXPECT_EQ(polled["myvia"], 100.0);
    EXPECT_LT(row_of(rows, "base latency", "wait block, 65536 bytes", "cpu (%)")["myvia"].get<double>(), 50);
    EXPECT_GT(row_of(rows, "base latency", "wait block, 65536 bytes", "latency (us)")["myvia"].get<double>(),
              row_of(rows, "base latency", "wait poll, 65536 bytes", "latency (us)")["myvia"].get<double>());
    EXPECT_GT(row_of(rows, "pipeline depth", "depth 2, 4 bytes", "bandwidth (MB/s)")["myvia"].get<double>(),
              row_of(rows, "pipeline depth", "depth 1, 4 bytes", "bandwidth (MB/s)")["myvia"].get<double>());
    // The same numbers as the program's own.
    const std::string latency = VINIC_BINARY_DIR "/share/vinic/vibe/latency sizes=64";
    const auto alone = vinic.run("exec -- " + latency + " node1 : " + latency);
    std::istringstream lines(alone.output);
    std::string size_name, latency_name, cpu_name, size;
    double us = 0;
    lines >> size_name >> latency_name >> cpu_name >> size >> us;
    EXPECT_EQ(size, "64") << alone.output << alone.errors;
    // The first of several sizes finds the card's translations cold.
    EXPECT_NEAR(
        us, row_of(rows, "base latency", "wait poll, 64 bytes", "latency (us)")["myvia"].get<double>(), 0.1);
}

TEST(vibe, every_test_of_the_suite_runs_on_myvia) {
    const program vinic;
    const auto outcome = vinic.run("vibe --json");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    const json object = json::parse(outcome.output);
    for (const auto& test : vibe::read_suite(VINIC_SOURCE_DIR "/testbench/vibe/suite.yaml"))
        EXPECT_TRUE(std::ranges::any_of(object["results"], [&](const json& row) {
            return row["test"] == test.name;
        })) << test.name;
    // Programs that poll memory, and those that call.
    const json again =
        json::parse(vinic.run("vibe --test 'RDMA write,reliability latency' --json").output)["results"];
    EXPECT_EQ(again.size(), 6u + 3 * 2);
    for (const auto& row : again)
        EXPECT_TRUE(std::ranges::find(object["results"], row) != object["results"].end()) << row;
}

TEST(vibe, what_a_card_cannot_do_is_said) {
    const program vinic;
    const auto outcome = vinic.run("vibe --design bvia --test 'reliability latency' --json");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    const json object = json::parse(outcome.output);
    EXPECT_EQ(object["results"].size(), 2u);
    ASSERT_EQ(object["unsupported"].size(), 2u);
    EXPECT_EQ(object["unsupported"][0]["test"], "reliability latency, level delivery");
    EXPECT_EQ(object["unsupported"][0]["why"], "this card has no such reliability level; its mask is 1");
    EXPECT_EQ(vinic.run("vibe --design udp_ge").errors,
              "vinic: --design udp_ge: speaks udp and no VI, so no program of VIPL runs on it\n");
}

TEST(vibe, overlap_is_large_on_myvia) {
    const auto outcome = program().run("run overlap --json -- sizes=8,65536");
    for (const auto& row : json::parse(outcome.output)["results"]) {
        EXPECT_GT(row["overlap_percent"].get<double>(), 80) << row;
        EXPECT_LE(row["overlap_percent"].get<double>(), 100) << row;
    }
}

TEST(vibe, wrong_wishes) {
    EXPECT_EQ(program().run("vibe --test 'base latence'").errors,
              "vinic: --test 'base latence': did you mean 'base latency'?\n");
    EXPECT_EQ(program().run("vibe --design myvai").errors,
              "vinic: no design is named 'myvai'; did you mean 'myvia'?\n");
    const program vinic;
    vinic.write("s.yaml", "tests:\n - test: x\n   program: latency\n   kees: [a]\n");
    EXPECT_THROW(vibe::read_suite(vinic.folder() / "s.yaml"), sim::input_error);
    const auto failed = vinic.run("vibe --test 'base latency' --set nic.chip=lanai4");
    EXPECT_EQ(failed.status, 1);
    EXPECT_NE(failed.errors.find("vinic: base latency, wait poll on myvia: firmware myvia runs on lanai9"),
              std::string::npos)
        << failed.errors;
}

}  // namespace
}  // namespace vinic::testbench
