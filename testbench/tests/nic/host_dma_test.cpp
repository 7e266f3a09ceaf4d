// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/host_dma.h"

#include <gtest/gtest.h>

#include <numeric>

#include "firmware/abi/lanai_registers.h"
#include "hw/nic/bytes.h"
#include "hw/sim/error.h"
#include "testbench/tests/bus/bus_fixture.h"
#include "testbench/tests/nic/span_log.h"
#include "testbench/tests/nic/timeline.h"

namespace vinic::nic {
namespace {

using test::counted;
namespace reg = abi::lanai9;

constexpr std::uint32_t host_base = 0x10000000, host_size = 1 << 16;
constexpr sim::picoseconds cycle_ps = 7500;

/// PCI 64/66 (15000 ps) with a host memory, and the DMA of a LANai 9 at 133 MHz (7500 ps): two cycles a bus
/// clock.
struct bench {
    explicit bench(const test::settings& given = {})
        : simulation(test::configured(given)),
          bus("bus"),
          memory("sram", clock, traits_of("lanai9")),
          registers("registers", clock, traits_of("lanai9"), memory),
          master("master", bus.properties(), {0, 4, 0}),
          dma("dma", clock, memory, registers, master),
          host("host", bus.properties(), host_base, host_size) {
        bus.attach(master);
        bus.map(bus.attach(host.port, {{0, 1, 0}}), host_base, host_size);
        for (const auto& [name, probe] : sim::simulation::current().probes()) probe->attach(log);
    }
    sim::simulation simulation;
    card_clock clock = test::clock_133();
    bus::pci_bus bus;
    sram memory;
    special_registers registers;
    bus::master master;
    host_dma dma;
    bus::test::memory_target host;
    test::timeline script;
    test::span_log log;

