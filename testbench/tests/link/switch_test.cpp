// SPDX-License-Identifier: Apache-2.0
#include "hw/link/switch.h"

#include <gtest/gtest.h>

#include "testbench/tests/link/bench.h"

namespace vinic::link {
namespace {

// 1.28 Gbit/s: a character takes B, a cable of 3 m takes D = 3 * 4.92 ns, a switch routes in R.
constexpr picoseconds B = 6250;
constexpr picoseconds D = 14760;
constexpr picoseconds R = 150'000;
const bench::settings first_generation = {{"link.byte_ps", "6250"}};

/// Switches in a row with a node at port 0 and 1 of each; port 7 leads to port 6 of the next.
topology row(unsigned switches) {
    topology t;
    t.nodes = 2 * switches;
    t.switch_ports.assign(switches, 8);
    for (unsigned s = 0; s < switches; ++s) {
        t.cables.push_back({topology::node(2 * s), topology::switch_port(s, 0)});
        t.cables.push_back({topology::node(2 * s + 1), topology::switch_port(s, 1)});
        if (s + 1 < switches)
            t.cables.push_back({topology::switch_port(s, 7), topology::switch_port(s + 1, 6)});
    }
    return t;
}

TEST(crossbar_switch, cut_through_latency_grows_by_hop_not_by_length) {
    for (const unsigned switches : {1u, 2u, 3u, 5u}) {
        bench b(row(switches), first_generation);
        const unsigned to = 2 * switches - 1;
        const auto bytes = b.make(0, to, 200);
        ASSERT_EQ(bytes.size(), 200 + switches);
        b.script.at(0, [&] { b[0].nic.send(bytes, true); });
        b.run();
        ASSERT_EQ(b[to].received.size(), 1u);
        // Each hop: a character, the cable, the routing; what follows the route byte starts then.
        const picoseconds head = switches * (B + D + R) + B + D;
        EXPECT_EQ(b[to].received[0].head, head);
        EXPECT_EQ(b[to].received[0].tail, head + 201 * B);
        EXPECT_EQ(b[to].received[0].bytes, bench::without_route(bytes, switches));
        EXPECT_EQ(b[to].received[0].remainder, 0);
    }
}

TEST(crossbar_switch, packets_stream_through_without_a_pause) {
    bench b(row(3), first_generation);
    b.script.at(0, [&] {
        for (unsigned i = 0; i < 20; ++i) b[0].nic.send(b.make(0, 5, 40, i), true);
    });
    b.run();
    ASSERT_EQ(b[5].received.size(), 20u);
    // On the first cable a packet has three route bytes, 40 bytes, CRC-8 and GAP. Each follows the other as
    // on the first cable: the routing delay is one of a pipeline.
    for (unsigned i = 0; i < 20; ++i)
        EXPECT_EQ(b[5].received[i].tail, 3 * (B + D + R) + B + D + 41 * B + i * 45 * B);
    for (const auto& c : b.net.cables()) EXPECT_EQ(c->ab.stops.value() + c->ba.stops.value(), 0u);
}

TEST(crossbar_switch, a_packet_to_its_own_sender) {
    bench b(topology::one_switch(4, 8), first_generation);
    const auto bytes = b.make(2, 2, 64);
    b.script.at(0, [&] { b[2].nic.send(bytes, true); });
    b.run();
    ASSERT_EQ(b[2].received.size(), 1u);
    EXPECT_EQ(b[2].received[0].tail, 2 * (B + D) + R + 65 * B);
}

TEST(crossbar_switch, different_outputs_do_not_wait) {
    bench b(topology::one_switch(4, 8), first_generation);
    b.script.at(0, [&] {
        b[0].nic.send(b.make(0, 1, 300), true);
        b[2].nic.send(b.make(2, 3, 300), true);
    });
    b.run();
    EXPECT_EQ(b[1].received.at(0).tail, 2 * (B + D) + R + 301 * B);
    EXPECT_EQ(b[3].received.at(0).tail, b[1].received.at(0).tail);
}

TEST(crossbar_switch, an_output_serves_its_inputs_in_turn) {
    bench b(topology::one_switch(4, 8), first_generation);
    b.script.at(0, [&] {
        for (unsigned i = 0; i < 2; ++i)
            for (unsigned from : {0u, 1u, 2u}) b[from].nic.send(b.make(from, 3, 100, from), true);
    });
    b.run();
    ASSERT_EQ(b[3].received.size(), 6u);
    const picoseconds first = B + D + R;
    for (unsigned i = 0; i < 6; ++i) {
        EXPECT_EQ(b[3].received[i].bytes[0], i % 3);
        // Each occupies the output for 100 bytes, CRC-8 and GAP, with none of its time lost between them.
        EXPECT_EQ(b[3].received[i].tail, first + (i + 1) * 102 * B + D);
    }
}

TEST(crossbar_switch, fixed_priority_starves_the_others) {
    bench b(topology::one_switch(4, 8), {{"link.byte_ps", "6250"}, {"switch.arbitration", "fixed"}});
    b.script.at(0, [&] {
        for (unsigned from : {2u, 1u, 0u}) b[from].nic.send(b.make(from, 3, 100, from), true);
    });
    b.run();
    for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(b[3].received.at(i).bytes[0], i);
}

// Node 0 and node 2 (second switch) to node 3 (second switch): the packet of node 0 waits in the second
// switch, its slack fills, STOP goes to the first switch, whose slack fills, STOP goes to the sender.
TEST(crossbar_switch, back_pressure_reaches_the_sender) {
    bench b(row(2), first_generation);
    b[3].when_head = [] {};
    b.script.at(0, [&] { b[2].nic.send(b.make(2, 3, 1000, 2), true); });
    b.script.at(100'000, [&] { b[0].nic.send(b.make(0, 3, 1000, 1), true); });
    b.run(50'000'000);
    // Both senders stand; what has left node 0 fills exactly two slack buffers (and two route bytes are
    // gone).
    const auto& net = b.net;
    EXPECT_EQ(net.switches()[1]->slack_size(6), 56 + 3 + 2 * D / B);
    EXPECT_LE(net.switches()[1]->highest_slack(6), net.switches()[1]->slack_size(6));
    EXPECT_EQ(b[0].nic.sending().end(),
              net.switches()[0]->highest_slack(0) + net.switches()[1]->highest_slack(6) + 2);
    EXPECT_GT(net.switches()[0]->highest_slack(0), 56u);
    EXPECT_GT(net.switches()[1]->highest_slack(6), 56u);
    EXPECT_TRUE(b[0].sent.empty());
    EXPECT_EQ(net.waiting().size(), 3u);

    b[3].when_head = nullptr;
    b.script.at(50'000'000, [&] { b[3].nic.take(never); });
    b.run();
    ASSERT_EQ(b[3].received.size(), 2u);
    for (const auto& r : b[3].received) EXPECT_EQ(r.remainder, 0);
    EXPECT_EQ(b[3].received[1].bytes, bench::without_route(b.make(0, 3, 1000, 1), 2));
}

TEST(crossbar_switch, illegal_routes_and_dead_ports_drop_the_packet) {
    bench b(topology::one_switch(2, 4), first_generation);
    b.script.at(0, [&] {
        b[0].nic.send(std::vector<std::uint8_t>{0x01, 1, 2, 3}, true);           // bit 7 clear
        b[0].nic.send(std::vector<std::uint8_t>{route_byte(0, 4), 1, 2}, true);  // no such port
        b[0].nic.send(std::vector<std::uint8_t>{route_byte(1, 0), 1, 2}, true);  // below port 0
        b[0].nic.send(std::vector<std::uint8_t>(500, route_byte(0, 3)), true);   // no cable
        b[0].nic.send(b.make(0, 1, 20, 5), true);
    });
    b.run();
    const auto& s = *b.net.switches()[0];
    EXPECT_EQ(s.illegal_routes.value(), 3u);
    EXPECT_EQ(s.dead_ports.value(), 1u);
    EXPECT_EQ(s.packets.value(), 1u);
    ASSERT_EQ(b[1].received.size(), 1u);
    EXPECT_EQ(b[1].received[0].bytes[0], 5);
}

TEST(crossbar_switch, a_sender_that_does_not_finish_is_named) {
    bench b(topology::one_switch(3, 4), {{"switch.nres_ps", "1000000000"}});
    b.script.at(0, [&] { b[0].nic.send(b.make(0, 2, 20), false); });
    b.script.at(1'000'000, [&] { b[1].nic.send(b.make(1, 2, 20), true); });
    try {
        b.run();
        FAIL() << "ended at " << sim::now();
    } catch (const std::exception& e) {
        const std::string text = e.what();
        for (const char* what :
             {"the packet at port 1 from node 1 waits for port 2 to node 2, held by the one at port 0",
              "the packet from port 0 at port 2 waits for the rest of it from node 0"})
            EXPECT_NE(text.find(what), std::string::npos) << text;
    }
}

TEST(crossbar_switch, a_wedged_network_says_who_waits_for_whom) {
    // Three switches in a ring; each node sends two switches further, clockwise, long packets at once.
    topology t;
    t.nodes = 3;
    t.switch_ports.assign(3, 4);
    for (unsigned s = 0; s < 3; ++s) {
        t.cables.push_back({topology::node(s), topology::switch_port(s, 0)});
        t.cables.push_back({topology::switch_port(s, 1), topology::switch_port((s + 1) % 3, 2)});
    }
    bench b(t, {{"link.byte_ps", "6250"}, {"switch.nres_ps", "1000000000"}});
    const std::vector<std::uint8_t> clockwise{route_byte(0, 1), route_byte(2, 1), route_byte(2, 0)};
    routing routes(t);
    EXPECT_FALSE(find_cycle(t, routes));
    for (unsigned s = 0; s < 3; ++s) routes.set(s, (s + 2) % 3, clockwise);
    ASSERT_TRUE(find_cycle(t, routes));
    b.script.at(0, [&] {
        for (unsigned s = 0; s < 3; ++s) {
            auto bytes = clockwise;
            bytes.resize(2000);
            b[s].nic.send(bytes, true);
        }
    });
    try {
        b.run();
        FAIL() << "ended at " << sim::now();
    } catch (const std::exception& e) {
        const std::string text = e.what();
        EXPECT_NE(text.find("wedged"), std::string::npos) << text;
        for (const char* who :
             {"fabric.switch0: the packet at port 2 from switch2 port 1 waits for port 1 to switch1 "
              "port 2, held by the one at port 0",
              "fabric.switch1: the packet at port 2", "fabric.switch2: the packet at port 2"})
            EXPECT_NE(text.find(who), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace vinic::link
