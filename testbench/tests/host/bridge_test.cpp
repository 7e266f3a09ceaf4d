// SPDX-License-Identifier: Apache-2.0
#include "hw/host/bridge.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "hw/host/host.h"
#include "hw/sim/error.h"
#include "testbench/tests/bus/bus_fixture.h"
#include "testbench/tests/host/node.h"

namespace vinic::host {
namespace {

using bus::test::memory_target;
using bus::test::recorder_client;
using test::ns;
using test::settings;
using times = std::vector<sim::picoseconds>;

constexpr pci_address card_base = 0x8000'0000;

/// A PCI clock of 66 MHz is 15 ns, one of PCI-X 7.5 ns; a processor clock is 1 ns. Every request is
/// arbitrated.
settings pci(settings more = {}) {
    settings all{{"host.cpu.clock_mhz", "1000"},
                 {"host.cpu.count", "1"},
                 {"host.cpu.barrier_clocks", "30"},
                 {"bus.kind", "pci"},
                 {"bus.clock_mhz", "66"},
                 {"bus.parking", "none"},
                 {"bus.target_decode_clocks", "2"},
                 {"host.bridge.store_ns", "10"},
                 {"host.bridge.load_request_ns", "100"},
                 {"host.bridge.load_return_ns", "100"},
                 {"host.bridge.visibility_ns", "100"},
                 {"host.cpu.dma_line_miss_ns", "0"}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}
settings pcix(settings more = {}) {
    settings all{{"bus.kind", "pcix"},
                 {"bus.clock_mhz", "133"},
                 {"bus.target_decode_clocks", "1"},
                 {"host.bridge.decode_clocks", "1"}};
    all.insert(all.end(), more.begin(), more.end());
    return pci(all);
}

/// A host, a bus and a card with 64 KiB.
struct machine {
    explicit machine(const settings& values) : simulation(test::configured(values)) {
        pci.attach(card_master);
        pci.map(pci.attach(card.port, {{0, 1, 0}}), card_base, 65536);
    }

    void run_us(std::uint64_t us) { sc_core::sc_start(sim::to_sc_time(us * 1'000'000)); }
    std::uint64_t clock(sim::picoseconds at) { return pci.properties().clock.edge_at_or_before(at); }
    times moved_at() const {
        times at;
        for (const auto& m : card.moved) at.push_back(m.at);
        return at;
    }
    bus::job job(bus::job::kind what, physical_address at, std::vector<std::uint8_t>& bytes) {
        bus::job j;
        j.what = what;
        j.address = at;
        j.bytes = bytes;
        j.client = &client;
        return j;
    }

    sim::simulation simulation;
    bus::pci_bus pci{"bus"};
    vinic::host::host host{"host", pci};
    bus::master card_master{"card", pci.properties(), {0, 1, 0}};
    memory_target card{"card_target", pci.properties(), card_base, 65536, &card_master};
    recorder_client client;
};

// --- Processor side

TEST(bridge, a_store_is_posted) {
    machine m(pci());
    sim::picoseconds back = 0;
    m.host.cpu.spawn("p", nullptr, [&](process& p) {
        m.host.bridge.store(p, card_base + 8, std::uint32_t{0x11223344});
        back = p.now();
    });
    m.run_us(10);
    // Processor from 1 to 11 ns; at 11: REQ# in clock 1, address 3, data 5, which ends at edge 6.
    EXPECT_EQ(back, 11 * ns);
    EXPECT_EQ(m.moved_at(), (times{90 * ns}));
    EXPECT_EQ(m.card.memory[8], 0x44);
    EXPECT_EQ(m.card.memory[11], 0x11);
    EXPECT_EQ(m.host.bridge.stores.value(), 1u);
}

TEST(bridge, a_full_posting_buffer_stalls_the_processor_until_a_write_is_done) {
    machine m(pci({{"host.bridge.posting_entries", "2"}}));
    times back;
    m.host.cpu.spawn("p", nullptr, [&](process& p) {
        for (std::uint32_t i = 0; i < 4; ++i) {
            m.host.bridge.store(p, card_base + 4 * i, i);
            back.push_back(p.now());
        }
    });
    m.run_us(10);
    // One dword after another occupies 4 clocks (address, decode, data, turnaround): data end at edges 6, 10,
    // 14, 18.
    EXPECT_EQ(m.moved_at(), (times{90 * ns, 150 * ns, 210 * ns, 270 * ns}));
    // The third arrives at 31 and waits for the first; the fourth, at 100, for the second.
    EXPECT_EQ(back, (times{11 * ns, 21 * ns, 90 * ns, 150 * ns}));
    EXPECT_EQ(m.host.bridge.posting_full.value(), (59 + 50) * ns);
}

TEST(bridge, a_load_pushes_posted_stores_ahead_of_it) {
    machine m(pci());
    sim::picoseconds back = 0;
    std::uint64_t value = 0;
    m.host.cpu.spawn("p", nullptr, [&](process& p) {
        m.host.bridge.store(p, card_base, std::uint32_t{1});
        m.host.bridge.store(p, card_base + 4, std::uint32_t{2});
        value = m.host.bridge.load<std::uint64_t>(p, card_base);
        back = p.now();
    });
    m.run_us(10);
    EXPECT_EQ(value, (std::uint64_t{2} << 32) + 1);
    ASSERT_EQ(m.card.moved.size(), 3u);
    EXPECT_EQ(m.card.moved[2].command, bus::command::memory_read);
    // Stores end at 90 and 150. The load leaves the processor at 21, is in the bridge at 121: REQ# 9, address
    // as soon as the second store's turnaround is over, 11; data 13, ends at 14 = 210; back 100 later.
    EXPECT_EQ(m.moved_at(), (times{90 * ns, 150 * ns, 210 * ns}));
    EXPECT_EQ(back, 310 * ns);
    EXPECT_EQ(m.host.bridge.load_time.samples().sum(), 289 * ns);
}

TEST(bridge, a_load_that_nobody_answers_reads_ones) {
    machine m(pci());
    std::uint32_t value = 0;
    m.host.cpu.spawn("p", nullptr,
                     [&](process& p) { value = m.host.bridge.load<std::uint32_t>(p, 0xf000'0000); });
    m.run_us(10);
    EXPECT_EQ(value, 0xffff'ffffu);
    EXPECT_EQ(m.host.bridge.aborted.value(), 1u);
}

std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 5 + 1);
    return bytes;
}

TEST(bridge, a_combined_line_leaves_as_one_burst) {
    machine m(pci({{"host.bridge.combining_store_clocks", "2"}, {"host.bridge.combining_flush_ns", "40"}}));
    const auto data = pattern(64);
    sim::picoseconds back = 0;
    m.host.cpu.spawn("p", nullptr, [&](process& p) {
        m.host.bridge.store_combined(p, card_base + 64, data);
        back = p.now();
    });
    m.run_us(10);
    ASSERT_EQ(m.card.moved.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(m.card.moved[i].address, card_base + 64 + 32 * i);
        EXPECT_EQ(m.card.moved[i].bytes, 32u);
        EXPECT_EQ(m.card.moved[i].schedule.phases, 4u);
    }
    EXPECT_TRUE(std::equal(data.begin(), data.end(), std::as_bytes(std::span(m.card.memory)).begin() + 64));
    EXPECT_EQ(back, (1 + 8 * 2 + 2 * 40) * ns);
    EXPECT_EQ(m.host.bridge.combined_lines.value(), 2u);
}

TEST(bridge, a_line_flushed_early_leaves_in_pieces_of_up_to_8_bytes) {
    machine m(pci());
    const auto data = pattern(15);
    m.host.cpu.spawn("p", nullptr, [&](process& p) {
        m.host.bridge.store_combined(p, card_base + 3, data);  // bytes 3-17
        m.host.bridge.store_combined(p, card_base + 30, std::span(data).first(1));
        p.compute(1000);
        EXPECT_TRUE(m.card.moved.empty());
        m.host.bridge.fence(p);
    });
    m.run_us(10);
    std::vector<std::pair<pci_address, std::uint64_t>> pieces;
    for (const auto& x : m.card.moved) pieces.emplace_back(x.address - card_base, x.bytes);
    EXPECT_EQ(pieces, (std::vector<std::pair<pci_address, std::uint64_t>>{{3, 5}, {8, 8}, {16, 2}, {30, 1}}));
    EXPECT_EQ(m.host.bridge.combined_pieces.value(), 4u);
}

TEST(bridge, the_oldest_line_leaves_when_another_needs_its_buffer_and_all_before_an_uncached_store) {
    machine m(pci({{"host.bridge.combining_buffers", "2"}}));
    const auto data = pattern(8);
    m.host.cpu.spawn("p", nullptr, [&](process& p) {
        for (const pci_address line : {0x40, 0x00, 0x80})
            m.host.bridge.store_combined(p, card_base + line, data);
        p.compute(1000);
        EXPECT_EQ(m.card.moved.size(), 1u);
        m.host.bridge.store(p, card_base + 0x100, std::uint32_t{1});
    });
    m.run_us(10);
    std::vector<pci_address> order;
    for (const auto& x : m.card.moved) order.push_back(x.address - card_base);
    EXPECT_EQ(order, (std::vector<pci_address>{0x40, 0x00, 0x80, 0x100}));
}

TEST(bridge, two_processors_at_one_instant_are_served_by_number) {
    for (const bool reversed : {false, true}) {
        machine m(pci({{"host.cpu.count", "2"}}));
        for (unsigned i = 0; i < 2; ++i)
            m.host.cpu.spawn("p", nullptr, [&, i](process& p) {
                // The kernel wakes the two in the order of their notifications, which this turns round.
                if (reversed && i == 0) p.compute(5);
                p.compute(reversed && i == 0 ? 15 : 20);
                m.host.bridge.store(p, card_base + 4 * i, i);
            });
        m.run_us(10);
        ASSERT_EQ(m.card.moved.size(), 2u);
        EXPECT_EQ(m.card.moved[0].address, card_base);
    }
}

// --- Bus side

TEST(bridge, a_dma_write_is_visible_after_its_last_data_phase_and_the_delay) {
    machine m(pci());
    std::vector<std::uint8_t> bytes(64, 7);
    auto j = m.job(bus::job::kind::write, 0x2000, bytes);
    times seen;
    test::hardware([&] {
        m.card_master.start(j);
        for (;;) {
            sc_core::wait(sim::to_sc_time(ns));
            if (test::word_at(m.host.memory, 0x203c) == 0) continue;
            seen.push_back(sim::now());
            return;
        }
    });
    m.run_us(10);
    // REQ# 1, address 3, data 5-12, end at edge 13 = 195 ns, visible 100 later.
    EXPECT_EQ(m.client.done_at, (times{195 * ns}));
    EXPECT_EQ(seen, (times{295 * ns}));
    EXPECT_EQ(m.host.memory.bytes_written.value(), 64u);
}

// PCI: a read pushes the posted writes that go the way of its data. The write's data phases end at 195 ns
// (the test above), the load's at the card come later; its data wait until the write is visible, at 195 +
// 500.
TEST(bridge, a_load_pushes_dma_writes_before_it_into_memory) {
    machine m(pci({{"host.bridge.visibility_ns", "500"}}));
    std::vector<std::uint8_t> bytes(64, 7);
    auto j = m.job(bus::job::kind::write, 0x2000, bytes);
    sim::picoseconds back = 0;
    std::uint32_t seen = 0;
    test::hardware([&] { m.card_master.start(j); });
    m.host.cpu.spawn("p", nullptr, [&](process& p) {
        m.host.bridge.load<std::uint32_t>(p, card_base);
        back = p.now();
        m.host.memory.commit();
        seen = test::word_at(m.host.memory, 0x203c);
    });
    m.run_us(10);
    EXPECT_EQ(m.client.done_at, (times{195 * ns}));
    EXPECT_EQ(back, 695 * ns);
    EXPECT_EQ(seen, 0x07070707u);
}

// What DMA writes when the load's data have left the card does not hold it up.
TEST(bridge, a_load_does_not_wait_for_dma_writes_behind_it) {
    machine m(pci({{"host.bridge.visibility_ns", "500"}}));
    std::vector<std::uint8_t> bytes(4, 7);
    auto j = m.job(bus::job::kind::write, 0x2000, bytes);
    sim::picoseconds back = 0;
    test::hardware([&] {
        while (m.card.moved.empty()) sc_core::wait(sim::to_sc_time(ns));
        m.card_master.start(j);
    });
    m.host.cpu.spawn("p", nullptr, [&](process& p) {
        m.host.bridge.load<std::uint32_t>(p, card_base);
        back = p.now();
    });
    m.run_us(10);
    ASSERT_EQ(m.client.done_at.size(), 1u);
    EXPECT_EQ(back, m.moved_at().at(0) + 100 * ns);
}

TEST(bridge, dma_bursts_are_disconnected_at_the_boundaries_of_the_host) {
    machine m(pci({{"host.bridge.write_boundary_bytes", "32"}, {"host.bridge.write_wait_clocks", "3"}}));
    std::vector<std::uint8_t> bytes(64);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    auto j = m.job(bus::job::kind::write, 0x2010, bytes);
    test::hardware([&] { m.card_master.start(j); });
    m.run_us(10);
    std::vector<std::uint64_t> counts;
    for (const auto& b : m.client.bursts) counts.push_back(b.count);
    EXPECT_EQ(counts, (std::vector<std::uint64_t>{16, 32, 16}));
    EXPECT_EQ(m.client.bursts[0].schedule.first_data - m.client.bursts[0].schedule.address, 2u + 3u);
    EXPECT_EQ(test::word_at(m.host.memory, 0x204c), 0x3f3e3d3cu);
}

TEST(bridge, a_dma_read_waits_in_wait_states) {
    machine m(pci({{"host.bridge.read_mode", "wait"}, {"host.bridge.read_latency_clocks", "12"}}));
    m.host.memory.write(0x3000, pattern(256));
    std::vector<std::uint8_t> bytes(256);
    auto j = m.job(bus::job::kind::read, 0x3000, bytes);
    test::hardware([&] { m.card_master.start(j); });
    m.run_us(10);
    ASSERT_EQ(m.client.bursts.size(), 1u);
    const auto& s = m.client.bursts[0].schedule;
    EXPECT_EQ(s.first_data, s.address + 12);
    // Address in clock 3, first data in 15, 32 data phases, the last in 46, ends at edge 47.
    EXPECT_EQ(m.client.done_at, (times{47 * 15 * ns}));
    EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(bytes)), pattern(256)));
}

TEST(bridge, a_dma_read_that_may_not_wait_is_retried_until_the_host_has_the_data) {
    for (const char* mode : {"wait", "delayed"}) {
        machine m(pci({{"host.bridge.read_mode", mode}, {"host.bridge.read_latency_clocks", "84"}}));
        m.host.memory.write(0x3000, pattern(256));
        std::vector<std::uint8_t> bytes(256);
        auto j = m.job(bus::job::kind::read, 0x3000, bytes);
        test::hardware([&] { m.card_master.start(j); });
        m.run_us(10);
        ASSERT_EQ(m.client.bursts.size(), 1u);
        const auto& s = m.client.bursts[0].schedule;
        // The first attempt's address stands in clock 3; a retry of a burst takes 5 clocks, its STOP# ends at
        // the edge of clock 3, REQ# comes 2 clocks later and arbitration takes 2: every 7 clocks one.
        EXPECT_EQ(s.address, 3u + 84u);
        EXPECT_EQ(s.first_data, s.address + 2);
        EXPECT_EQ(m.host.bridge.delayed_retries.value(), 12u);
        EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(bytes)), pattern(256)));
    }
}

