// SPDX-License-Identifier: Apache-2.0
#include "traces/packet_owners.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "hw/sim/simulation.h"
#include "testbench/tests/traces/wire.h"

namespace vinic::traces {
namespace {

/// node0 - port 2 of switch0, port 5 - port 1 of switch1, port 4 - node1.
const cable_map two_switches{{"fabric.cable0", {"node0", "switch0 port 2"}},
                             {"fabric.cable1", {"switch0 port 5", "switch1 port 1"}},
                             {"fabric.cable2", {"switch1 port 4", "node1"}}};
constexpr std::uint8_t plus_3 = 0x83, minus_3 = 0xBD;

std::vector<std::uint8_t> packet(const std::vector<std::uint8_t>& route) {
    wire_bytes bytes;
    for (const std::uint8_t byte : route) bytes.put(byte, 1);
    bytes.put(abi::packet_type_vi, 4).put(abi::packet_send, 1).put(abi::packet_first | abi::packet_last, 1);
    bytes.put(0, 2).put(5, 2).put(5, 2).put(77, 4).put(0, 16);
    return bytes.bytes();
}

struct world {
    sim::simulation simulation;
    fabric_block fabric{"fabric"};
    packet_owners owners{two_switches};

    void send(const std::string& card, std::uint64_t number) {
        message_path m;
        m.sender = card;
        m.number = number;
        owners.on_packet_of(m, header_of(abi::packet_send));
    }
    static abi::packet_header header_of(abi::packet_kind kind) {
        return {.kind = kind, .destination_vi = 5, .source_vi = 5, .connection_key = 77};
    }
    std::string owner(const sim::packet_probe& where, const std::vector<std::uint8_t>& bytes,
                      abi::packet_kind kind = abi::packet_send) const {
        const packet_owners::owner* of = owners.of(header_of(kind), where, bytes);
        return of ? fmt::format("{} {}", of->sender, of->number) : "nobody";
    }
};

TEST(packet_ways, follow_what_is_left_of_the_route) {
    const packet_ways ways(two_switches);
    EXPECT_EQ(ways.destination("fabric.cable0.ab", packet({plus_3, plus_3})), "node1");
    EXPECT_EQ(ways.destination("fabric.cable1.ab", packet({plus_3})), "node1");
    EXPECT_EQ(ways.destination("fabric.cable2.ab", packet({})), "node1");
    EXPECT_EQ(ways.destination("fabric.cable2.ba", packet({minus_3, minus_3})), "node0");
    EXPECT_EQ(ways.destination("fabric.cable1.ba", packet({minus_3})), "node0");
    EXPECT_EQ(ways.destination("fabric.cable0.ab", packet({0x81})), "switch0 port 2");  // nothing at port 3
    EXPECT_EQ(ways.destination("fabric.cable9.ab", packet({})), "");
}

// VI 5 of one node talks to VI 5 of the other, and both are at sequence 0.
TEST(packet_owners, directions_of_a_connection_are_told_apart_on_each_cable) {
    world w;
    EXPECT_EQ(w.owner(w.fabric.cable0.ab, packet({plus_3, plus_3})), "nobody");
    w.send("node0.nic", 8);
    w.send("node1.nic", 3);
    EXPECT_EQ(w.owner(w.fabric.cable0.ab, packet({plus_3, plus_3})), "node0.nic 8");
    EXPECT_EQ(w.owner(w.fabric.cable1.ab, packet({plus_3})), "node0.nic 8");
    EXPECT_EQ(w.owner(w.fabric.cable1.ba, packet({minus_3})), "node1.nic 3");
    EXPECT_EQ(w.owner(w.fabric.cable0.ba, packet({})), "node1.nic 3");
}

// The other direction has not sent its packet of that number yet, or what passes is no part of a message.
TEST(packet_owners, a_packet_of_the_other_direction_or_of_another_kind_belongs_to_nobody) {
    world w;
    w.send("node0.nic", 8);
    EXPECT_EQ(w.owner(w.fabric.cable1.ba, packet({minus_3})), "nobody");
    EXPECT_EQ(w.owner(w.fabric.cable0.ab, packet({plus_3, plus_3}), abi::packet_acknowledge), "nobody");
    EXPECT_EQ(w.owner(w.fabric.cable0.ab, packet({plus_3, plus_3})), "node0.nic 8");
}

TEST(packet_owners, the_latest_message_of_a_name_is_meant) {
    world w;
    w.send("node0.nic", 8);
    w.send("node0.nic", 9);
    EXPECT_EQ(w.owner(w.fabric.cable0.ab, packet({plus_3, plus_3})), "node0.nic 9");
}

// VI 5 of one card talks to VI 5 of the other card of its node, over the switch between them.
TEST(packet_owners, directions_between_cards_of_a_node_are_told_apart) {
    const sim::simulation simulation;
    fabric_block fabric("fabric");
    packet_owners owners({{"fabric.cable0", {"node0", "switch0 port 2"}},
                          {"fabric.cable1", {"switch0 port 5", "node0.nic1"}}});
    for (const auto& [card, number] : {std::pair{"node0.nic", 8u}, std::pair{"node0.nic1", 3u}}) {
        message_path m;
        m.sender = card;
        m.number = number;
        owners.on_packet_of(m, world::header_of(abi::packet_send));
    }
    const auto owner = [&](const sim::packet_probe& where, const std::vector<std::uint8_t>& bytes) {
        return owners.of(world::header_of(abi::packet_send), where, bytes)->sender;
    };
    EXPECT_EQ(owner(fabric.cable0.ab, packet({plus_3})), "node0.nic");
    EXPECT_EQ(owner(fabric.cable1.ab, packet({})), "node0.nic");
    EXPECT_EQ(owner(fabric.cable1.ba, packet({minus_3})), "node0.nic1");
    EXPECT_EQ(owner(fabric.cable0.ba, packet({})), "node0.nic1");
}

}  // namespace
}  // namespace vinic::traces
