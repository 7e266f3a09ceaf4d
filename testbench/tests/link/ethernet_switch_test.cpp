// SPDX-License-Identifier: Apache-2.0
#include "hw/link/ethernet_switch.h"

#include <gtest/gtest.h>

#include "hw/sim/error.h"
#include "testbench/tests/link/bench.h"

namespace vinic::link {
namespace {

constexpr picoseconds byte_ps = 8000, us = 1'000'000;

ethernet::address address_of(unsigned station) { return {2, 0, 0, 0, 0, static_cast<std::uint8_t>(station)}; }

std::vector<std::uint8_t> frame(const ethernet::address& from, const ethernet::address& to,
                                std::size_t payload) {
    std::vector<std::uint8_t> bytes(to.begin(), to.end());
    bytes.insert(bytes.end(), from.begin(), from.end());
    bytes.resize(bytes.size() + 2 + payload, 0x5A);
    const auto fcs = ethernet::fcs_of(bytes);
    bytes.insert(bytes.end(), fcs.begin(), fcs.end());
    bytes.insert(bytes.begin(), ethernet::preamble.begin(), ethernet::preamble.end());
    return bytes;
}

/// Takes whole frames, as an Ethernet card does.
struct ethernet_station : port_client {
    explicit ethernet_station(const char* name) : nic(name, *this) {}
    void on_head(const packet_ptr&) override {
        heads.push_back(sim::now());
        nic.take(never);
    }
    void on_take_limit() override {}
    void on_tail(const reception& came) override {
        tails.push_back(sim::now());
        received.emplace_back(came.bytes.begin(), came.bytes.end());
    }
    void on_part_sent() override {}
    void on_sent() override {}

    port nic;
    std::vector<picoseconds> heads, tails;
    std::vector<std::vector<std::uint8_t>> received;
};

struct ethernet_bench {
    using settings = std::vector<std::pair<std::string, std::string>>;
    static sim::configuration configured(const settings& given) {
        sim::configuration config;
        for (const auto& [name, value] : settings{{"fabric.switching", "ethernet"},
                                                  {"link.byte_ps", "8000"},
                                                  {"link.crc8", "false"},
                                                  {"link.gap_bytes", "12"},
                                                  {"link.flow_control", "false"}})
            config.set(name, {value, "test", ""});
        for (const auto& [name, value] : given) config.set(name, {value, "test", ""});
        return config;
    }
    explicit ethernet_bench(const topology& t, const settings& given = {})
        : simulation(configured(given)), net("fabric", t) {
        for (unsigned i = 0; i < t.nodes; ++i) {
            stations.push_back(std::make_unique<ethernet_station>(("node" + std::to_string(i)).c_str()));
            net.attach(i, stations[i]->nic.out, stations[i]->nic.in);
        }
    }
    void send(unsigned from, unsigned to, std::size_t payload) {
        stations[from]->nic.send(frame(address_of(from), address_of(to), payload), true);
    }
    const ethernet_switch& middle() const { return *net.ethernet_switches().at(0); }

