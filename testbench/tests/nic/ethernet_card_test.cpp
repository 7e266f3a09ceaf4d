// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/ethernet/ethernet_card.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "hw/link/cable.h"
#include "hw/nic/bytes.h"
#include "testbench/tests/bus/bus_fixture.h"
#include "testbench/tests/nic/span_log.h"
#include "testbench/tests/nic/timeline.h"

namespace vinic::nic {
namespace {

using namespace abi::ethernet;
namespace frame = link::ethernet;
using test::counted;

constexpr std::uint32_t host_base = 0x10000000, host_size = 1 << 20;
constexpr std::uint32_t card_base = 0xE0000000;
constexpr sim::picoseconds clock_ps = 15'000, us = 1'000'000;
constexpr frame::address ours{2, 0, 0, 0, 0, 1}, other{2, 0, 0, 0, 0, 2};
constexpr std::uint32_t transmit_ring = 0x1000, receive_ring = 0x2000, buffers = 0x10000, frames = 0x40000;

/// The other end of the cable: notes all that comes, as it is on the wire.
struct far_end : link::port_client {
    far_end() : port("far", *this) {}
    void on_head(const link::packet_ptr&) override {
        heads.push_back(sim::now());
        port.take(link::never);
    }
    void on_take_limit() override {}
    void on_tail(const link::reception& came) override {
        tails.push_back(sim::now());
        received.emplace_back(came.bytes.begin(), came.bytes.end());
    }
    void on_part_sent() override {}
    void on_sent() override {}

    link::port port;
    std::vector<sim::picoseconds> heads, tails;
    std::vector<std::vector<std::uint8_t>> received;
};

/// PCI 64/66 with host memory and a processor that writes registers; Gigabit Ethernet.
struct bench {
    static test::settings with_ethernet(test::settings given) {
        const test::settings ethernet{
            {"link.crc8", "false"}, {"link.gap_bytes", "12"}, {"link.flow_control", "false"}};
        given.insert(given.end(), ethernet.begin(), ethernet.end());
        if (std::ranges::none_of(given, [](const auto& s) { return s.first == "link.byte_ps"; }))
            given.emplace_back("link.byte_ps", "8000");
        return given;
    }

    explicit bench(const test::settings& given = {})
        : simulation(test::configured(with_ethernet(given))),
          bus("bus"),
          processor("processor", bus.properties(), {0, 2, 0}),
          card("nic", bus.properties(), {0, 4, 0}),
          host("host", bus.properties(), host_base, host_size),
          cable("cable0") {
        bus.attach(processor);
        bus.map(bus.attach(host.port, {{0, 1, 0}}), host_base, host_size);
        bus.map(card.attach(bus), card_base, card.bar_bytes());
        card.interrupt = [this](bool level) { interrupts.emplace_back(sim::now(), level); };
        card.link.out.bind(cable.from_a);
        cable.to_a.bind(card.link.in);
        far.port.out.bind(cable.from_b);
        cable.to_b.bind(far.port.in);
        for (const auto& [name, probe] : sim::simulation::current().probes()) probe->attach(log);
        script.at(1 * us, [this] { start(); });
    }