TEST(bridge, delayed_reads_beyond_what_the_bridge_holds_start_when_there_is_room) {
    machine m(pci({{"host.bridge.delayed_reads", "1"}, {"host.bridge.read_latency_clocks", "40"}}));
    bus::master second("second", m.pci.properties(), {0, 2, 0});
    m.pci.attach(second);
    std::vector<std::uint8_t> a(64), b(64);
    auto first = m.job(bus::job::kind::read, 0x3000, a);
    auto other = m.job(bus::job::kind::read, 0x4000, b);
    test::hardware([&] {
        m.card_master.start(first);
        second.start(other);
    });
    m.run_us(10);
    ASSERT_EQ(m.client.bursts.size(), 2u);
    const auto& s = m.client.bursts[0].schedule;
    // The second's latency counts from an attempt after the first was served.
    EXPECT_GE(s.address, 3u + 40u);
    EXPECT_GT(m.client.bursts[1].schedule.address, s.address + 40);
}

TEST(bridge, pcix_reads_are_split_and_completed_after_the_latency) {
    machine m(pcix({{"host.bridge.read_latency_clocks", "60"}}));
    m.host.memory.write(0x3000, pattern(256));
    std::vector<std::uint8_t> bytes(256);
    auto j = m.job(bus::job::kind::read, 0x3000, bytes);
    test::hardware([&] { m.card_master.start(j); });
    m.run_us(10);
    ASSERT_EQ(m.client.bursts.size(), 1u);
    const auto& s = m.client.bursts[0].schedule;
    // Request's address in clock 3, sampled at edge 4; the host has the data 60 clocks later, at edge 64:
    // REQ# 65, address 67, attributes 68, DEVSEL# 69, data from 70, 32 of them.
    EXPECT_EQ(s.address, 67u);
    EXPECT_EQ(s.first_data, 70u);
    EXPECT_EQ(m.client.done_at, (times{102 * 7500}));
    EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(bytes)), pattern(256)));
}

