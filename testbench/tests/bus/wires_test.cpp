// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/wires.h"

#include <gtest/gtest.h>

#include "hw/bus/wire_sampler.h"
#include "testbench/tests/bus/bus_fixture.h"

namespace vinic::bus {
namespace {

using test::bench;
using test::recorder_client;

/// Draws a wire from the first FRAME# on: one letter a clock.
struct picture {
    std::string frame, irdy, devsel, trdy, stop;
    std::vector<bus_clock> clocks;
};

picture draw(const std::vector<std::pair<std::string, std::string>>& settings, job::kind what,
             std::uint64_t address, std::size_t bytes, target_answer answer, bool wide = true) {
    bench b(settings);
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0, 65536, 2, 0, wide);
    for (std::size_t i = 0; i < t.memory.size(); ++i) t.memory[i] = static_cast<std::uint8_t>(i);
    bool first = true;
    t.decide = [&](const auto&, const auto&) {
        const bool now = std::exchange(first, false);
        return now ? answer : target_answer{};
    };
    wire_sampler sampler(b.bus->properties(), b.bus->wires);
    recorder_client client;
    std::vector<std::uint8_t> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::uint8_t>(0xA0 + i);
    job j{.what = what, .address = address, .bytes = data, .client = &client};
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    picture p;
    bool started = false, ended = false;
    sampler.replay([&](const bus_clock& w) {
        ended |= started && !w.frame && !w.irdy;
        started |= w.frame;
        if (!started || ended) return;
        p.frame += w.frame ? '#' : '.';
        p.irdy += w.irdy ? '#' : '.';
        p.devsel += w.devsel ? '#' : '.';
        p.trdy += w.trdy ? '#' : '.';
        p.stop += w.stop ? '#' : '.';
        p.clocks.push_back(w);
    });
    return p;
}

const std::vector<std::pair<std::string, std::string>> pci = {
    {"bus.kind", "pci"}, {"bus.clock_mhz", "33"}, {"bus.width_bits", "32"}};
const std::vector<std::pair<std::string, std::string>> pcix = {
    {"bus.kind", "pcix"}, {"bus.clock_mhz", "133"}, {"bus.target_decode_clocks", "1"}};

TEST(wires, pci_burst_write_with_wait_states) {
    // Medium decode, one initial and one later wait state, three dwords.
    const auto p = draw(pci, job::kind::write, 0x1000, 12, {.initial_wait_clocks = 1, .wait_clocks = 1});
    EXPECT_EQ(p.frame, "######..");
    EXPECT_EQ(p.irdy, ".#######");
    EXPECT_EQ(p.devsel, "..######");
    EXPECT_EQ(p.trdy, "...#.#.#");
    EXPECT_EQ(p.stop, "........");
    EXPECT_EQ(p.clocks[0].ad, 0x1000u);
    EXPECT_EQ(p.clocks[0].cbe, 0x7u);
    EXPECT_EQ(p.clocks[3].ad, 0xA3A2A1A0u);
    EXPECT_EQ(p.clocks[5].ad, 0xA7A6A5A4u);
    EXPECT_EQ(p.clocks[7].ad, 0xABAAA9A8u);
    EXPECT_EQ(p.clocks[3].cbe, 0xF0u);  // all four lanes enabled; the upper four do not exist
}

TEST(wires, pci_read_turns_ad_around) {
    const auto p = draw(pci, job::kind::read, 0x1000, 8, {});
    EXPECT_EQ(p.frame, "###.");
    EXPECT_EQ(p.irdy, ".###");
    EXPECT_EQ(p.devsel, "..##");
    EXPECT_EQ(p.trdy, "..##");
    EXPECT_EQ(p.clocks[1].ad_floating, ~std::uint64_t{0});
    EXPECT_EQ(p.clocks[2].ad, 0x03020100u);
    EXPECT_EQ(p.clocks[3].ad, 0x07060504u);
}

TEST(wires, pci_retry_of_a_burst_and_disconnect) {
    const auto retry = draw(pci, job::kind::write, 0x1000, 16, {.kind = answer_kind::retry});
    EXPECT_EQ(retry.frame, "###.");
    EXPECT_EQ(retry.irdy, ".###");
    EXPECT_EQ(retry.devsel, "..##");
    EXPECT_EQ(retry.trdy, "....");
    EXPECT_EQ(retry.stop, "..##");
    const auto disconnect = draw(pci, job::kind::write, 0x1000, 16, {.limit_bytes = 8});
    EXPECT_EQ(disconnect.frame, "####.");
    EXPECT_EQ(disconnect.irdy, ".####");
    EXPECT_EQ(disconnect.trdy, "..##.");
    EXPECT_EQ(disconnect.stop, "...##");
}

TEST(wires, pcix_burst_write) {
    const auto p = draw(pcix, job::kind::write, 0x1003, 40, {});
    // address, attributes, DEVSEL#, 6 data phases (3 + 40 bytes), FRAME# up one clock before the last.
    EXPECT_EQ(p.frame, "########.");
    EXPECT_EQ(p.irdy, "..#######");
    EXPECT_EQ(p.devsel, "..#######");
    EXPECT_EQ(p.trdy, "...######");
    EXPECT_EQ(p.clocks[0].cbe & 0xF, 0xFu);
    EXPECT_EQ(p.clocks[1].ad & 0xFF, 40u);             // byte count
    EXPECT_EQ(p.clocks[1].ad >> 8 & 0xFFFF, 1u << 3);  // bus 0, device 1, function 0
    EXPECT_EQ(p.clocks[3].ad, 0xA4A3A2A1A0000000u);    // lanes 3 to 7
}

TEST(wires, pcix_target_abort_takes_devsel_away) {
    const auto p = draw(pcix, job::kind::read, 0x1000, 512, {.kind = answer_kind::abort});
    EXPECT_EQ(p.devsel, "..#.");
    EXPECT_EQ(p.stop, "...#");
}

TEST(wires, pcix_disconnect_at_an_adb_is_announced_four_data_phases_ahead) {
    const auto p = draw(pcix, job::kind::write, 0x1040, 512, {.limit_bytes = 100});
    EXPECT_EQ(p.trdy, "...########");
    EXPECT_EQ(p.stop, ".......####");
}

TEST(wires, dual_address_and_64_bits) {
    bench b({{"bus.kind", "pci"}, {"bus.clock_mhz", "66"}});
    auto& m = b.add_master("m", 1);
    b.add_target("t", 0x12'0000'0000, 4096, 2);
    wire_sampler sampler(b.bus->properties(), b.bus->wires);
    recorder_client client;
    std::vector<std::uint8_t> data(16, 0x55);
    job j{.what = job::kind::write, .address = 0x12'0000'0010, .bytes = data, .client = &client};
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    std::vector<bus_clock> w;
    sampler.replay([&](const bus_clock& c) {
        if (c.frame || c.irdy) w.push_back(c);
    });
    ASSERT_EQ(w.size(), 5u);  // two address phases, decode, two data phases
    EXPECT_EQ(w[0].cbe & 0xF, 0xDu);
    EXPECT_EQ(w[0].ad, 0x12'0000'0010u);
    EXPECT_EQ(w[1].cbe & 0xF, 0x7u);
    EXPECT_EQ(w[1].ad & 0xFFFF'FFFF, 0x12u);
    EXPECT_TRUE(w[0].req64);
    EXPECT_TRUE(w[3].ack64);
    EXPECT_EQ(w[3].ad, 0x5555'5555'5555'5555u);
}

TEST(wires, spans_name_transactions_and_phases) {
    bench b({{"bus.kind", "pcix"}, {"bus.clock_mhz", "133"}});
    auto& m = b.add_master("m", 1);
    b.add_target("t", 0, 4096, 2);
    struct : sim::listener {
        std::vector<std::string> what;
        std::vector<sim::picoseconds> length;
        void on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end,
                     std::string_view name, std::span<const sim::field>) override {
            what.emplace_back(name);
            length.push_back((end - begin) / 7500);
        }
    } spans;
    b.bus->wires.transaction.attach(spans);
    b.bus->wires.phase.attach(spans);
    recorder_client client;
    std::vector<std::uint8_t> data(128);
    job j{.what = job::kind::write, .address = 0, .bytes = data, .client = &client};
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    EXPECT_EQ(spans.what, (std::vector<std::string>{"memory_write_block", "address", "attribute", "decode",
                                                    "data", "turnaround"}));
    // Decode B: DEVSEL# two clocks after the attributes.
    EXPECT_EQ(spans.length, (std::vector<sim::picoseconds>{20, 1, 1, 2, 16, 1}));
}

TEST(wires, nothing_changes_when_somebody_watches) {
    const auto run = [](bool watched) {
        bench b({{"bus.kind", "pci"}, {"bus.clock_mhz", "66"}});
        auto& m = b.add_master("m", 1);
        b.add_target("t", 0, 65536, 2).answer.boundary_bytes = 64;
        std::optional<wire_sampler> sampler;
        if (watched) sampler.emplace(b.bus->properties(), b.bus->wires);
        recorder_client client;
        std::vector<std::uint8_t> data(1000);
        job j{.what = job::kind::read, .address = 0, .bytes = data, .client = &client};
        b.at_clock(0, [&] { m.start(j); });
        b.run();
        return std::pair(client.done_at, sc_core::sc_delta_count());
    };
    EXPECT_EQ(run(false), run(true));
}

TEST(wires, what_is_not_yet_reported_is_not_settled) {
    bench b({{"bus.kind", "pci"}, {"bus.clock_mhz", "66"}});
    auto& m = b.add_master("m", 1);
    b.add_target("t", 0, 65536, 2);
    recorder_client client;
    std::vector<std::uint8_t> data(800);
    job j{.what = job::kind::write, .address = 0, .bytes = data, .client = &client};
    b.at_clock(0, [&] { m.start(j); });
    const auto& s = sim::simulation::current();
    sc_core::sc_start(sim::to_sc_time(50 * 15000));
    // Address in clock 3, data to clock 104.
    EXPECT_EQ(s.settled(sim::now()), 3u * 15000 - 1);
    sc_core::sc_start(sim::to_sc_time(100 * 15000));
    EXPECT_EQ(s.settled(sim::now()), 150u * 15000);
}

}  // namespace
}  // namespace vinic::bus