    void put_block(std::uint32_t at, std::uint32_t next_and_flags, std::uint32_t bytes, std::uint32_t local,
                   std::uint64_t host_address) {
        std::uint8_t raw[24] = {};
        const std::uint32_t words[] = {next_and_flags,
                                       0,
                                       bytes,
                                       local,
                                       static_cast<std::uint32_t>(host_address >> 32),
                                       static_cast<std::uint32_t>(host_address)};
        for (int i = 0; i < 6; ++i) store_big(raw + 4 * i, words[i]);
        memory.poke(at, raw);
    }
    void pulse_in(cycle at, unsigned channels) {
        script.at(clock.time_of(at), [=, this] { dma.pulse(channels); });
    }
    std::vector<std::uint8_t> sram_bytes(std::uint32_t at, std::size_t n) {
        std::vector<std::uint8_t> bytes(n);
        memory.peek(at, bytes);
        return bytes;
    }
};

constexpr std::uint32_t to_card = abi::dma_flag_host_to_lanai, terminal = abi::dma_flag_terminal,
                        wake = abi::dma_flag_wake;

TEST(host_dma, host_to_card_in_clocks) {
    bench b;
    const auto data = counted(64);
    std::ranges::copy(data, b.host.memory.begin() + 0x100);
    b.dma.channel(0).set_base(0x1000);
    b.put_block(0x1000, to_card | terminal | wake, 64, 0x2000, host_base + 0x100);
    b.pulse_in(0, 1);
    sc_core::sc_start();
    // Trigger 4 clocks; the engine is granted in cycle 4, the 3 slots of the fetch are 5, 6, 7; set-up 8
    // clocks.
    const auto& fetch = b.log.spans.at("dma.channel0.fetch").at(0);
    EXPECT_EQ(fetch.end, 8 * cycle_ps);
    const auto& payload = b.log.spans.at("dma.channel0.payload").at(0);
    EXPECT_EQ(payload.begin, (8 + 8) * cycle_ps);
    EXPECT_EQ(payload.fields.at("bytes"), 64u);
    EXPECT_EQ(payload.fields.at("host_address"), host_base + 0x100u);
    // One burst. Its last word takes the slot of the edge after the last data phase and is in place one
    // later.
    ASSERT_EQ(b.host.scheduled.size(), 1u);
    const cycle last = b.clock.domain().edge_after(b.host.scheduled[0].schedule.done_at);
    EXPECT_EQ(payload.end, (last + 1) * cycle_ps);
    // Write-back: 2 clocks, one slot. WAKE is seen one edge later.
    const auto& block = b.log.spans.at("dma.channel0.block").at(0);
    EXPECT_EQ(block.end, (last + 1 + 2 + 1) * cycle_ps);
    EXPECT_EQ(b.registers.isr_at(last + 4), 0u);
    EXPECT_EQ(b.registers.isr_at(last + 5), std::uint32_t{reg::ISR_WAKE0});
    EXPECT_EQ(b.sram_bytes(0x2000, 64), data);
    EXPECT_EQ(b.memory.host_dma.slots.value(), 3u + 8u + 1u);
    EXPECT_FALSE(b.dma.channel(0).busy());
}

// Bytes 6 and 7 of one word of the bus and 0 and 1 of the next fill one word of SRAM: its slot follows the
// second data phase, two of the LANai's clocks after the first.
TEST(host_dma, a_word_of_two_data_phases_is_stored_after_the_second) {
    bench b;
    const auto data = counted(4);
    std::ranges::copy(data, b.host.memory.begin() + 0x106);
    b.dma.channel(0).set_base(0x1000);
    b.put_block(0x1000, to_card | terminal, 4, 0x2000, host_base + 0x106);
    b.pulse_in(0, 1);
    sc_core::sc_start();
    ASSERT_EQ(b.host.scheduled.size(), 1u);
    const auto& when = b.host.scheduled[0].schedule;
    EXPECT_EQ(when.done_at - when.first_data_at, 2 * cycle_ps);
    EXPECT_EQ(b.log.spans.at("dma.channel0.payload").at(0).end,
              (b.clock.domain().edge_after(when.done_at) + 1) * cycle_ps);
    EXPECT_EQ(b.sram_bytes(0x2000, 4), data);
}

TEST(host_dma, card_to_host_reads_the_sram_ahead) {
    bench b(test::settings{{"dma.fifo_bytes", "128"}});
    const auto data = counted(256);
    b.memory.poke(0x2000, data);
    b.dma.channel(1).set_base(0x1000);
    b.put_block(0x1000, terminal | wake, 256, 0x2000, host_base + 0x400);
    b.pulse_in(0, 2);
    sc_core::sc_start();
    EXPECT_TRUE(std::equal(data.begin(), data.end(), b.host.memory.begin() + 0x400));
    // Four halves of the FIFO, 8 slots each, from cycle 16 on; the second is read while the first is on the
    // bus.
    const auto& grants = b.log.spans.at("sram.host_dma.grant");
    ASSERT_EQ(grants.size(), 1u + 4u + 1u);
    EXPECT_EQ(grants[1].end, (16 + 8) * cycle_ps);
    EXPECT_EQ(grants[2].end, (16 + 16) * cycle_ps);
    ASSERT_EQ(b.host.moved.size(), 4u);
    EXPECT_LT(grants[2].end, b.host.moved[0].at);
    // The third half must wait until the first has left.
    EXPECT_GE(grants[3].begin, b.host.moved[0].at);
    EXPECT_EQ(b.registers.isr_at(b.clock.current() + 1), std::uint32_t{reg::ISR_WAKE1});
}

TEST(host_dma, any_length_and_alignment) {
    bench b;
    for (std::size_t i = 0; i < b.host.memory.size(); ++i)
        b.host.memory[i] = static_cast<std::uint8_t>(i * 5 + 1);
    struct c {
        std::uint32_t bytes, local, host;
    };
    const c cases[] = {{1, 0x2001, 3},   {7, 0x2103, 6},       {8, 0x2201, 4},
                       {63, 0x2307, 61}, {100, 0x2402, 0xFFF}, {0, 0x2500, 8}};
    std::uint32_t at = 0x1000;
    for (const c& x : cases) {
        b.put_block(at, (at + 24) | to_card, x.bytes, x.local, host_base + x.host);
        at += 24;
    }
    for (const c& x : cases) {  // back, elsewhere
        const bool last = &x == &cases[5];
        b.put_block(at, last ? terminal : at + 24, x.bytes, x.local, host_base + 0x8000 + x.host);
        at += 24;
    }
    b.dma.channel(2).set_base(0x1000);
    b.pulse_in(0, 4);
    sc_core::sc_start();
    EXPECT_EQ(b.dma.channel(2).blocks.value(), 12u);
    for (const c& x : cases) {
        const auto from = b.host.memory.begin() + x.host;
        const std::vector<std::uint8_t> expected(from, from + x.bytes);
        EXPECT_EQ(b.sram_bytes(x.local, x.bytes), expected);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), from + 0x8000)) << x.bytes;
        EXPECT_EQ(b.sram_bytes(x.local + x.bytes, 1)[0], 0);  // not a byte more
        EXPECT_EQ(b.host.memory[0x8000 + x.host + x.bytes],
                  static_cast<std::uint8_t>((0x8000 + x.host + x.bytes) * 5 + 1));
    }
}

