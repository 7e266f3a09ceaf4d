// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/arbiter.h"

#include <gtest/gtest.h>

namespace vinic::bus {
namespace {

arbiter make(arbiter::rule by, arbiter::park where, unsigned masters, std::uint64_t latency = 2) {
    arbiter a(by, where, latency);
    for (unsigned i = 0; i < masters; ++i) a.add_master();
    return a;
}

TEST(arbiter, an_idle_bus_is_acquired_in_two_clocks) {
    auto a = make(arbiter::rule::round_robin, arbiter::park::none, 2);
    EXPECT_FALSE(a.decision(0));
    a.request(1, 100);  // REQ# in clock 100, GNT# in 101, address in 102
    EXPECT_EQ(a.decision(0), 101u);
    EXPECT_FALSE(a.decide(100, 0));
    const auto c = a.decide(101, 0);
    ASSERT_TRUE(c);
    EXPECT_EQ(c->master, 1u);
    EXPECT_EQ(c->address_clock, 102u);
}

TEST(arbiter, a_busy_bus_hides_the_arbitration) {
    auto a = make(arbiter::rule::round_robin, arbiter::park::none, 2);
    a.request(0, 100);
    EXPECT_EQ(a.decision(150), 149u);
    EXPECT_EQ(a.decide(149, 150)->address_clock, 150u);
    EXPECT_FALSE(a.decide(148, 150));
}

TEST(arbiter, a_request_too_late_for_the_decision_waits) {
    auto a = make(arbiter::rule::round_robin, arbiter::park::none, 2);
    a.request(0, 149);  // seen by the arbiter at edge 150
    EXPECT_FALSE(a.decide(149, 150));
    EXPECT_EQ(a.decision(150), 150u);
    EXPECT_EQ(a.decide(150, 150)->address_clock, 151u);
}

TEST(arbiter, round_robin_visits_all) {
    auto a = make(arbiter::rule::round_robin, arbiter::park::none, 3);
    std::vector<unsigned> order;
    for (int i = 0; i < 6; ++i) {
        for (unsigned m = 0; m < 3; ++m)
            if (!a.requests(m)) a.request(m, 0);
        const unsigned winner = a.decide(10, 0)->master;
        order.push_back(winner);
        a.withdraw(winner);
        a.granted(winner);
    }
    EXPECT_EQ(order, (std::vector<unsigned>{0, 1, 2, 0, 1, 2}));
}

TEST(arbiter, the_parked_master_needs_no_decision) {
    auto a = make(arbiter::rule::round_robin, arbiter::park::last, 2);
    a.granted(1);
    a.request(1, 100);
    EXPECT_EQ(a.decision(0), 100u);
    EXPECT_EQ(a.decide(100, 0)->address_clock, 100u);
    // Also against another one whose decision falls on the same edge: its FRAME# is there first.
    a.request(0, 99);
    EXPECT_EQ(a.decide(100, 0)->master, 1u);
    // But not on a bus that is still busy.
    EXPECT_EQ(a.decide(120, 121)->master, 0u);
}

TEST(arbiter, grant_is_lost_to_whoever_would_be_next) {
    constexpr std::uint64_t later = 100;
    auto fair = make(arbiter::rule::round_robin, arbiter::park::none, 3);
    fair.granted(1);
    EXPECT_FALSE(fair.grant_lost(1, later));
    fair.request(1, 40);
    EXPECT_FALSE(fair.grant_lost(1, later));  // its own next request takes nothing away
    fair.request(2, 50);
    EXPECT_EQ(fair.grant_lost(1, later), 52u);
    EXPECT_FALSE(fair.grant_lost(1, 49));
    fair.request(0, 45);
    EXPECT_EQ(fair.grant_lost(1, later), 47u);

    auto fixed = make(arbiter::rule::fixed, arbiter::park::none, 3);
    fixed.request(2, 50);
    EXPECT_EQ(fixed.grant_lost(1, later), 52u);
    fixed.request(1, 51);  // the arbiter has seen the other one before
    EXPECT_EQ(fixed.grant_lost(1, later), 52u);
    fixed.request(1, 50);  // keeps its REQ#: the lower one must wait
    EXPECT_FALSE(fixed.grant_lost(1, later));
    fixed.request(0, 60);
    EXPECT_EQ(fixed.grant_lost(1, later), 62u);
}

TEST(arbiter, a_released_request_is_seen_later) {
    auto a = make(arbiter::rule::round_robin, arbiter::park::none, 1);
    a.request(0, 10);
    a.release_until(0, 15);
    EXPECT_EQ(a.requested(0), 15u);
    a.release_until(0, 12);
    EXPECT_EQ(a.requested(0), 15u);
}

}  // namespace
}  // namespace vinic::bus
