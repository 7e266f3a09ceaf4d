// SPDX-License-Identifier: Apache-2.0
// Whole systems with blocks in RTL: what every probe sees is what it sees with their models.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

constexpr const char* doorbells = "--set nic.doorbells.impl=rtl";
constexpr const char* all = "--set nic.doorbells.impl=rtl --set nic.lanai.impl=rtl";

struct workload {
    const char* name;
    const char* arguments;
};

std::string run(const workload& what, const std::string& options) {
    const auto outcome =
        program().run(fmt::format("run {} --design myvia2 {} --reproducible --json - --fingerprint -- {}",
                                  what.name, options, what.arguments));
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output;
}

class rtl_run : public testing::TestWithParam<workload> {};

TEST_P(rtl_run, gives_the_results_and_the_fingerprint_of_the_model) {
    const json model = json::parse(run(GetParam(), ""));
    const json with_rtl = json::parse(run(GetParam(), all));
    ASSERT_TRUE(model.contains("fingerprint"));
    EXPECT_EQ(model["fingerprint"], with_rtl["fingerprint"]);
    EXPECT_EQ(model["results"], with_rtl["results"]);
}

TEST_P(rtl_run, gives_the_same_bytes_in_lockstep_and_shuffled) {
    const std::string plain = run(GetParam(), doorbells);
    EXPECT_EQ(plain, run(GetParam(), std::string(doorbells) + " --lockstep"));
    EXPECT_EQ(plain, run(GetParam(), std::string(doorbells) + " --shuffle 7"));
}

INSTANTIATE_TEST_SUITE_P(workloads, rtl_run,
                         testing::Values(workload{"pingpong", "sizes=0,8,5000 count=3 warmup=1 verify=true"},
                                         workload{"stream", "sizes=8,5000 count=20 warmup=1 verify=true"},
                                         workload{"rate", "sizes=8 count=20 warmup=1 vis=4"}),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(rtl_run, of_the_core_gives_the_same_bytes_shuffled) {
    const workload rate{"rate", "sizes=8 count=5 warmup=0 vis=2"};
    EXPECT_EQ(run(rate, all), run(rate, std::string(all) + " --shuffle 7"));
}

/// Where the firmware does not look into the FIFO, RTL would stand beside the path.
TEST(rtl_design, is_refused_where_firmware_polls_its_doorbells_in_memory) {
    for (const std::string design : {"myvia", "bvia", "firmvia"}) {
        const auto outcome =
            program().run(fmt::format("run pingpong --json r.json --design {} {}", design, doorbells));
        EXPECT_EQ(outcome.status, 2);
        EXPECT_NE(outcome.errors.find("doorbells.impl = rtl: firmware " + design +
                                      " does not use the doorbell FIFO"),
                  std::string::npos)
            << outcome.errors;
    }
}

}  // namespace
}  // namespace vinic::testbench
