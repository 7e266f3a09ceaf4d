// SPDX-License-Identifier: Apache-2.0
#include "hw/link/cable.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <string>

#include "hw/link/crc.h"
#include "hw/sim/error.h"
#include "testbench/tests/link/bench.h"

namespace vinic::link {
namespace {

/// What the probes of a cable say.
struct watcher : sim::listener {
    void on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t) override {
        values[p.name()].emplace_back(at, bits);
    }
    void on_packet(const sim::packet_probe& p, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                   std::string_view note, std::span<const sim::field>) override {
        packets[p.name()].push_back({at, {bytes.begin(), bytes.end()}, std::string(note)});
    }
    struct seen {
        sim::picoseconds at;
        std::vector<std::uint8_t> bytes;
        std::string note;
    };
    std::map<std::string, std::vector<std::pair<sim::picoseconds, std::uint64_t>>> values;
    std::map<std::string, std::vector<seen>> packets;
};

void watch_all(watcher& w) {
    for (const auto& [name, probe] : sim::simulation::current().probes()) probe->attach(w);
}

TEST(cable, the_delay_follows_from_length_and_medium) {
    // 25 m of fibre at 6.5 ns/m and 100 ns for the conversion at its ends.
    bench b(
        topology::back_to_back(),
        {{"link.length_mm", "25000"}, {"link.delay_fs_per_mm", "6500"}, {"link.fixed_delay_ps", "100000"}});
    EXPECT_EQ(b.net.cables()[0]->delay_ps(), 262'500u);
    b.script.at(0, [&] { b[0].nic.send(b.make(0, 1, 10), true); });
    b.run();
    EXPECT_EQ(b[1].received.at(0).head, 4000u + 262'500u);
}

TEST(cable, each_cable_can_be_set_on_its_own) {
    bench b(topology::one_switch(2, 4), {{"link.byte_ps", "6250"}, {"fabric.cable1.byte_ps", "4000"}});
    EXPECT_EQ(b.net.cables()[0]->byte_ps, 6250u);
    EXPECT_EQ(b.net.cables()[1]->byte_ps, 4000u);
    b.simulation.config().check_all_consumed();
}

// A character and the cable take a picosecond each, the switch between them nothing: the receiver has the
// head after two of each, and character k, of which the switch takes one, k characters later.
TEST(cable, a_free_link_takes_picoseconds_and_loses_nothing) {
    bench b(topology::one_switch(2, 4), {{"link.free", "true"}});
    EXPECT_EQ(b.net.cables()[0]->delay_ps(), 1u);
    const auto bytes = b.make(0, 1, 20);
    b.script.at(1000, [&] { b[0].nic.send(bytes, true); });
    b.run();
    ASSERT_EQ(b[1].received.size(), 1u);
    EXPECT_EQ(b[1].received[0].bytes, bench::without_route(bytes, 1));
    EXPECT_EQ(b[1].received[0].remainder, 0u);
    // The route byte is over at 1001 and in the switch at 1002; byte 1 leaves it as soon as it is there, at
    // 1003.
    EXPECT_EQ(b[1].received[0].head, 1005u);
    EXPECT_EQ(b[1].received[0].tail, 1005u + 20 + 1);  // the CRC-8, the GAP
    b.simulation.config().check_all_consumed();
}

// STOP and GO hold on it as on any cable: who takes a byte each 1000 ps gets all, and no slack buffer
// overflows.
TEST(cable, a_free_link_is_stopped) {
    bench b(topology::one_switch(2, 4), {{"link.free", "true"}});
    b[1].spacing = 1000;
    std::vector<std::vector<std::uint8_t>> sent;
    for (unsigned i = 0; i < 3; ++i) sent.push_back(b.make(0, 1, 5000, i));
    b.script.at(0, [&] {
        for (const auto& one : sent) b[0].nic.send(one, true);
    });
    b.run();
    ASSERT_EQ(b[1].received.size(), 3u);
    for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(b[1].received[i].bytes, bench::without_route(sent[i], 1)) << i;
    EXPECT_GT(b.net.cables()[1]->ab.stops.value() + b.net.cables()[1]->ba.stops.value(), 0u);
    EXPECT_LE(b[1].nic.highest_slack(), b[1].nic.slack_size());
    EXPECT_GE(b[1].received[2].tail, 15'000u * 1000);
}

TEST(cable, statistics_and_probes) {
    bench b(topology::one_switch(2, 4));
    watcher seen;
    watch_all(seen);
    const auto bytes = b.make(0, 1, 20);
    b.script.at(1'000'000, [&] { b[0].nic.send(bytes, true); });
    b.run();
    const cable& first = *b.net.cables()[0];
    EXPECT_EQ(first.ab.packets.value(), 1u);
    EXPECT_EQ(first.ab.bytes.value(), 22u);  // route, 20 bytes, CRC-8
    EXPECT_EQ(first.ab.busy.busy(), 23u * 4000u);
    EXPECT_EQ(first.ba.packets.value(), 0u);

    using changes = std::vector<std::pair<sim::picoseconds, std::uint64_t>>;
    const sim::picoseconds gap = 1'000'000 + 22 * 4000;
    EXPECT_EQ(seen.values["fabric.cable0.ab.state"], (changes{{1'000'000, 1}, {gap, 3}, {gap + 4000, 0}}));
    // With route byte and CRC-8 on the first cable, and on the second without the route byte and with its own
    // CRC-8.
    auto wire = bytes;
    wire.push_back(crc8(bytes));
    ASSERT_EQ(seen.packets["fabric.cable0.ab.packet"].size(), 1u);
    EXPECT_EQ(seen.packets["fabric.cable0.ab.packet"][0].at, gap);
    EXPECT_EQ(seen.packets["fabric.cable0.ab.packet"][0].bytes, wire);
    std::vector<std::uint8_t> stripped(bytes.begin() + 1, bytes.end());
    stripped.push_back(crc8(stripped));
    ASSERT_EQ(seen.packets["fabric.cable1.ba.packet"].size(), 1u);
    EXPECT_EQ(seen.packets["fabric.cable1.ba.packet"][0].bytes, stripped);
}

TEST(cable, flow_control_shows) {
    bench b(topology::back_to_back());
    watcher seen;
    watch_all(seen);
    b[1].when_head = [] {};
    b.script.at(0, [&] { b[0].nic.send(std::vector<std::uint8_t>(300, 1), true); });
    b.script.at(10'000'000, [&] { b[1].nic.take(never); });
    b.run();
    // D = 14760. The 57th character has come at 57 * 4000 + D; a picosecond later the port decides.
    using changes = std::vector<std::pair<sim::picoseconds, std::uint64_t>>;
    EXPECT_EQ(seen.values["fabric.cable0.ab.stop"], (changes{{57 * 4000 + 14'760 + 1, 1}, {10'000'001, 0}}));
    // At the sender STOP is in effect a character and the cable later; GO likewise.
    const sim::picoseconds held = 58 * 4000 + 2 * 14'760;
    const auto& state = seen.values["fabric.cable0.ab.state"];
    ASSERT_GE(state.size(), 3u);
    EXPECT_EQ(state[1], std::pair(held, std::uint64_t{2}));
    EXPECT_EQ(state[2], std::pair(10'000'000 + 4000 + sim::picoseconds{14'760}, std::uint64_t{1}));
    EXPECT_EQ(b.net.cables()[0]->ab.stops.value(), 1u);
}

TEST(cable, an_error_hits_one_cable_only) {
    bench b(topology::one_switch(2, 4), {{"fabric.cable1.bit_error_rate", "0.002"}});
    watcher seen;
    watch_all(seen);
    for (unsigned i = 0; i < 50; ++i)
        b.script.at(i * 1'000'000, [&, i] { b[0].nic.send(b.make(0, 1, 60, i), true); });
    b.run();
    const auto& before = seen.packets["fabric.cable0.ab.packet"];
    const auto& after = seen.packets["fabric.cable1.ba.packet"];
    ASSERT_EQ(before.size(), 50u);
    ASSERT_EQ(after.size(), 50u);
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < 50; ++i) {
        EXPECT_EQ(crc8(before[i].bytes), 0);
        std::vector<std::uint8_t> whole(before[i].bytes.begin() + 1, before[i].bytes.end() - 1);
        whole.push_back(crc8(whole));
        ASSERT_EQ(after[i].bytes.size(), whole.size());
        for (std::size_t k = 0; k < whole.size(); ++k)
            bits += static_cast<std::uint64_t>(
                std::popcount(static_cast<unsigned>(whole[k] ^ after[i].bytes[k])));
        EXPECT_EQ(crc8(after[i].bytes) != 0, b[1].received.at(i).remainder != 0);
    }
    EXPECT_EQ(bits, b.net.cables()[1]->ba.bit_errors.value());
    EXPECT_EQ(b.net.cables()[0]->ab.bit_errors.value(), 0u);
    // 50 packets of 61 bytes: 24400 bits at 0.002: 49 +- 5 * 7.
    EXPECT_NEAR(static_cast<double>(bits), 49, 35);
}

TEST(cable, errors_do_not_depend_on_how_a_packet_is_announced) {
    const auto errors = [](bool in_parts) {
        bench b(topology::back_to_back(), {{"link.bit_error_rate", "0.003"}}, 7);
        const auto bytes = b.make(0, 1, 400);
        b.script.at(0, [&] {
            if (!in_parts) return b[0].nic.send(bytes, true);
            const std::span<const std::uint8_t> all(bytes);
            b[0].nic.send(all.first(100), false);
            b[0].nic.send(all.subspan(100), true, 5000);
        });
        b.run();
        return b[1].received.at(0).bytes;
    };
    EXPECT_EQ(errors(false), errors(true));
}

TEST(cable, rates_out_of_range_are_refused) {
    EXPECT_THROW(bench(topology::back_to_back(), {{"link.bit_error_rate", "0.5"}}), sim::input_error);
    EXPECT_THROW(bench(topology::back_to_back(), {{"link.drop_rate", "1.5"}}), sim::input_error);
    // STOP may come at any character of a packet and its GAP.
    EXPECT_THROW(bench(topology::back_to_back(), {{"link.gap_bytes", "2"}}), sim::input_error);
    bench(topology::back_to_back(), {{"link.gap_bytes", "2"}, {"link.flow_control", "false"}});
}

}  // namespace
}  // namespace vinic::link