    void start() {
        set(ADDRESS_HIGH, 0x0200);
        set(ADDRESS_LOW, 0x00000001);
        set(TRANSMIT_RING_LOW, host_base + transmit_ring);
        set(TRANSMIT_RING_HIGH, 0);
        set(TRANSMIT_ENTRIES, 16);
        set(RECEIVE_RING_LOW, host_base + receive_ring);
        set(RECEIVE_RING_HIGH, 0);
        set(RECEIVE_ENTRIES, 16);
        set(MASK, CAUSE_SENT | CAUSE_RECEIVED);
        set(CONTROL, CONTROL_TRANSMIT | CONTROL_RECEIVE);
        for (std::uint32_t i = 0; i < 16; ++i) put(receive_ring, i, buffers + i * 2048, 2048, 0);
        if (receives) set(RECEIVE_POSTED, receives);
    }
    /// As a processor does: on the bus, in order.
    void set(register_offset at, std::uint32_t value) {
        auto& w = *writes.emplace_back(std::make_unique<write>());
        store_little(w.bytes.data(), value);
        w.job = {
            .what = bus::job::kind::write, .address = card_base + at, .bytes = w.bytes, .client = &quiet};
        processor.start(w.job);
    }
    std::uint32_t read_cause() {
        std::array<std::uint8_t, 4> word{};
        card.registers.on_read({}, card_base + CAUSE, word);
        return load_little(word.data());
    }
    void put(std::uint32_t ring, std::uint32_t number, std::uint32_t at, std::uint32_t length,
             unsigned flags) {
        std::uint8_t* d = &host.memory[ring + number % 16 * 16];
        store_little(d, host_base + at);
        store_little(d + 4, 0);
        store_little(d + 8, length | flags << 16);
        store_little(d + 12, 0);
    }
    std::uint32_t status(std::uint32_t ring, std::uint32_t number) const {
        return load_little(&host.memory[ring + number % 16 * 16 + 12]);
    }
    /// A frame in memory and its descriptor.
    std::vector<std::uint8_t> make(std::uint32_t number, std::size_t payload,
                                   unsigned flags = LAST | REPORT) {
        std::vector<std::uint8_t> bytes(other.begin(), other.end());
        bytes.insert(bytes.end(), ours.begin(), ours.end());
        bytes.insert(bytes.end(), {0x88, 0xB5});
        const auto data = counted(payload, number + 1);
        bytes.insert(bytes.end(), data.begin(), data.end());
        std::ranges::copy(bytes, &host.memory[frames + number * 2048]);
        put(transmit_ring, number, frames + number * 2048, static_cast<std::uint32_t>(bytes.size()), flags);
        return bytes;
    }
    /// From the far end: what it puts on the wire.
    void send_from_far(std::size_t payload, const frame::address& to = ours, bool damaged = false) {
        std::vector<std::uint8_t> bytes(to.begin(), to.end());
        bytes.insert(bytes.end(), other.begin(), other.end());
        bytes.insert(bytes.end(), {0x88, 0xB5});
        const auto data = counted(payload);
        bytes.insert(bytes.end(), data.begin(), data.end());
        const auto fcs = frame::fcs_of(bytes);
        bytes.insert(bytes.end(), fcs.begin(), fcs.end());
        if (damaged) bytes[20] ^= 1;
        bytes.insert(bytes.begin(), frame::preamble.begin(), frame::preamble.end());
        far.port.send(bytes, true);
    }

    struct write {
        std::array<std::uint8_t, 4> bytes{};
        bus::job job;
    };
    struct quiet_client : bus::job_client {
        void on_done(bus::job&, bus::job_status s) override { EXPECT_EQ(s, bus::job_status::done); }
    };