TEST(host_dma, checksum_is_the_ones_complement_sum) {
    block_checksum sum;
    // 0x0102 + 0x0506 = 0x0608; 0xFFFF + 0x0002 = 0x10001 -> 0x0002.
    const std::uint8_t bytes[] = {0x01, 0x02, 0xFF, 0xFF, 0x05, 0x06, 0x00, 0x02};
    sum.add(std::span(bytes).first(3));
    sum.add(std::span(bytes).subspan(3));
    EXPECT_EQ(sum.result(), 0x06080002u);
    block_checksum at_once;
    at_once.add(bytes);
    EXPECT_EQ(at_once.result(), 0x06080002u);
    block_checksum odd;  // an odd last byte is the upper half of its word
    odd.add(std::span(bytes).first(1));
    EXPECT_EQ(odd.result(), 0x0100FFFFu);
    EXPECT_EQ(block_checksum().result(), 0xFFFFFFFFu);
}

TEST(host_dma, checksum_is_written_back_never_zero) {
    bench b;
    const auto data = counted(24);
    b.memory.poke(0x2000, data);
    b.put_block(0x1000, 0x1018, 24, 0x2000, host_base);
    b.put_block(0x1018, terminal, 8, 0x3000, host_base + 64);  // zeros
    b.dma.channel(0).set_base(0x1000);
    b.pulse_in(0, 1);
    sc_core::sc_start();
    block_checksum expected;
    expected.add(data);
    EXPECT_EQ(b.memory.peek_word(0x1004), expected.result());
    EXPECT_EQ(b.memory.peek_word(0x101C), 0xFFFFFFFFu);
}

TEST(host_dma, pulses_are_counted_and_resume_behind_the_terminal_block) {
    bench b;
    // A ring of three blocks of 8 bytes, each terminal.
    for (std::uint32_t i = 0; i < 3; ++i)
        b.put_block(0x1000 + 24 * i, (i == 2 ? 0x1000 : 0x1000 + 24 * (i + 1)) | to_card | terminal, 8,
                    0x2000 + 8 * i, host_base + 8 * i);
    b.dma.channel(0).set_base(0x1000);
    b.pulse_in(0, 1);
    b.pulse_in(1, 1);  // while the first is under way
    sc_core::sc_start();
    EXPECT_EQ(b.dma.channel(0).blocks.value(), 2u);
    b.pulse_in(1000, 1);
    sc_core::sc_start();
    EXPECT_EQ(b.dma.channel(0).blocks.value(), 3u);
    EXPECT_EQ(b.log.spans.at("dma.channel0.block").at(2).fields.at("descriptor"), 0x1030u);
    b.dma.channel(0).set_base(0x1018);  // taken over when written
    b.pulse_in(2000, 1);
    sc_core::sc_start();
    EXPECT_EQ(b.log.spans.at("dma.channel0.block").at(3).fields.at("descriptor"), 0x1018u);
}

TEST(host_dma, channels_take_turns_block_by_block) {
    for (const char* how : {"round_robin", "fixed"}) {
        bench b(test::settings{{"dma.arbitration", how}});
        for (std::uint32_t channel = 0; channel < 2; ++channel) {
            const std::uint32_t chain = 0x1000 + channel * 0x100;
            b.put_block(chain, (chain + 24) | to_card, 8, 0x2000, host_base);
            b.put_block(chain + 24, to_card | terminal, 8, 0x2000, host_base);
            b.dma.channel(channel).set_base(chain);
        }
        b.pulse_in(0, 3);
        sc_core::sc_start();
        const auto& zero = b.log.spans.at("dma.channel0.block");
        const auto& one = b.log.spans.at("dma.channel1.block");
        EXPECT_LE(zero[0].end, one[0].begin);
        if (std::string(how) == "fixed")
            EXPECT_LE(zero[1].end, one[0].begin);
        else
            EXPECT_LE(one[0].end, zero[1].begin);
    }
}

TEST(host_dma, two_engines_work_in_both_directions_at_once) {
    const auto run = [](const char* engines) {
        bench b(test::settings{{"dma.engines", engines}});
        b.put_block(0x1000, to_card | terminal, 1024, 0x2000, host_base);
        b.put_block(0x1100, terminal, 1024, 0x4000, host_base + 0x1000);
        b.dma.channel(0).set_base(0x1000);
        b.dma.channel(1).set_base(0x1100);
        b.pulse_in(0, 3);
        sc_core::sc_start();
        return std::pair(b.log.spans.at("dma.channel0.payload").at(0),
                         b.log.spans.at("dma.channel1.payload").at(0));
    };
    const auto [in1, out1] = run("1");
    EXPECT_LE(in1.end, out1.begin);
    const auto [in2, out2] = run("2");
    EXPECT_LT(out2.begin, in2.end);
    EXPECT_LT(in2.begin, out2.end);
}

