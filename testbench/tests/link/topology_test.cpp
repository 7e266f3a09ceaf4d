// SPDX-License-Identifier: Apache-2.0
#include "hw/link/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "hw/sim/error.h"
#include "hw/sim/random.h"
#include "testbench/tests/link/random_topology.h"

namespace vinic::link {
namespace {

void expect_all_pairs_connected(const topology& t, const routing& r) {
    for (unsigned from = 0; from < t.nodes; ++from)
        for (unsigned to = 0; to < t.nodes; ++to) {
            ASSERT_EQ(destination(t, from, r.route(from, to)), to) << from << " to " << to;
        }
    EXPECT_EQ(find_cycle(t, r), std::nullopt);
}

TEST(topology, route_bytes) {
    // Facts B6: bit 7 set, two's complement in the low six bits.
    EXPECT_EQ(route_byte(3, 3), 0x80);
    EXPECT_EQ(route_byte(0, 5), 0x85);
    EXPECT_EQ(route_byte(5, 4), 0xBF);
    EXPECT_EQ(route_byte(15, 0), 0xB1);  // -15 = 110001
}

TEST(topology, back_to_back_needs_no_route) {
    const auto t = topology::back_to_back();
    const routing r(t);
    EXPECT_TRUE(r.route(0, 1).empty());
    EXPECT_TRUE(r.route(0, 0).empty());
    EXPECT_EQ(destination(t, 0, r.route(0, 1)), 1u);
}

TEST(topology, one_switch) {
    const auto t = topology::one_switch(8, 8);
    const routing r(t);
    EXPECT_EQ(r.route(2, 7), std::vector<std::uint8_t>{0x85});
    EXPECT_EQ(r.route(7, 2), std::vector<std::uint8_t>{0xBB});
    EXPECT_EQ(r.route(4, 4), std::vector<std::uint8_t>{0x80});
    expect_all_pairs_connected(t, r);
}

TEST(topology, clos_of_128) {
    const auto t = topology::clos(128, 16);
    // 8 nodes a leaf: 16 leaves, 8 spines of 16 ports.
    EXPECT_EQ(t.switch_ports.size(), 24u);
    EXPECT_EQ(t.cables.size(), 256u);
    const routing r(t);
    expect_all_pairs_connected(t, r);
    // The port by which each leaf is left (8 .. 15) carries an eighth of the 8 * 120 routes that leave it.
    std::map<std::pair<unsigned, unsigned>, unsigned> up;
    for (unsigned from = 0; from < 128; ++from)
        for (unsigned to = 0; to < 128; ++to) {
            const auto& route = r.route(from, to);
            EXPECT_EQ(route.size(), from / 8 == to / 8 ? 1u : 3u);
            if (route.size() == 3) ++up[{from / 8, from % 8 + (route[0] & 0x3F)}];
        }
    EXPECT_EQ(up.size(), 128u);
    for (const auto& [port, routes] : up) EXPECT_NEAR(routes, 120, 12) << port.first << "." << port.second;
}

TEST(topology, clos_builds_no_more_than_it_needs) {
    EXPECT_EQ(topology::clos(16, 16).switch_ports.size(), 1u);
    EXPECT_EQ(topology::clos(17, 16).switch_ports.size(), 3u + 2u);
    EXPECT_EQ(topology::clos(32, 16).switch_ports.size(), 4u + 2u);
    EXPECT_EQ(topology::clos(64, 16).switch_ports.size(), 8u + 4u);
    for (const unsigned nodes : {9u, 17u, 24u, 32u}) {
        const auto t = topology::clos(nodes, 8);
        t.check();
        expect_all_pairs_connected(t, routing(t));
    }
}

TEST(topology, random_networks_are_routed_without_cycles) {
    sim::random_stream random(1, "topology_test");
    for (int round = 0; round < 200; ++round) {
        const topology t = random_topology(random);
        expect_all_pairs_connected(t, routing(t));
    }
}

TEST(topology, a_ring_that_goes_round_is_found) {
    topology t;
    t.nodes = 4;
    t.switch_ports.assign(4, 3);
    for (unsigned s = 0; s < 4; ++s) {
        t.cables.push_back({topology::node(s), topology::switch_port(s, 0)});
        t.cables.push_back({topology::switch_port(s, 1), topology::switch_port((s + 1) % 4, 2)});
    }
    routing r(t);
    EXPECT_EQ(find_cycle(t, r), std::nullopt);
    for (unsigned s = 0; s < 4; ++s)
        r.set(s, (s + 2) % 4, {route_byte(0, 1), route_byte(2, 1), route_byte(2, 0)});
    const auto cycle = find_cycle(t, r);
    ASSERT_TRUE(cycle);
    EXPECT_EQ(*cycle,
              "switch 0 port 1 -> switch 1 port 1 -> switch 2 port 1 -> switch 3 port 1 -> switch 0 port 1");
}

std::string complaint(const topology& t) {
    try {
        t.check();
    } catch (const sim::input_error& e) {
        return e.what();
    }
    return {};
}

TEST(topology, wrong_lists_are_refused) {
    auto t = topology::one_switch(2, 4);
    EXPECT_EQ(complaint(t), "");
    t.nodes = 3;
    EXPECT_EQ(complaint(t), "topology: node 2 has no cable");
    t.cables.push_back({topology::node(2), topology::switch_port(0, 4)});
    EXPECT_EQ(complaint(t), "topology: there is no switch 0 port 4");
    t.cables.back().b.port = 1;
    EXPECT_EQ(complaint(t), "topology: switch 0 port 1 has more than one cable");
    t.cables.back().b.port = 2;
    t.switch_ports.push_back(4);
    EXPECT_EQ(complaint(t), "topology: switch 1 cannot be reached from switch 0");
    EXPECT_THROW(topology::one_switch(9, 8), sim::input_error);
    EXPECT_THROW(topology::clos(129, 16), sim::input_error);
    EXPECT_THROW(topology::named("torus", 4, 8), sim::input_error);
    EXPECT_THROW(topology::named("back_to_back", 3, 8), sim::input_error);
}

TEST(topology, several_cards_back_to_back_are_a_cable_for_each_number) {
    const auto t = topology::named("back_to_back", 2, 8, 3);
    EXPECT_EQ(t.nodes, 6u);
    EXPECT_EQ(complaint(t), "");
    const routing r(t);
    for (unsigned from = 0; from < 6; ++from)
        for (unsigned to = 0; to < 6; ++to) {
            EXPECT_EQ(r.reaches(from, to), from % 3 == to % 3) << from << " " << to;
            EXPECT_TRUE(r.route(from, to).empty());
        }
}

TEST(topology, places_of_a_machine_follow_one_another_on_a_switch) {
    const auto t = topology::named("switch", 3, 8, 2);
    ASSERT_EQ(t.nodes, 6u);
    EXPECT_EQ(t.place_of(2, 1), 5u);
    EXPECT_EQ(t.cables[5].b, topology::switch_port(0, 5));
    EXPECT_EQ(t.name_of(4), "node 2");
    EXPECT_EQ(t.name_of(5), "node 2 nic1");
    expect_all_pairs_connected(t, routing(t));
    EXPECT_THROW(topology::named("switch", 5, 8, 2), sim::input_error);
    expect_all_pairs_connected(topology::named("clos", 16, 8, 2), routing(topology::named("clos", 16, 8, 2)));
}

/// Two machines with two cards: the first cards on one switch, the second ones on another.
topology two_networks() {
    topology t;
    t.nodes = 4;
    t.cards = 2;
    t.switch_ports = {4, 4};
    for (unsigned i = 0; i < 4; ++i) t.cables.push_back({topology::node(i), topology::switch_port(i % 2, i)});
    return t;
}

TEST(topology, each_card_may_have_a_network_of_its_own) {
    topology t = two_networks();
    EXPECT_EQ(complaint(t), "");
    const routing r(t);
    EXPECT_TRUE(r.reaches(0, 2));
    EXPECT_TRUE(r.reaches(1, 3));
    EXPECT_FALSE(r.reaches(0, 1));
    EXPECT_EQ(destination(t, 0, r.route(0, 2)), 2u);
    EXPECT_EQ(destination(t, 1, r.route(1, 3)), 3u);
    EXPECT_TRUE(r.route(0, 3).empty());
    t.cards = 1;
    EXPECT_EQ(complaint(t), "topology: switch 1 cannot be reached from switch 0");
}

TEST(topology, cards_that_meet_nowhere_are_refused) {
    topology t = two_networks();
    t.cables = {{topology::node(0), topology::switch_port(0, 0)},
                {topology::node(1), topology::switch_port(0, 1)}};
    EXPECT_EQ(complaint(t), "topology: node 1 has no cable");
    t.cables.push_back({topology::node(2), topology::switch_port(1, 0)});
    EXPECT_EQ(complaint(t), "topology: node 1 nic1 has no cable");
    t.cables.push_back({topology::node(3), topology::switch_port(1, 1)});
    EXPECT_EQ(complaint(t), "topology: nothing leads from node 0 to node 1");
    t = two_networks();
    t.switch_ports.push_back(4);
    EXPECT_EQ(complaint(t), "topology: switch 2 reaches no node");
}

}  // namespace
}  // namespace vinic::link
