// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/statistic.h"

#include <gtest/gtest.h>

#include "hw/sim/simulation.h"
#include "hw/sim/unit.h"

namespace vinic::sim {
namespace {

struct block : module {
    explicit block(const sc_core::sc_module_name& name) : module(name) {}
    counter<unit::bytes> received{*this, "received", "bytes"};
    histogram<unit::clocks> wait{*this, "wait", "clocks"};
    rate<unit::packets> packets{*this, "packets", "packets per second"};
    utilisation busy{*this, "busy", "share of time"};
};

TEST(statistic, names_and_units_come_from_the_declaration) {
    simulation s;
    block b("block");
    b.received.add(7);
    const auto& found = *s.statistics().at("block.received");
    EXPECT_EQ(found.unit(), "bytes");
    EXPECT_EQ(found.values(0).front().second, 7u);
    EXPECT_EQ(s.statistics().at("block.packets")->unit(), "packets/s");
}

TEST(statistic, histogram_percentiles_are_exact_below_64_and_within_a_bucket_above) {
    simulation s;
    block b("block");
    for (std::uint64_t i = 1; i <= 60; ++i) b.wait.add(i);
    EXPECT_EQ(b.wait.percentile(500), 30u);
    EXPECT_EQ(b.wait.percentile(1000), 60u);
    EXPECT_EQ(b.wait.min(), 1u);
    for (std::uint64_t i = 0; i < 1000; ++i) b.wait.add(100'000);
    const std::uint64_t median = b.wait.percentile(500);
    EXPECT_GE(median, 100'000u - 100'000u / 32);
    EXPECT_LE(median, 100'000u);
}

TEST(statistic, rates_and_shares_of_time) {
    simulation s;
    block b("block");
    b.packets.add(3);
    b.busy.add(10, 35);
    EXPECT_EQ(b.packets.values(1'000'000).front().second, 3'000'000u);  // 3 packets in 1 us
    EXPECT_EQ(b.busy.values(100).front().second, 250'000u);             // 25 of 100 ps
}

}  // namespace
}  // namespace vinic::sim