TEST(bridge, pcix_completions_end_at_their_boundary) {
    machine m(pcix({{"host.bridge.completion_bytes", "128"}, {"card.max_read_bytes", "512"}}));
    const auto there = pattern(512);
    m.host.memory.write(0x3000, there);
    std::vector<std::uint8_t> bytes(300);
    auto j = m.job(bus::job::kind::read, 0x3040, bytes);
    test::hardware([&] { m.card_master.start(j); });
    m.run_us(10);
    std::vector<std::uint64_t> counts;
    for (const auto& b : m.client.bursts) counts.push_back(b.count);
    EXPECT_EQ(counts, (std::vector<std::uint64_t>{64, 128, 108}));
    EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(bytes)), std::span(there).subspan(64, 300)));
}

TEST(bridge, pcix_reads_overlap_up_to_the_queue_of_the_bridge) {
    for (const auto& [queue, retries] : {std::pair{"8", false}, {"1", true}}) {
        machine m(pcix({{"host.bridge.split_reads", queue},
                        {"card.max_outstanding_splits", "2"},
                        {"card.max_read_bytes", "512"}}));
        m.host.memory.write(0x3000, pattern(1024));
        std::vector<std::uint8_t> bytes(1024);
        auto j = m.job(bus::job::kind::read, 0x3000, bytes);
        test::hardware([&] { m.card_master.start(j); });
        m.run_us(20);
        EXPECT_EQ(m.pci.retries.value() > 0, retries);
        EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(bytes)), pattern(1024)));
        // 64 data clocks each; the second latency of 60 is hidden by the first's only when both are accepted.
        const std::uint64_t clocks = m.clock(m.client.done_at.at(0));
        EXPECT_EQ(clocks < 67 + 2 * (64 + 5) + 10, !retries) << clocks;
    }
}

