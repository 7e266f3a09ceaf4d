// SPDX-License-Identifier: Apache-2.0
// The card as a target: posted writes, reads, control registers; and the doorbell region behind it.
#include "hw/nic/pci_interface.h"

#include <gtest/gtest.h>

#include "firmware/abi/lanai_registers.h"
#include "hw/nic/bytes.h"
#include "hw/rtl/available.h"
#include "testbench/tests/bus/bus_fixture.h"
#include "testbench/tests/nic/span_log.h"
#include "testbench/tests/nic/timeline.h"

namespace vinic::nic {
namespace {

using test::counted;
namespace map = abi::card_map;
namespace reg = abi::lanai9;

constexpr std::uint64_t base = 0x80000000;
constexpr sim::picoseconds cycle_ps = 7500;

/// PCI 64/66 (15000 ps), LANai 9 at 133 MHz (7500 ps).
struct bench {
    explicit bench(const test::settings& given = {})
        : simulation(test::configured(given)),
          bus("bus"),
          memory("sram", clock, traits_of("lanai9")),
          registers("registers", clock, traits_of("lanai9"), memory),
          master("master", bus.properties(), {0, 4, 0}),
          dma("dma", clock, memory, registers, master),
          doorbells("doorbells", memory, registers),
          pci("pci", clock, bus.properties(), memory, registers, dma, doorbells),
          target("target", bus.properties(), pci, &master),
          cpu("cpu", bus.properties(), {0, 0, 0}) {
        bus.attach(cpu);
        bus.attach(master);
        bus.map(bus.attach(target, pci.properties({0, 4, 0})), base, map::bar_bytes);
        pci.lanai_reset = [this](bool asserted) { resets.emplace_back(asserted); };
        for (const auto& [name, probe] : sim::simulation::current().probes()) probe->attach(log);
    }
    sim::simulation simulation;
    card_clock clock = test::clock_133();
    bus::pci_bus bus;
    sram memory;
    special_registers registers;
    bus::master master;
    host_dma dma;
    doorbell_region doorbells;
    pci_interface pci;
    bus::target_port target;
    bus::master cpu;
    bus::test::recorder_client client;
    test::timeline script;
    test::span_log log;
    std::vector<bool> resets;
    std::deque<std::vector<std::uint8_t>> buffers;
    std::deque<bus::job> jobs;

    std::vector<std::uint8_t>& access(bus::job::kind what, std::uint64_t offset,
                                      std::vector<std::uint8_t> bytes,
                                      bus::job::space where = bus::job::space::memory) {
        buffers.push_back(std::move(bytes));
        jobs.push_back({.what = what,
                        .where = where,
                        .address = where == bus::job::space::memory ? base + offset : offset,
                        .bytes = buffers.back(),
                        .client = &client});
        script.at(sim::now(), [this, &job = jobs.back()] { cpu.start(job); });
        return buffers.back();
    }
    void write(std::uint64_t offset, std::vector<std::uint8_t> bytes) {
        access(bus::job::kind::write, offset, std::move(bytes));
    }
    std::vector<std::uint8_t>& read(std::uint64_t offset, std::size_t bytes) {
        return access(bus::job::kind::read, offset, std::vector<std::uint8_t>(bytes));
    }
    static std::vector<std::uint8_t> big(std::uint32_t v) {
        std::vector<std::uint8_t> b(4);
        store_big(b.data(), v);
        return b;
    }
    static std::vector<std::uint8_t> little(std::uint32_t v) {
        std::vector<std::uint8_t> b(4);
        store_little(b.data(), v);
        return b;
    }
    void run() {
        sc_core::sc_start();
        sc_core::sc_start(sim::to_sc_time(clock.time_of(10)));
        simulation.commit();
    }
};

TEST(pci_interface, posted_write_takes_a_slot_for_each_word) {
    bench b;
    const auto data = counted(64);
    b.write(0x1000, data);
    b.run();
    // Taken at the end of the burst; the first of 8 slots is that of the next edge.
    ASSERT_EQ(b.client.bursts.size(), 1u);
    const cycle first = b.clock.domain().edge_after(b.client.bursts[0].schedule.done_at);
    const auto& write = b.log.spans.at("pci.write").at(0);
    EXPECT_EQ(write.begin, b.client.bursts[0].schedule.done_at);
    EXPECT_EQ(write.end, (first + 8) * cycle_ps);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), b.memory.contents().begin() + 0x1000));
    EXPECT_EQ(b.pci.bytes_written.value(), 64u);
}