TEST(host_dma, bus_abort_stops_the_channel) {
    bench b;
    b.put_block(0x1000, to_card | terminal | wake, 64, 0x2000, 0x77000000);  // nobody answers there
    b.put_block(0x1100, to_card | terminal, 8, 0x2000, host_base);
    b.dma.channel(0).set_base(0x1000);
    b.dma.channel(1).set_base(0x1100);
    b.pulse_in(0, 1);
    b.pulse_in(1000, 2);
    sc_core::sc_start();
    EXPECT_EQ(b.dma.channel(0).bus_errors.value(), 1u);
    EXPECT_EQ(b.registers.isr_at(b.clock.current() + 1), std::uint32_t{reg::ISR_PAR});
    EXPECT_EQ(b.memory.peek_word(0x1004), 0u);       // no checksum
    EXPECT_EQ(b.dma.channel(1).blocks.value(), 1u);  // the others go on
}

TEST(host_dma, reset_in_the_middle_of_a_transfer) {
    bench b;
    b.put_block(0x1000, to_card | terminal | wake, 4096, 0x2000, host_base);
    b.put_block(0x1100, to_card | terminal, 64, 0x4000, host_base);
    std::ranges::copy(counted(64), b.host.memory.begin());
    b.dma.channel(0).set_base(0x1000);
    b.pulse_in(0, 1);
    b.script.at(b.clock.time_of(60), [&] {
        EXPECT_TRUE(b.dma.channel(0).busy());
        b.dma.reset();
        b.dma.channel(0).set_base(0x1100);
        b.dma.pulse(1);
    });
    sc_core::sc_start();
    EXPECT_EQ(b.dma.channel(0).blocks.value(), 1u);
    EXPECT_EQ(b.registers.isr_at(b.clock.current() + 1), 0u);
    EXPECT_EQ(b.sram_bytes(0x4000, 64), counted(64));
}

TEST(host_dma, latency_timer_cuts_bursts_and_no_byte_is_lost) {
    bench b(test::settings{{"bus.latency_timer_clocks", "8"}, {"dma.engines", "4"}});
    for (std::size_t i = 0; i < b.host.memory.size(); ++i)
        b.host.memory[i] = static_cast<std::uint8_t>(i * 11 + (i >> 8));
    bus::master rival("rival", b.bus.properties(), {0, 5, 0});
    b.bus.attach(rival);
    bus::test::recorder_client client;
    std::vector<std::uint8_t> buffer(8);
    bus::job job{
        .what = bus::job::kind::write, .address = host_base + 0xF000, .bytes = buffer, .client = &client};
    int left = 20;
    client.when_done = [&](bus::job& j) {
        if (--left > 0) rival.start(j);
    };
    b.put_block(0x1000, to_card | terminal, 2048, 0x2003, host_base + 5);
    b.put_block(0x1100, to_card | terminal, 1000, 0x4001, host_base + 0x2002);
    b.dma.channel(0).set_base(0x1000);
    b.dma.channel(1).set_base(0x1100);
    b.pulse_in(0, 3);
    // Not at an edge of the bus: a burst that is granted there may already be planned shorter.
    b.script.at(b.clock.time_of(20) + 1, [&] { rival.start(job); });
    sc_core::sc_start();
    EXPECT_GT(b.host.cuts, 0);
    EXPECT_TRUE(std::equal(b.host.memory.begin() + 5, b.host.memory.begin() + 5 + 2048,
                           b.memory.contents().begin() + 0x2003));
    EXPECT_TRUE(std::equal(b.host.memory.begin() + 0x2002, b.host.memory.begin() + 0x2002 + 1000,
                           b.memory.contents().begin() + 0x4001));
}

TEST(host_dma, transfer_by_registers_of_the_lanai4) {
    sim::simulation simulation;
    card_clock clock = test::clock_133();
    bus::pci_bus bus("bus");
    sram memory("sram", clock, traits_of("lanai4"));
    special_registers registers("registers", clock, traits_of("lanai4"), memory);
    bus::master master("master", bus.properties(), {0, 4, 0});
    host_dma dma("dma", clock, memory, registers, master);
    bus::test::memory_target host("host", bus.properties(), host_base, host_size);
    bus.attach(master);
    bus.map(bus.attach(host.port, {{0, 1, 0}}), host_base, host_size);
    test::timeline script;
    const auto data = counted(40);
    std::ranges::copy(data, host.memory.begin() + 0x20);
    script.at(0, [&] { dma.channel0.start(host_base + 0x20, 0x400, 40, true); });
    sc_core::sc_start();
    EXPECT_TRUE(std::equal(data.begin(), data.end(), memory.contents().begin() + 0x400));
    EXPECT_EQ(registers.isr_at(clock.current() + 1), std::uint32_t{abi::lanai4::ISR_DMA});
    block_checksum sum;
    sum.add(data);
    EXPECT_EQ(dma.channel0.checksum(), sum.result());
}

TEST(host_dma, bad_blocks_are_errors_of_the_firmware) {
    bench b;
    b.dma.channel(0).set_base(0x1004);
    b.pulse_in(0, 1);
    EXPECT_THROW(sc_core::sc_start(), std::exception);
}

}  // namespace
}  // namespace vinic::nic
