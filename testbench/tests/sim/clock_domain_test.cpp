// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/clock_domain.h"

#include <gtest/gtest.h>

namespace vinic::sim {
namespace {

TEST(clock_domain, pci_clocks_are_exact_thirds) {
    EXPECT_EQ(clock_domain::from_mhz(33).edge(1), 30000u);
    EXPECT_EQ(clock_domain::from_mhz(66).edge(1), 15000u);
    EXPECT_EQ(clock_domain::from_mhz(133).edge(1), 7500u);
    EXPECT_EQ(clock_domain::from_mhz(100).edge(3), 30000u);
}

TEST(clock_domain, a_period_that_is_no_whole_number_of_picoseconds_does_not_drift) {
    // 225 MHz: 1e6/225 = 4444.44.. ps; edge 9 is exactly 40000 ps, edge 9e9 exactly 4e13.
    const auto clock = clock_domain::from_mhz(225);
    EXPECT_EQ(clock.edge(1), 4444u);
    EXPECT_EQ(clock.edge(2), 8889u);
    EXPECT_EQ(clock.edge(9), 40000u);
    EXPECT_EQ(clock.edge(9'000'000'000), 40'000'000'000'000u);
}

TEST(clock_domain, finding_an_edge_inverts_edge) {
    for (const auto& clock : {clock_domain::from_mhz(133), clock_domain::from_mhz(225), clock_domain(7, 3)}) {
        for (std::uint64_t n : {0u, 1u, 2u, 3u, 1000u, 999'999'937u}) {
            const picoseconds t = clock.edge(n);
            EXPECT_EQ(clock.edge_at_or_after(t), n);
            EXPECT_EQ(clock.edge_after(t), n + 1);
            EXPECT_EQ(clock.edge_at_or_before(t), n);
            EXPECT_EQ(clock.edge_at_or_after(t + 1), n + 1);
        }
    }
}

TEST(clock_domain, ratio_of_a_parent) {
    // PCI64B: the LANai runs at twice the PCI clock (facts B1).
    EXPECT_EQ(clock_domain::from_mhz(66).times(2), clock_domain::from_mhz(133));
    EXPECT_EQ(clock_domain::from_mhz(66).times(3, 2), clock_domain(10000, 1));
}

}  // namespace
}  // namespace vinic::sim