TEST(pci_interface, read_comes_with_wait_states) {
    // (8 + 1) cycles of 7500 ps are 5 clocks of 15000 ps; (12 + 1) are 7.
    std::uint64_t clocks[2];
    for (const bool slow : {false, true}) {
        bench b(test::settings{{"pci.read_clocks", slow ? "12" : "8"}});
        b.memory.poke(0x1000, counted(8));
        const auto& got = b.read(0x1000, 8);
        b.run();
        EXPECT_EQ(got, counted(8));
        EXPECT_EQ(b.memory.host_access.slots.value(), 1u);
        const auto& s = b.client.bursts.at(0).schedule;
        clocks[slow] = s.first_data - s.address;
    }
    EXPECT_EQ(clocks[1] - clocks[0], 2u);
    // Medium decode: the first data of a read stand in the third clock, two after that of the address (C1).
    EXPECT_EQ(clocks[0], 2u + 5u);
}

TEST(pci_interface, reads_push_the_writes_before_them) {
    bench b;
    b.write(0x1000, counted(256, 5));
    const auto& got = b.read(0x1000 + 248, 8);
    b.run();
    const auto all = counted(256, 5);
    EXPECT_EQ(got, std::vector<std::uint8_t>(all.end() - 8, all.end()));
}

TEST(pci_interface, full_buffer_disconnects_and_retries_and_loses_nothing) {
    bench b(test::settings{{"pci.posted_bytes", "16"}});
    for (std::uint32_t i = 0; i < 8; ++i) b.write(0x1000 + 100 * i, counted(100, i));
    b.run();
    for (std::uint32_t i = 0; i < 8; ++i) {
        const auto data = counted(100, i);
        EXPECT_TRUE(std::equal(data.begin(), data.end(), b.memory.contents().begin() + 0x1000 + 100 * i));
    }
    EXPECT_GT(b.client.bursts.size(), 8u);
}

TEST(pci_interface, long_reads_are_disconnected) {
    bench b;
    b.memory.poke(0x1000, counted(200));
    const auto& got = b.read(0x1000, 200);
    b.run();
    EXPECT_EQ(got, counted(200));
    EXPECT_EQ(b.client.bursts.size(), 4u);  // 64, 64, 64, 8
    EXPECT_EQ(b.pci.retries.value(), 0u);
}

TEST(pci_interface, reads_slower_than_the_bus_allows_are_delayed_reads) {
    bench b(test::settings{{"pci.read_clocks", "1000"}});
    b.memory.poke(0x1000, counted(200));
    const auto& got = b.read(0x1000, 200);
    b.run();
    EXPECT_EQ(got, counted(200));
    EXPECT_EQ(b.client.bursts.size(), 4u);
    EXPECT_GT(b.pci.retries.value(), 4u);
    // At least 1000 cycles of 7500 ps for each of the four.
    EXPECT_GE(b.client.done_at.at(0), 4 * 1000 * 7500u);
}

TEST(pci_interface, takes_effect_in_order) {
    bench b;
    b.write(0, counted(64));
    b.write(map::control, bench::little(map::CONTROL_LANAI_RESET_REMOVE));
    b.pci.lanai_reset = [&](bool asserted) {
        b.resets.push_back(asserted);
        EXPECT_EQ(b.memory.peek_word(60), load_big(counted(64).data() + 60));
    };
    b.write(map::control, bench::little(map::CONTROL_LANAI_RESET_ASSERT));
    b.run();
    EXPECT_EQ(b.resets, (std::vector<bool>{false, true}));
}

TEST(pci_interface, byte_orders) {
    bench b;
    b.write(map::special_registers + reg::LED, bench::big(0x11223344));
    b.write(map::pointers + 8, bench::little(0x1238));
    b.write(map::control, bench::little(map::CONTROL_FIFO_MULTI_QUEUE | 3));
    const auto& led = b.read(map::special_registers + reg::LED, 4);
    const auto& pointer = b.read(map::pointers + 8, 4);
    const auto& control = b.read(map::control, 4);
    const auto& copy = b.read(map::config_copy, 4);
    b.run();
    EXPECT_EQ(b.registers.stored(chip_register::led), 0x11223344u);
    EXPECT_EQ(load_big(led.data()), 0x11223344u);
    EXPECT_EQ(b.dma.channel(2).base(), 0x1238u);
    EXPECT_EQ(load_little(pointer.data()), 0x1238u);
    EXPECT_EQ(load_little(control.data()), map::CONTROL_FIFO_MULTI_QUEUE | 3u);
    EXPECT_EQ(load_little(copy.data()), std::uint32_t{map::device_id} << 16 | map::vendor_id);
}

TEST(pci_interface, what_is_not_there_reads_as_ones) {
    bench b(test::settings{{"sram.bytes", "262144"}});
    b.write(262144, counted(8));
    const auto& got = b.read(262144, 8);
    b.run();
    EXPECT_EQ(got, std::vector<std::uint8_t>(8, 0xFF));
}

TEST(pci_interface, configuration_header) {
    bench b;
    const auto space = bus::job::space::configuration;
    const std::uint64_t device = std::uint64_t{4} << 11;  // bus 0, device 4, function 0
    const auto& id = b.access(bus::job::kind::read, device, std::vector<std::uint8_t>(4), space);
    b.access(bus::job::kind::write, device + 0x10, std::vector<std::uint8_t>(4, 0xFF), space);
    const auto& size = b.access(bus::job::kind::read, device + 0x10, std::vector<std::uint8_t>(4), space);
    b.run();
    EXPECT_EQ(load_little(id.data()), std::uint32_t{map::device_id} << 16 | map::vendor_id);
    EXPECT_EQ(~load_little(size.data()) + 1, map::bar_bytes);
}