    sim::simulation simulation;
    bus::pci_bus bus;
    bus::master processor;
    ethernet_card card;
    bus::test::memory_target host;
    link::cable cable;
    far_end far;
    test::timeline script;
    test::span_log log;
    quiet_client quiet;
    std::vector<std::unique_ptr<write>> writes;
    std::vector<std::pair<sim::picoseconds, bool>> interrupts;
    std::uint32_t receives = 0;
};

TEST(ethernet_card, puts_preamble_padding_and_fcs_around_a_frame) {
    bench b;
    const auto bytes = b.make(0, 10);
    b.script.at(10 * us, [&] { b.set(TRANSMIT_POSTED, 1); });
    sc_core::sc_start();
    ASSERT_EQ(b.far.received.size(), 1u);
    const auto& on_wire = b.far.received[0];
    ASSERT_EQ(on_wire.size(), 8u + 64u);
    EXPECT_TRUE(std::ranges::equal(std::span(on_wire).first(8), frame::preamble));
    EXPECT_TRUE(std::ranges::equal(std::span(on_wire).subspan(8, bytes.size()), bytes));
    EXPECT_TRUE(
        std::ranges::all_of(std::span(on_wire).subspan(8 + bytes.size(), 36), [](auto x) { return x == 0; }));
    EXPECT_TRUE(frame::is_whole(on_wire));
    EXPECT_EQ(b.status(transmit_ring, 0), std::uint32_t{DONE});
    EXPECT_EQ(b.card.mac.frames_sent.value(), 1u);
}

TEST(ethernet_card, known_fcs) {
    // The check value of CRC-32/IEEE, in the order of the wire.
    const std::string text = "123456789";
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    EXPECT_EQ(frame::fcs_of(bytes), (std::array<std::uint8_t, 4>{0x26, 0x39, 0xF4, 0xCB}));
}

TEST(ethernet_card, frames_follow_each_other_in_the_inter_frame_gap) {
    bench b;
    for (std::uint32_t i = 0; i < 4; ++i) b.make(i, 1500);
    b.script.at(10 * us, [&] { b.set(TRANSMIT_POSTED, 4); });
    sc_core::sc_start();
    ASSERT_EQ(b.far.received.size(), 4u);
    // From the second on the next frame is in the FIFO in time: 8 + 1518 bytes and a gap of 12, and the
    // card's own clock: it starts `start_clocks` and up to two edges behind the end of the frame before.
    for (std::size_t i = 2; i < 4; ++i) {
        const sim::picoseconds apart = b.far.heads[i] - b.far.heads[i - 1];
        EXPECT_GE(apart, (8 + 1518 + 12) * 8000u);
        EXPECT_LE(apart, (8 + 1518 + 12) * 8000u + 10 * clock_ps);
    }
    EXPECT_EQ(b.far.tails[0] - b.far.heads[0], (8 + 1518) * 8000u);
}

TEST(ethernet_card, stores_and_forwards_in_clocks) {
    bench b(test::settings{{"nic.transmit.start_clocks", "8"}, {"nic.transmit.descriptor_clocks", "4"}});
    b.make(0, 200);
    b.script.at(10 * us, [&] { b.set(TRANSMIT_POSTED, 1); });
    sc_core::sc_start();
    const auto edge_of = [](sim::picoseconds t) { return (t + clock_ps - 1) / clock_ps; };
    const auto& fetch = b.log.spans.at("nic.transmit_ring.fetch").at(0);
    const auto& part = b.log.spans.at("nic.transmit.part").at(0);
    const auto& sent = b.log.spans.at("nic.transmit.frame").at(0);
    // Each decision is one edge after what it depends on, and a picosecond behind that edge.
    EXPECT_EQ(part.begin, (edge_of(fetch.end) + 1 + 4) * clock_ps + 1);
    EXPECT_EQ(sent.begin, (edge_of(part.end) + 1 + 8) * clock_ps + 1);
    EXPECT_EQ(part.fields.at("bytes"), 214u);
    // Preamble, 214 bytes, FCS; it has left with the first character of the gap.
    EXPECT_EQ(sent.end - sent.begin, (8 + 214 + 4) * 8000u);
    // Its status is one burst of four bytes.
    const auto& back = b.log.spans.at("nic.transmit_ring.write_back").at(0);
    EXPECT_GT(back.begin, sent.end);
    EXPECT_LE(back.begin, sent.end + 2 * clock_ps + 1);
}

TEST(ethernet_card, gathers_a_frame_from_parts_across_the_end_of_the_ring) {
    bench b(test::settings{{"nic.transmit_ring.burst", "8"}});
    std::vector<std::uint8_t> whole;
    b.script.at(5 * us, [&] {
        for (std::uint32_t i = 0; i < 15; ++i) b.make(i, 50);
        b.set(TRANSMIT_POSTED, 15);
    });
    b.script.at(100 * us, [&] {
        // Header, then two parts at odd places: descriptors 15, 16 and 17.
        for (unsigned i = 0; i < 150; ++i) b.host.memory[frames + 5001 + i] = static_cast<std::uint8_t>(i);
        const auto head = b.make(15, 0, 0);
        b.put(transmit_ring, 16, frames + 5001, 100, 0);
        b.put(transmit_ring, 17, frames + 5101, 50, LAST | REPORT);
        whole = head;
        for (unsigned i = 0; i < 150; ++i) whole.push_back(static_cast<std::uint8_t>(i));
        b.set(TRANSMIT_POSTED, 18);
    });
    sc_core::sc_start();
    ASSERT_EQ(b.far.received.size(), 16u);
    EXPECT_TRUE(std::ranges::equal(frame::contents(b.far.received[15]), whole));
    EXPECT_EQ(b.status(transmit_ring, 17), std::uint32_t{DONE});
    EXPECT_EQ(b.card.registers.sent_reports.value(), 16u);
}

TEST(ethernet_card, a_doorbell_that_was_overtaken_is_ignored) {
    bench b;
    for (std::uint32_t i = 0; i < 2; ++i) b.make(i, 50);
    b.script.at(10 * us, [&] {
        b.set(TRANSMIT_POSTED, 2);
        b.set(TRANSMIT_POSTED, 1);
    });
    sc_core::sc_start();
    EXPECT_EQ(b.far.received.size(), 2u);
}

TEST(ethernet_card, early_transmission_begins_at_the_threshold) {
    const auto head_of = [](const char* threshold) {
        bench b(test::settings{{"nic.transmit.threshold_bytes", threshold},
                               {"nic.master.max_burst_bytes", "64"}});
        b.make(0, 1400);
        b.script.at(10 * us, [&] { b.set(TRANSMIT_POSTED, 1); });
        sc_core::sc_start();
        EXPECT_EQ(b.far.received.size(), 1u);
        EXPECT_TRUE(frame::is_whole(b.far.received.at(0)));
        EXPECT_EQ(b.card.mac.underruns.value(), 0u);
        return b.far.heads.at(0);
    };
    const sim::picoseconds whole = head_of("0");
    EXPECT_LT(head_of("128"), whole);
}

TEST(ethernet_card, a_frame_that_the_wire_outruns_is_sent_again_whole) {
    // 1000 MB/s of wire against bursts of 64 bytes.
    bench b(test::settings{{"nic.transmit.threshold_bytes", "64"},
                           {"nic.master.max_burst_bytes", "64"},
                           {"link.byte_ps", "1000"}});
    const auto bytes = b.make(0, 1400);
    b.script.at(10 * us, [&] { b.set(TRANSMIT_POSTED, 1); });
    sc_core::sc_start();
    ASSERT_EQ(b.far.received.size(), 2u);
    EXPECT_FALSE(frame::is_whole(b.far.received[0]));
    EXPECT_TRUE(std::ranges::equal(frame::contents(b.far.received[1]), bytes));
    EXPECT_EQ(b.card.mac.underruns.value(), 1u);
    EXPECT_EQ(b.card.mac.frames_sent.value(), 1u);
}

TEST(ethernet_card, writes_what_comes_into_the_next_buffer) {
    bench b;
    b.receives = 16;
    b.script.at(20 * us, [&] { b.send_from_far(46); });
    b.script.at(30 * us, [&] { b.send_from_far(1000); });
    sc_core::sc_start();
    EXPECT_EQ(b.status(receive_ring, 0), std::uint32_t{DONE});
    EXPECT_EQ(b.status(receive_ring, 1), std::uint32_t{DONE});
    EXPECT_EQ(b.status(receive_ring, 2), 0u);
    EXPECT_EQ(load_little(&b.host.memory[receive_ring + 8]), 14u + 46u);
    const auto data = counted(1000);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), b.host.memory.begin() + buffers + 2048 + 14));
    EXPECT_EQ(b.card.receive.bytes_written.value(), 60u + 1014u);
}

