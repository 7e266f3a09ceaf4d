// SPDX-License-Identifier: Apache-2.0
// The disk is full while a trace is written: one clear line, exit status 2, no result, and the run does not
// go on.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

struct trace {
    const char* file;
    const char* options;
};

class file_that_may_not_grow : public testing::TestWithParam<trace> {};

TEST_P(file_that_may_not_grow, ends_the_run_in_one_line) {
    const program vinic;
    const std::string file = GetParam().file;
    // 16 blocks of 512 bytes.
    const auto run = vinic.run("run stream " + std::string(GetParam().options) + file +
                                   " --json result.json -- sizes=4096 count=1000000",
                               "ulimit -f 16;");
    if (run.errors.find("FST is not available") != std::string::npos) GTEST_SKIP() << run.errors;
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.errors, "vinic: " + file + ": cannot be written: File too large\n");
    EXPECT_EQ(run.output, "");
    EXPECT_FALSE(vinic.has("result.json"));
    EXPECT_LE(std::filesystem::file_size(vinic.folder() / file), 16u * 512);
}

INSTANTIATE_TEST_SUITE_P(full_disk, file_that_may_not_grow,
                         testing::Values(trace{"w.fst", "--wave "}, trace{"w.vcd", "--wave "},
                                         trace{"p.log", "--log "}, trace{"p.pcapng", "--pcap "},
                                         trace{"t.json", "--timeline "}, trace{"i.txt", "--itrace "}),
                         [](const auto& of) {
                             std::string name = of.param.file;
                             std::ranges::replace(name, '.', '_');
                             return name;
                         });

// What is short enough to be written at the end only.
TEST(full_disk, is_noticed_at_the_end_of_a_short_trace) {
    const program vinic;
    for (const char* option : {"--log", "--pcap", "--timeline"}) {
        const auto run =
            vinic.run("run pingpong " + std::string(option) + " /dev/full --until 1us --json r.json");
        EXPECT_EQ(run.status, 2) << option;
        EXPECT_EQ(run.errors, "vinic: /dev/full: cannot be written: No space left on device\n") << option;
        EXPECT_FALSE(vinic.has("r.json")) << option;
    }
}

}  // namespace
}  // namespace vinic::testbench
