// SPDX-License-Identifier: Apache-2.0
// Runs that are killed at some instant: the waveform opens up to the last flush.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "testbench/tests/testbench/program.h"
#include "traces/waveform.h"

namespace vinic::testbench {
namespace {

class killed : public testing::TestWithParam<int> {};

TEST_P(killed, run_leaves_an_fst_that_opens) {
    const program vinic;
    const auto run = vinic.run("run stream --wave w.fst -- sizes=4096 count=10000000",
                               fmt::format("timeout -s KILL {:.1f}", 3 + 0.3 * GetParam()));
    ASSERT_NE(run.status, 0);
    const auto checked = vinic.run("trace w.fst");
    EXPECT_EQ(checked.status, 0) << checked.output << checked.errors;
    const traces::waveform wave((vinic.folder() / "w.fst").string());
    EXPECT_GT(wave.signals().at("node0.bus.frame_n").size(), 100u);
}
INSTANTIATE_TEST_SUITE_P(at, killed, testing::Range(0, 24));

}  // namespace
}  // namespace vinic::testbench
