// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/sram.h"

#include <gtest/gtest.h>

#include "hw/sim/error.h"
#include "testbench/tests/nic/timeline.h"

namespace vinic::nic {
namespace {

using test::counted;

/// A SRAM of a LANai 9 (one slot of 8 bytes a cycle, 7500 ps) without core, or of another chip.
struct bench {
    explicit bench(const std::string& chip = "lanai9", const test::settings& given = {})
        : simulation(test::configured(given)), memory("sram", clock, traits_of(chip)) {}

    sim::simulation simulation;
    card_clock clock = test::clock_133();
    sram memory;
    test::timeline script;

    /// Asks in cycle `at` for a read and notes the cycle of its end.
    void read(sram_port& port, cycle at, std::uint32_t address, std::size_t bytes, cycle& end,
              unsigned rank = 0, pace speed = {}, cycle first = 0) {
        buffers.push_back(std::vector<std::uint8_t>(bytes));
        auto& buffer = buffers.back();
        script.at(clock.time_of(at), [&, address, rank, speed, first] {
            port.read(
                address, buffer, [&] { end = clock.current(); }, rank, speed, first);
        });
    }
    std::deque<std::vector<std::uint8_t>> buffers;
};

TEST(sram, burst_takes_a_slot_for_each_word) {
    bench b;
    cycle whole = 0, crossing = 0;
    b.read(b.memory.send, 10, 0, 64, whole);        // 8 words: slots 10..17, over at edge 18
    b.read(b.memory.send, 40, 0x104, 8, crossing);  // 4 bytes in each of two words: 40, 41, over at 42
    sc_core::sc_start();
    EXPECT_EQ(whole, 18u);
    EXPECT_EQ(crossing, 42u);
    EXPECT_EQ(b.memory.send.slots.value(), 10u);
    EXPECT_EQ(b.memory.send.wait_clocks.value(), 0u);
}

TEST(sram, two_slots_a_cycle) {
    bench b("lanai7");
    cycle even = 0, odd = 0;
    b.read(b.memory.send, 10, 0, 64, even);  // 8 slots: cycles 10..13
    b.read(b.memory.send, 20, 0, 40, odd);   // 5 slots: cycles 20, 21 and half of 22
    sc_core::sc_start();
    EXPECT_EQ(even, 14u);
    EXPECT_EQ(odd, 23u);
}

TEST(sram, four_byte_slots_of_lanai4) {
    bench b("lanai4");
    cycle end = 0;
    b.read(b.memory.send, 10, 2, 8, end);  // bytes 2..9 touch three words of 4 bytes: two cycles
    sc_core::sc_start();
    EXPECT_EQ(end, 12u);
}

TEST(sram, pace_spaces_the_slots) {
    bench b;
    cycle end = 0;
    // A word each 64/15 slots (8 bytes of 4 ns): the last of 8 is due at ceil(7 * 64 / 15) = 30.
    b.read(b.memory.receive, 100, 0, 64, end, 0, {64, 15});
    sc_core::sc_start();
    EXPECT_EQ(end, 131u);
}

TEST(sram, higher_priority_comes_first_whatever_order_they_ask_in) {
    for (const bool send_first : {true, false}) {
        bench b;
        cycle send = 0, receive = 0, host = 0, dma = 0;
        if (send_first) b.read(b.memory.send, 10, 0, 64, send);
        b.read(b.memory.receive, 10, 0, 32, receive);
        b.read(b.memory.host_dma, 10, 0, 24, dma);
        b.read(b.memory.host_access, 10, 0, 16, host);
        if (!send_first) b.read(b.memory.send, 10, 0, 64, send);
        sc_core::sc_start();
        EXPECT_EQ(host, 12u);     // 2 words: 10, 11
        EXPECT_EQ(dma, 15u);      // 3 words: 12..14
        EXPECT_EQ(receive, 19u);  // 4 words: 15..18
        EXPECT_EQ(send, 27u);     // 8 words: 19..26
        EXPECT_EQ(b.memory.send.wait_clocks.value(), 9u);
    }
}

TEST(sram, later_burst_of_higher_priority_delays_one_that_runs) {
    bench b;
    cycle send = 0, host = 0;
    b.read(b.memory.send, 10, 0, 64, send);
    b.read(b.memory.host_access, 14, 0, 24, host);  // slots 14..16
    sc_core::sc_start();
    EXPECT_EQ(host, 17u);
    EXPECT_EQ(send, 21u);  // 18 + 3
}

TEST(sram, lower_priority_fills_the_gaps) {
    bench b;
    cycle receive = 0, send = 0;
    b.read(b.memory.receive, 10, 0, 32, receive, 0, {2, 1});  // slots 10, 12, 14, 16
    b.read(b.memory.send, 10, 0, 32, send);                   // slots 11, 13, 15, 17
    sc_core::sc_start();
    EXPECT_EQ(receive, 17u);
    EXPECT_EQ(send, 18u);
}

TEST(sram, a_burst_for_later_lets_others_of_its_port_go_before) {
    bench b;
    cycle later = 0, now = 0, better = 0;
    b.read(b.memory.host_dma, 5, 0, 64, later, 4, {}, 20);
    b.read(b.memory.host_dma, 8, 0, 24, now, 4);              // slots 8..10
    b.read(b.memory.host_dma, 15, 0, 16, better, 0, {}, 20);  // slots 20, 21
    sc_core::sc_start();
    EXPECT_EQ(now, 11u);
    EXPECT_EQ(better, 22u);
    EXPECT_EQ(later, 30u);  // 22..29
    EXPECT_EQ(b.memory.host_dma.wait_clocks.value(), 2u);
}

TEST(sram, a_port_serves_by_rank_then_by_arrival) {
    bench b;
    cycle first = 0, low = 0, high = 0, later_low = 0;
    b.read(b.memory.host_dma, 10, 0, 64, first, 4);
    b.read(b.memory.host_dma, 11, 0, 64, low, 4);
    b.read(b.memory.host_dma, 12, 0, 64, later_low, 4);
    b.read(b.memory.host_dma, 13, 0, 24, high, 0);
    sc_core::sc_start();
    EXPECT_EQ(first, 18u);
    EXPECT_EQ(high, 21u);  // before those that came earlier, after the one that runs
    EXPECT_EQ(low, 29u);
    EXPECT_EQ(later_low, 37u);
}

TEST(sram, data_are_there_on_the_edge_after_the_last_slot) {
    bench b;
    const auto data = counted(16);
    std::vector<std::uint8_t> before(16), after(16);
    cycle done = 0;
    b.script.at(b.clock.time_of(10), [&] {
        b.memory.host_dma.write(0x101, data, [&] { done = b.clock.current(); });  // 3 words
    });
    b.script.at(b.clock.time_of(12) + 5, [&] { b.memory.peek(0x101, before); });
    b.script.at(b.clock.time_of(13) + 5, [&] { b.memory.peek(0x101, after); });
    sc_core::sc_start();
    EXPECT_EQ(done, 13u);
    EXPECT_EQ(before, std::vector<std::uint8_t>(16, 0));
    EXPECT_EQ(after, data);
    EXPECT_EQ(b.memory.peek_word(0x100), std::uint32_t{data[0]} << 16 | data[1] << 8 | data[2]);
}

TEST(sram, request_between_edges_gets_the_next_cycle) {
    bench b;
    cycle end = 0;
    std::vector<std::uint8_t> buffer(8);
    b.script.at(b.clock.time_of(10) + 3000,
                [&] { b.memory.send.read(0, buffer, [&] { end = b.clock.current(); }); });
    sc_core::sc_start();
    EXPECT_EQ(end, 12u);  // slot 11
}

TEST(sram, shortened_burst_gives_its_slots_back) {
    bench b;
    cycle cut = 0, gone = 0, send = 0;
    auto data = counted(64), other = counted(64);
    b.script.at(b.clock.time_of(10), [&] {
        b.memory.host_dma.write(0, data, [&] { cut = b.clock.current(); }, 0, {2, 1});
    });
    // By edge 13 words 0 and 1 (slots 10, 12) are stored; words 2 and 3 keep slots 14 and 16.
    b.script.at(b.clock.time_of(13), [&] { b.memory.host_dma.shorten(data.data(), 32); });
    b.read(b.memory.send, 17, 0, 16, send);  // slots 17, 18 are free
    b.script.at(b.clock.time_of(30),
                [&] { b.memory.host_dma.write(0x100, other, [&] { gone = b.clock.current(); }); });
    b.script.at(b.clock.time_of(34), [&] { b.memory.host_dma.shorten(other.data(), 8); });
    sc_core::sc_start();
    EXPECT_EQ(cut, 17u);
    EXPECT_EQ(send, 19u);
    EXPECT_EQ(gone, 35u);  // all that is left had its slot: the next edge
    EXPECT_EQ(b.memory.peek_word(32), 0u);
    EXPECT_NE(b.memory.peek_word(24), 0u);
    EXPECT_EQ(b.memory.peek_word(0x108), 0u);
    EXPECT_EQ(b.memory.host_dma.slots.value(), 4u + 4u);  // 30 to 33 were over by then
}

TEST(sram, reservation_takes_slots_and_a_burst_follows_it) {
    bench b;
    cycle send = 0, last = 0;
    auto data = counted(8);
    b.script.at(b.clock.time_of(10), [&] { b.memory.receive.reserve(4, {3, 1}, 12); });  // 12, 15, 18, 21
    b.read(b.memory.send, 12, 0, 32, send);                                              // 13, 14, 16, 17
    b.script.at(b.clock.time_of(20),
                [&] { b.memory.receive.write_last(0, data, 1, [&] { last = b.clock.current(); }); });
    sc_core::sc_start();
    EXPECT_EQ(send, 18u);
    EXPECT_EQ(last, 23u);  // slot 22, behind the reservation
    EXPECT_EQ(b.memory.receive.slots.value(), 5u);
}

TEST(sram, an_idle_port_schedules_nothing) {
    bench b;
    sc_core::sc_start();
    EXPECT_EQ(sim::now(), 0u);
}

TEST(sram, beyond_the_end_is_an_error) {
    bench b("lanai9", {{"sram.bytes", "262144"}});
    std::vector<std::uint8_t> buffer(16);
    EXPECT_THROW(b.memory.send.read(262144 - 8, buffer, {}), sim::model_error);
    EXPECT_NO_THROW(b.memory.send.read(262144 - 16, buffer, {}));
}

TEST(sram, size_is_checked) {
    EXPECT_THROW(bench("lanai9", {{"sram.bytes", "1000"}}), sim::input_error);
    EXPECT_THROW(bench("lanai9", {{"sram.bytes", "262148"}}), sim::input_error);
}

}  // namespace
}  // namespace vinic::nic