    sim::simulation simulation;
    fabric net;
    actor script;
    std::vector<std::unique_ptr<ethernet_station>> stations;
};

TEST(ethernet_switch, floods_until_it_has_learnt) {
    ethernet_bench b(topology::one_switch(3, 4));
    b.script.at(us, [&] { b.send(0, 1, 100); });
    b.script.at(50 * us, [&] { b.send(1, 0, 100); });
    b.script.at(100 * us, [&] { b.send(0, 1, 100); });
    sc_core::sc_start();
    EXPECT_EQ(b.stations[1]->received.size(), 2u);
    EXPECT_EQ(b.stations[2]->received.size(), 1u);  // the first one
    EXPECT_EQ(b.stations[0]->received.size(), 1u);
    EXPECT_EQ(b.middle().flooded.value(), 1u);
    EXPECT_EQ(b.middle().forwarded.value(), 2u);
}

TEST(ethernet_switch, stores_the_whole_frame_and_forwards_it) {
    ethernet_bench b(topology::one_switch(2, 2), {{"switch.forwarding_ps", "3000000"}});
    b.script.at(us, [&] { b.send(0, 1, 100); });
    sc_core::sc_start();
    ASSERT_EQ(b.stations[1]->received.size(), 1u);
    EXPECT_EQ(b.stations[1]->received[0], frame(address_of(0), address_of(1), 100));
    // Preamble, 118 bytes of frame on the first cable, the switch, and the first byte on the second.
    const picoseconds delay = b.net.cables()[0]->delay_ps();
    EXPECT_EQ(b.stations[1]->heads[0], us + (8 + 118 + 1) * byte_ps + delay + 3 * us + byte_ps + delay);
    EXPECT_EQ(b.stations[1]->tails[0] - b.stations[1]->heads[0], (8 + 118) * byte_ps);
}

TEST(ethernet_switch, drops_damaged_frames_and_runts) {
    ethernet_bench b(topology::one_switch(2, 2));
    auto bad = frame(address_of(0), address_of(1), 100);
    bad[30] ^= 4;
    b.script.at(us, [&] { b.stations[0]->nic.send(bad, true); });
    b.script.at(20 * us, [&] { b.send(0, 1, 10); });
    sc_core::sc_start();
    EXPECT_TRUE(b.stations[1]->received.empty());
    EXPECT_EQ(b.middle().damaged.value(), 2u);
}

TEST(ethernet_switch, a_full_queue_drops_and_keeps_the_order) {
    // Two inputs at full rate into one output: half of it is too much.
    ethernet_bench b(topology::one_switch(3, 3), {{"switch.queue_bytes", "4000"}});
    b.script.at(us, [&] { b.send(2, 0, 46); });
    constexpr unsigned count = 20;
    for (unsigned i = 0; i < count; ++i)
        b.script.at((50 + 13 * i) * us, [&, i] {
            b.send(0, 2, 1000 + i);
            b.send(1, 2, 1100 + i);
        });
    sc_core::sc_start();
    const std::size_t got = b.stations[2]->received.size();
    EXPECT_EQ(got + b.middle().queue_full.value(), 2 * count);
    EXPECT_GT(b.middle().queue_full.value(), 0u);
    for (const std::size_t base : {1000, 1100}) {  // each sender's frames, by their length
        std::size_t last = 0;
        for (const auto& f : b.stations[2]->received) {
            const std::size_t payload = f.size() - 8 - 18;
            if (payload < base || payload >= base + count) continue;
            EXPECT_GE(payload, last);
            last = payload;
        }
    }
}

TEST(ethernet_switch, two_frames_of_one_instant_go_by_port) {
    ethernet_bench b(topology::one_switch(3, 3));
    b.script.at(us, [&] { b.send(2, 0, 46); });
    b.script.at(50 * us, [&] {
        b.send(1, 2, 200);
        b.send(0, 2, 200);
    });
    sc_core::sc_start();
    ASSERT_EQ(b.stations[2]->received.size(), 2u);
    EXPECT_EQ(b.stations[2]->received[0], frame(address_of(0), address_of(2), 200));
    // The second one waits for the first: a frame and its gap.
    EXPECT_EQ(b.stations[2]->heads[1] - b.stations[2]->heads[0], (8 + 218 + 12) * byte_ps);
}

TEST(ethernet_switch, a_loop_is_a_mistake) {
    topology t;
    t.nodes = 2;
    t.switch_ports = {4, 4};
    t.cables = {{topology::node(0), topology::switch_port(0, 0)},
                {topology::node(1), topology::switch_port(1, 0)},
                {topology::switch_port(0, 1), topology::switch_port(1, 1)},
                {topology::switch_port(0, 2), topology::switch_port(1, 2)}};
    EXPECT_THROW(ethernet_bench b(t), sim::input_error);
}

TEST(ethernet_switch, trees_of_switches_work) {
    topology t;
    t.nodes = 2;
    t.switch_ports = {4, 4};
    t.cables = {{topology::node(0), topology::switch_port(0, 0)},
                {topology::node(1), topology::switch_port(1, 0)},
                {topology::switch_port(0, 1), topology::switch_port(1, 1)}};
    ethernet_bench b(t);
    b.script.at(us, [&] { b.send(0, 1, 500); });
    sc_core::sc_start();
    EXPECT_EQ(b.stations[1]->received.size(), 1u);
}

}  // namespace
}  // namespace vinic::link