TEST(ethernet_card, drops_what_is_damaged_or_for_others) {
    bench b;
    b.receives = 16;
    b.script.at(20 * us, [&] {
        b.send_from_far(100, ours, true);
        b.send_from_far(100, other);
        b.send_from_far(100, frame::broadcast);
    });
    sc_core::sc_start();
    EXPECT_EQ(b.card.mac.frames_damaged.value(), 1u);
    EXPECT_EQ(b.card.mac.frames_for_others.value(), 1u);
    EXPECT_EQ(b.card.mac.frames_received.value(), 1u);
    EXPECT_EQ(b.status(receive_ring, 0), std::uint32_t{DONE});
    EXPECT_EQ(b.status(receive_ring, 1), 0u);
}

TEST(ethernet_card, a_full_fifo_loses_frames_and_no_others) {
    bench b(test::settings{{"nic.receive.fifo_bytes", "4096"}});
    b.receives = 0;  // no buffer: all stays in the FIFO
    b.script.at(20 * us, [&] {
        for (int i = 0; i < 5; ++i) b.send_from_far(1500);
    });
    b.script.at(200 * us, [&] { b.set(RECEIVE_POSTED, 16); });
    sc_core::sc_start();
    EXPECT_EQ(b.card.receive.overruns.value(), 3u);  // two frames of 1514 bytes fit
    EXPECT_EQ(b.status(receive_ring, 1), std::uint32_t{DONE});
    EXPECT_EQ(b.status(receive_ring, 2), 0u);
}

