// SPDX-License-Identifier: Apache-2.0
// Reliable VIs over a network that damages and loses packets: nothing is lost, doubled, out of order or
// wrong, and no descriptor ends in error.
#include <gtest/gtest.h>

#include <string>

#include "testbench/tests/testbench/both_ways.h"
#include "testbench/tests/testbench/run_result.h"

namespace vinic::testbench {
namespace {

const std::string both_ways = both_ways_with({.packet_bytes = 4096,
                                              .over_bytes = 4,
                                              .largest_bytes = 65536,
                                              .rest_ps = 3'000'000'000});  // three retransmission times

struct network {
    const char* name;
    const char* options;
};

class reliability : public testing::TestWithParam<std::tuple<const char*, network, int>> {};

TEST_P(reliability, delivers_all_once_in_order_and_right) {
    const auto& [level, net, seed] = GetParam();
    const program vinic;
    vinic.write("both.lua", both_ways);
    const auto outcome = vinic.run("run both.lua --json --stats --seed " + std::to_string(seed) +
                                   net.options + " -- level=" + level);
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    // There was something to mend.
    const json result = json::parse(outcome.output);
    const double sent = sum_of(result, ".nic.send.packets");
    const double received = sum_of(result, ".nic.receive.packets") - sum_of(result, ".nic.receive.bad_crc32");
    EXPECT_GT(received, 0);
    EXPECT_LT(received, sent);
}

INSTANTIATE_TEST_SUITE_P(
    networks, reliability,
    testing::Combine(testing::Values("delivery", "reception"),
                     testing::Values(network{"bit_errors", " --set link.bit_error_rate=1e-5"},
                                     network{"drops", " --set link.drop_rate=0.05"},
                                     network{"both",
                                             " --set link.bit_error_rate=5e-6 --set link.drop_rate=0.02"},
                                     network{"both_on_gm",
                                             " --design gm_pci64b --set link.bit_error_rate=5e-6 "
                                             "--set link.drop_rate=0.02"},
                                     network{"both_on_myvia2",
                                             " --design myvia2 --set link.bit_error_rate=5e-6 "
                                             "--set link.drop_rate=0.02"}),
                     testing::Range(1, 4)),
    [](const auto& of) {
        return std::string(std::get<0>(of.param)) + "_" + std::get<1>(of.param).name + "_" +
               std::to_string(std::get<2>(of.param));
    });

// A packet of 4 KB takes 1.7 ms, a window of them 27 ms.
TEST(reliability, slow_links_break_nothing) {
    for (const char* workload :
         {"pingpong -- sizes=8,20000 count=2 warmup=1", "stream -- sizes=4096 count=40"}) {
        const std::string text = workload;
        const std::size_t rest = text.find(" -- ");
        const auto outcome = program().run("run " + text.substr(0, rest) + " --set link.byte_ps=400000" +
                                               text.substr(rest) + " reliability=delivery",
                                           "timeout 120");
        EXPECT_EQ(outcome.status, 0) << workload << outcome.errors;
    }
}

// Who leaves disconnects, and what the peer has sent and is not acknowledged yet is flushed: nobody leaves
// before the other one is done.
TEST(reliability, the_last_acknowledgement_may_be_lost) {
    for (int seed = 1; seed <= 5; ++seed) {
        const auto outcome = program().run(
            "run pingpong --set link.drop_rate=0.25 --seed " + std::to_string(seed) +
                " -- sizes=8 count=3 warmup=0 reliability=" + (seed % 2 ? "delivery" : "reception"),
            "timeout 60");
        EXPECT_EQ(outcome.status, 0) << seed << outcome.errors;
    }
}

}  // namespace
}  // namespace vinic::testbench
