// SPDX-License-Identifier: Apache-2.0
// vinic as it is where Verilator was not found: everything but FST works, and it says so in one line.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

TEST(no_fst, is_said_before_the_run_and_vcd_recommended) {
    const program vinic("tests/vinic_without_fst");
    const auto run = vinic.run("run pingpong --wave w.fst --json r.json -- sizes=8 count=1");
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.errors, "vinic: w.fst: FST is not available: built without Verilator; .vcd works\n");
    EXPECT_EQ(run.output, "");
    EXPECT_TRUE(std::filesystem::is_empty(vinic.folder()));
}

TEST(no_fst, leaves_vcd_as_it_is) {
    const program without("tests/vinic_without_fst"), with;
    const std::string recorded =
        "run pingpong --wave w.vcd --gtkw w.gtkw --wave-from message:1 --wave-to message:1 -- sizes=8 "
        "count=1 warmup=0";
    for (const program* one : {&without, &with}) {
        const auto run = one->run(recorded);
        ASSERT_EQ(run.status, 0) << run.errors;
    }
    EXPECT_TRUE(without.read("w.vcd") == with.read("w.vcd"));
    EXPECT_EQ(without.run("trace w.vcd").status, 0);
}

TEST(no_fst, is_said_of_a_file_to_read) {
    const program vinic("tests/vinic_without_fst");
    const std::string example = VINIC_SOURCE_DIR "/traces/examples/message.fst";
    const auto checked = vinic.run("trace " + example);
    EXPECT_EQ(checked.status, 2);
    EXPECT_EQ(checked.errors, "vinic: " + example + ": FST is not available: built without Verilator\n");
}

}  // namespace
}  // namespace vinic::testbench