TEST(ethernet_card, a_frame_that_is_too_long_says_so) {
    bench b;
    b.script.at(5 * us, [&] {
        b.put(receive_ring, 0, buffers, 100, 0);
        b.set(RECEIVE_POSTED, 1);
    });
    b.script.at(20 * us, [&] { b.send_from_far(1000); });
    sc_core::sc_start();
    EXPECT_EQ(b.status(receive_ring, 0), std::uint32_t{DONE | TOO_LONG});
    EXPECT_TRUE(
        std::all_of(&b.host.memory[buffers], &b.host.memory[buffers + 100], [](auto x) { return x == 0; }));
}

TEST(ethernet_card, interrupts_at_once_until_its_cause_is_read) {
    bench b;
    b.receives = 16;
    b.script.at(20 * us, [&] { b.send_from_far(100); });
    b.script.at(50 * us, [&] {
        EXPECT_EQ(b.read_cause(), std::uint32_t{CAUSE_RECEIVED});
        EXPECT_EQ(b.read_cause(), 0u);
    });
    sc_core::sc_start();
    ASSERT_EQ(b.interrupts.size(), 2u);
    const auto& status = b.log.spans.at("nic.receive_ring.write_back").at(0);
    EXPECT_EQ(b.interrupts[0], std::pair(status.end, true));  // the status is on its way into memory
    EXPECT_EQ(b.interrupts[1], std::pair(50 * us, false));
}

TEST(ethernet_card, coalesces_by_count_and_by_time) {
    bench b;
    b.receives = 16;
    b.script.at(8 * us, [&] { b.set(COALESCE_RECEIVED, coalesce(3, 100)); });
    for (int i = 0; i < 4; ++i) b.script.at((20 + 5 * i) * us, [&] { b.send_from_far(100); });
    for (int i = 0; i < 2; ++i) b.script.at((40 + 120 * i) * us, [&] { b.read_cause(); });
    sc_core::sc_start();
    const auto& statuses = b.log.spans.at("nic.receive_ring.write_back");
    ASSERT_EQ(statuses.size(), 4u);
    ASSERT_EQ(b.interrupts.size(), 4u);
    EXPECT_EQ(b.interrupts[0], std::pair(statuses[2].end, true));
    // The fourth waits for others in vain: 100 us, to the next edge, and behind it.
    const sim::picoseconds due = (statuses[3].end + 100 * us + clock_ps - 1) / clock_ps * clock_ps + 1;
    EXPECT_EQ(b.interrupts[2], std::pair(due, true));
}

TEST(ethernet_card, a_mask_keeps_the_interrupt_down) {
    bench b;
    b.receives = 16;
    b.script.at(8 * us, [&] { b.set(MASK, CAUSE_SENT); });
    b.script.at(20 * us, [&] { b.send_from_far(100); });
    b.script.at(60 * us, [&] { b.set(MASK, CAUSE_SENT | CAUSE_RECEIVED); });
    sc_core::sc_start();
    ASSERT_EQ(b.interrupts.size(), 1u);
    EXPECT_GT(b.interrupts[0].first, 60 * us);
}

TEST(ethernet_card, idle_leaves_nothing_in_the_kernel) {
    bench b;
    b.receives = 16;
    b.make(0, 100);
    b.script.at(10 * us, [&] { b.set(TRANSMIT_POSTED, 1); });
    sc_core::sc_start();
    EXPECT_LT(sim::now(), 30 * us);
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

}  // namespace
}  // namespace vinic::nic
