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

TEST(statistic, percentiles_of_a_distribution_are_samples) {
    simulation s;
    block b("block");
    for (std::uint64_t i = 1; i <= 60; ++i) b.wait.add(i);
    EXPECT_EQ(b.wait.samples().percentile(500), 30u);
    EXPECT_EQ(b.wait.samples().percentile(1000), 60u);
    EXPECT_EQ(b.wait.samples().min(), 1u);
    for (std::uint64_t i = 0; i < 1000; ++i) b.wait.add(100'003);
    b.wait.add(100'019);
    EXPECT_EQ(b.wait.samples().percentile(500), 100'003u);   // rank 531 of 1061
    EXPECT_EQ(b.wait.samples().percentile(990), 100'003u);   // rank 1051
    EXPECT_EQ(b.wait.samples().percentile(1000), 100'019u);  // rank 1061
    EXPECT_EQ(b.wait.samples().sum(), 60u * 61 / 2 + 100'003'000u + 100'019u);
}

TEST(statistic, what_was_counted_in_a_stretch_can_be_taken_apart) {
    simulation s;
    block b("block");
    for (const std::uint64_t clocks : {3u, 5u, 900u}) b.wait.add(clocks);
    b.packets.add(2);
    const tally waits = b.wait.counted(100), packets = b.packets.counted(100);
    for (const std::uint64_t clocks : {5u, 7u, 7u}) b.wait.add(clocks);
    b.packets.add(3);
    tally later = b.wait.counted(600), more = b.packets.counted(600);
    later -= waits;
    more -= packets;
    using numbers = std::vector<std::pair<std::string, std::uint64_t>>;
    EXPECT_EQ(b.wait.numbers(later, 500),
              (numbers{{".count", 3}, {".mean", 6}, {".min", 5}, {".p50", 7}, {".p99", 7}, {".max", 7}}));
    EXPECT_EQ(b.packets.numbers(more, 1'000'000), (numbers{{"", 3'000'000}}));  // 3 packets in 1 us
    later += waits;
    EXPECT_EQ(b.wait.numbers(later, 600), b.wait.values(600));
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