TEST(bridge, dma_reads_see_dma_writes_that_processors_do_not_see_yet) {
    machine m(pci({{"host.bridge.read_mode", "wait"},
                   {"host.bridge.read_latency_clocks", "2"},
                   {"host.bridge.visibility_ns", "5000"}}));
    std::vector<std::uint8_t> out(8, 9), in(8);
    auto w = m.job(bus::job::kind::write, 0x2000, out);
    auto r = m.job(bus::job::kind::read, 0x2000, in);
    test::hardware([&] {
        m.card_master.start(w);
        m.card_master.start(r);
        test::wait_until(1000 * ns);
        EXPECT_EQ(test::word_at(m.host.memory, 0x2000), 0u);
    });
    m.run_us(10);
    EXPECT_EQ(in, out);
}

// --- The whole host

TEST(host, the_interrupt_line_is_shared_and_reaches_the_handler) {
    machine m(pci({{"host.cpu.interrupt_delivery_ns", "1000"}, {"host.cpu.interrupt_entry_clocks", "500"}}));
    const unsigned a = m.host.interrupt_line.attach(), b = m.host.interrupt_line.attach();
    times handled;
    m.host.cpu.on_interrupt([&](context& kernel) {
        handled.push_back(sim::now());
        // The driver asks its card, which also pushes that card's data ahead.
        m.host.bridge.load<std::uint32_t>(kernel, card_base);
        m.host.interrupt_line.set(a, false);
        EXPECT_TRUE(m.host.interrupt_line.asserted());
        m.host.interrupt_line.set(b, false);
    });
    test::hardware([&] {
        m.host.interrupt_line.set(a, true);
        m.host.interrupt_line.set(b, true);
    });
    m.run_us(10);
    EXPECT_EQ(handled, (times{1501 * ns}));
    EXPECT_EQ(m.host.bridge.loads.value(), 1u);
}

TEST(host, a_free_host_leaves_the_time_of_the_bus) {
    machine m(pci({{"host.free", "true"}}));
    times back;
    m.host.cpu.spawn("p", nullptr, [&](process& p) {
        m.host.bridge.store(p, card_base, std::uint32_t{5});
        back.push_back(p.now());
        EXPECT_EQ(m.host.bridge.load<std::uint32_t>(p, card_base), 5u);
        back.push_back(p.now());
    });
    m.run_us(10);
    // At 1 ns: REQ# 1, address 3, data 5, turnaround 6; the load's address 7, data 9, ends at edge 10.
    EXPECT_EQ(back, (times{1 * ns, 150 * ns}));
}

TEST(host, write_wait_states_that_the_bus_forbids_are_an_input_error) {
    EXPECT_THROW(machine(pci({{"host.bridge.write_wait_clocks", "30"}})), sim::input_error);
}

}  // namespace
}  // namespace vinic::host