TEST(pci_interface, trigger_bit_starts_a_chain) {
    bench b;
    b.memory.poke(0x3000, std::vector<std::uint8_t>{0, 0, 0, 2});  // terminal, no bytes
    b.write(map::pointers + 12, bench::little(0x3000));
    b.write(map::control, bench::little(map::CONTROL_DMA_TRIGGER3));
    b.run();
    EXPECT_EQ(b.dma.channel(3).blocks.value(), 1u);
}

// --- doorbells

struct fifo : bench {
    explicit fifo(const std::string& impl, std::uint32_t control_bits = 0, std::uint64_t entries = 512)
        : bench({{"doorbells.impl", impl}}) {
        memory.poke(0x10000, std::vector<std::uint8_t>(entries * 8, 0xFF));
        write(map::pointers + 16, little(0x10000));
        write(map::control, little(control_bits));
    }
    std::pair<std::uint32_t, std::uint32_t> entry(std::uint32_t n, std::uint32_t from = 0x10000) {
        return {memory.peek_word(from + 8 * n), memory.peek_word(from + 8 * n + 4)};
    }
};

class doorbell_region_of : public testing::TestWithParam<const char*> {};

TEST_P(doorbell_region_of, stores_address_and_data_and_wakes) {
    fifo b(GetParam());
    b.write(map::doorbells + 0x5004, bench::big(0xCAFE0001));
    b.write(map::doorbells + 0x8, counted(8));  // a burst: two doorbells
    b.run();
    EXPECT_EQ(b.entry(0), std::pair(0x5004u, 0xCAFE0001u));
    EXPECT_EQ(b.entry(1), std::pair(0x8u, load_big(counted(8).data())));
    EXPECT_EQ(b.entry(2), std::pair(0xCu, load_big(counted(8).data() + 4)));
    EXPECT_EQ(b.doorbells.doorbells.value(), 3u);
    EXPECT_EQ(b.registers.isr_at(b.clock.current() + 1), std::uint32_t{reg::ISR_WAKE0});
    EXPECT_EQ(b.memory.host_access.slots.value(), 3u);  // one each
    EXPECT_EQ(b.log.values.at("doorbells.depth").back().second, 3u);
}

TEST_P(doorbell_region_of, wraps_and_takes_freed_entries_again) {
    fifo b(GetParam());
    for (std::uint32_t i = 0; i < 512; ++i) b.write(map::doorbells + 4 * i, bench::big(i));
    b.run();
    EXPECT_EQ(b.doorbells.overflows.value(), 0u);
    b.memory.poke(0x10000, std::vector<std::uint8_t>(4, 0xFF));  // the firmware takes the first one
    b.write(map::doorbells, bench::big(1000));
    b.write(map::doorbells, bench::big(1001));
    b.run();
    EXPECT_EQ(b.entry(0), std::pair(0u, 1000u));
    EXPECT_EQ(b.entry(1), std::pair(4u, 1u));  // was not free: the new one is lost
    EXPECT_EQ(b.doorbells.overflows.value(), 1u);
    EXPECT_NE(b.registers.isr_at(b.clock.current() + 1) & reg::ISR_MEM, 0u);
}

TEST_P(doorbell_region_of, size_comes_from_the_control_register) {
    fifo b(GetParam(), 1, 1024);
    for (std::uint32_t i = 0; i < 1024; ++i) b.write(map::doorbells + 4 * i, bench::big(i));
    b.run();
    EXPECT_EQ(b.doorbells.overflows.value(), 0u);
    EXPECT_EQ(b.entry(1023), std::pair(4u * 1023, 1023u));
}

TEST_P(doorbell_region_of, several_queues_by_page) {
    fifo b(GetParam(), map::CONTROL_FIFO_MULTI_QUEUE, 2048);
    for (std::uint32_t q = 1; q < 4; ++q)
        b.write(map::pointers + 16 + 4 * q, bench::little(0x10000 + 0x1000 * q));
    for (std::uint32_t page = 0; page < 5; ++page)
        b.write(map::doorbells + page * map::doorbell_page_bytes, bench::big(page));
    b.run();
    for (std::uint32_t q = 0; q < 4; ++q) EXPECT_EQ(b.entry(0, 0x10000 + 0x1000 * q).second, q);
    EXPECT_EQ(b.entry(1).second, 4u);
}

INSTANTIATE_TEST_SUITE_P(impl, doorbell_region_of,
                         testing::ValuesIn(rtl::available() ? std::vector{"model", "rtl"}
                                                            : std::vector{"model"}),
                         [](const auto& impl) { return impl.param; });

}  // namespace
}  // namespace vinic::nic
