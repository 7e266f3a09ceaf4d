// SPDX-License-Identifier: Apache-2.0
#include "hw/link/checker.h"

#include <gtest/gtest.h>

namespace vinic::link {
namespace {

constexpr checker::settings at_a_switch = {4000, 10'000, checker::leads_to::a_switch, true};

/// Symbols one after another.
struct feed {
    explicit feed(const checker::settings& s) : c(s) {}
    feed& data(std::uint8_t byte, sim::picoseconds step = 4000) {
        return add(symbol::kind::data, byte, step);
    }
    feed& gap(sim::picoseconds step = 4000) { return add(symbol::kind::gap, 0, step); }
    feed& stop() { return add(symbol::kind::stop, 0, 0); }
    feed& go() { return add(symbol::kind::go, 0, 0); }
    feed& add(symbol::kind k, std::uint8_t byte, sim::picoseconds step) {
        now += step;
        c.see({now, k, byte});
        return *this;
    }
    std::vector<checker::rule> broken() const {
        std::vector<checker::rule> rules;
        for (const auto& v : c.violations()) rules.push_back(v.broken);
        return rules;
    }
    checker c;
    sim::picoseconds now = 0;
};

using rules = std::vector<checker::rule>;

// 0x80 then its CRC-8: 0x80 * x^8 mod P = x^15 mod P. x^8 = 07, x^9 = 0E, x^10 = 1C, x^11 = 38, x^12 = 70,
// x^13 = E0, x^14 = C7 (1C0 ^ 107), x^15 = 89 (18E ^ 107).
TEST(link_checker, a_right_packet_breaks_no_rule) {
    feed f(at_a_switch);
    f.data(0x80).data(0x89).gap().data(0x80, 9000).data(0x89).gap();
    EXPECT_EQ(f.broken(), rules{});
    EXPECT_EQ(f.c.packets(), 2u);
}

TEST(link_checker, crc) {
    feed f(at_a_switch);
    f.data(0x80).data(0x88).gap().data(0x80).data(0x89).gap();
    EXPECT_EQ(f.broken(), rules{checker::rule::crc});
}

TEST(link_checker, a_route_byte_for_a_switch_and_none_for_a_node) {
    feed f(at_a_switch);
    f.data(0x01).data(0x07).gap();  // 0x01 * x^8 = 07
    EXPECT_EQ(f.broken(), rules{checker::rule::route});
    auto node = at_a_switch;
    node.to = checker::leads_to::node;
    feed g(node);
    g.data(0x01).data(0x07).gap().data(0x80).data(0x89).gap();
    EXPECT_EQ(g.broken(), rules{checker::rule::route});
}

TEST(link_checker, gap_ends_a_packet_of_at_least_a_byte_and_its_crc) {
    feed f(at_a_switch);
    f.data(0x80).data(0x89).gap().gap();
    EXPECT_EQ(f.broken(), rules{checker::rule::empty_packet});
}

TEST(link_checker, characters_keep_their_distance) {
    feed f(at_a_switch);
    f.data(0x80).data(0x89, 3999).gap();
    EXPECT_EQ(f.broken(), rules{checker::rule::spacing});
}

TEST(link_checker, stop_is_obeyed_after_the_round_trip) {
    // Reaction: 2 * 10000 + 4000 = 24000 ps, that is six characters.
    feed f(at_a_switch);
    f.data(0x80).stop();
    for (int i = 0; i < 6; ++i) f.data(0);
    EXPECT_EQ(f.broken(), rules{});
    f.data(0);
    EXPECT_EQ(f.broken(), rules{checker::rule::flow});
    f.go().data(0);
    EXPECT_EQ(f.broken(), rules{checker::rule::flow});
}

TEST(link_checker, a_refreshed_stop_does_not_renew_the_allowance) {
    feed f(at_a_switch);
    f.data(0x80).stop();
    for (int i = 0; i < 6; ++i) f.data(0).stop();
    f.data(0);
    EXPECT_EQ(f.broken(), rules{checker::rule::flow});
}

TEST(link_checker, time_does_not_go_back) {
    checker c(at_a_switch);
    c.see({5000, symbol::kind::stop, 0});
    c.see({4000, symbol::kind::go, 0});
    ASSERT_EQ(c.violations().size(), 1u);
    EXPECT_EQ(c.violations()[0].broken, checker::rule::time);
}

}  // namespace
}  // namespace vinic::link
