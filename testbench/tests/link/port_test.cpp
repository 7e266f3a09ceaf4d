// SPDX-License-Identifier: Apache-2.0
#include "hw/link/port.h"

#include <gtest/gtest.h>

#include <functional>

#include "hw/sim/error.h"
#include "testbench/tests/link/bench.h"

namespace vinic::link {
namespace {

// Back to back, 1.28 Gbit/s: a character takes B = 6250 ps, the cable D = 10 m * 4.92 ns/m = 49200 ps.
constexpr picoseconds B = 6250;
constexpr picoseconds D = 49200;
const bench::settings first_generation = {{"link.byte_ps", "6250"}, {"link.length_mm", "10000"}};

TEST(port, back_to_back_times) {
    bench b(topology::back_to_back(), first_generation);
    const auto bytes = b.make(0, 1, 100);
    b.script.at(1'000'000, [&] { b[0].nic.send(bytes, true); });
    b.run();
    ASSERT_EQ(b[1].received.size(), 1u);
    // The first character is there after one character time and the cable; the tail is the GAP, character 101
    // after 100 bytes and the CRC-8.
    EXPECT_EQ(b[1].received[0].head, 1'000'000 + B + D);
    EXPECT_EQ(b[1].received[0].tail, 1'000'000 + 102 * B + D);
    EXPECT_EQ(b[1].received[0].bytes, bytes);
    EXPECT_EQ(b[1].received[0].remainder, 0);
    // The sender is through when the GAP begins.
    ASSERT_EQ(b[0].sent.size(), 1u);
    EXPECT_EQ(b[0].sent[0], 1'000'000 + 101 * B);
    EXPECT_FALSE(b[0].nic.busy());
}

TEST(port, packets_follow_each_other_without_a_pause) {
    bench b(topology::back_to_back(), first_generation);
    b.script.at(0, [&] {
        for (unsigned i = 0; i < 5; ++i) b[0].nic.send(b.make(0, 1, 50 + i, i), true);
    });
    b.run();
    ASSERT_EQ(b[1].received.size(), 5u);
    picoseconds begun = 0;
    for (unsigned i = 0; i < 5; ++i) {
        EXPECT_EQ(b[1].received[i].head, begun + B + D);
        begun += (50 + i + 2) * B;  // bytes, CRC-8, GAP
        EXPECT_EQ(b[1].received[i].tail, begun + D);
        EXPECT_EQ(b[1].received[i].bytes, b.make(0, 1, 50 + i, i));
    }
}

TEST(port, both_directions_do_not_disturb_each_other) {
    bench b(topology::back_to_back(), first_generation);
    b.script.at(0, [&] {
        b[0].nic.send(b.make(0, 1, 64), true);
        b[1].nic.send(b.make(1, 0, 32), true);
    });
    b.run();
    EXPECT_EQ(b[1].received.at(0).tail, 66 * B + D);
    EXPECT_EQ(b[0].received.at(0).tail, 34 * B + D);
}

TEST(port, a_packet_in_parts_holds_the_wire) {
    bench b(topology::back_to_back(), first_generation);
    b.script.at(0, [&] { b[0].nic.send(std::vector<std::uint8_t>(10, 1), false); });
    b.script.at(1'000'000, [&] { b[0].nic.send(std::vector<std::uint8_t>(10, 2), true); });
    b.run();
    EXPECT_EQ(b[0].parts.at(0), 9 * B);  // the tenth byte goes on the wire
    EXPECT_EQ(b[1].received.at(0).head, B + D);
    EXPECT_EQ(b[1].received.at(0).tail, 1'000'000 + 12 * B + D);
    EXPECT_EQ(b[1].received.at(0).remainder, 0);
    EXPECT_EQ(b[1].received.at(0).bytes.size(), 20u);
}

TEST(port, a_source_slower_than_the_wire_sets_the_pace) {
    bench b(topology::back_to_back(), first_generation);
    b.script.at(0, [&] { b[0].nic.send(std::vector<std::uint8_t>(50, 3), true, 10'000); });
    b.run();
    // Byte 49 starts at 490000, then CRC-8 and GAP at the wire's pace.
    EXPECT_EQ(b[1].received.at(0).tail, 490'000 + 3 * B + D);
}

// STOP above 56 and GO below 40 with a receiver that does not take.
TEST(port, stop_and_go_in_closed_form) {
    bench b(topology::back_to_back(), first_generation);
    b[1].when_head = [] {};
    b.script.at(0, [&] { b[0].nic.send(std::vector<std::uint8_t>(400, 3), true); });
    b.run(10'000'000);
    // Character n (from 0) starts at nB and arrives at (n+1)B + D. The 57th arrives at 57B + D; STOP is one
    // character long, so it takes effect at the sender at 58B + 2D = 460900 ps; characters that start up to
    // then are sent: 460900 / 6250 = 73.7, so characters 0 .. 73. Slack needed: 57 + 2 + floor(2D/B) = 74.
    EXPECT_EQ(b[0].nic.sending().end(), 74u);
    EXPECT_EQ(b[1].nic.slack_size(), 74u);
    EXPECT_EQ(b[1].nic.highest_slack(), 74u);

    // Takes 30, then the rest, at 20 us and 30 us: 44 remain, no GO; then GO at 30 us, at once below 40 since
    // all is taken at one instant. It reaches the sender a character and a cable later.
    b.script.at(20'000'000, [&] { b[1].nic.take(30); });
    b.run(29'000'000);
    EXPECT_EQ(b[1].limits, std::vector<picoseconds>{20'000'000});
    EXPECT_EQ(b[0].nic.sending().end(), 74u);
    b.script.at(30'000'000, [&] { b[1].nic.take(never); });
    b.run();
    // 402 characters, 74 sent before: the other 328 start at 30 us + B + D.
    EXPECT_EQ(b[1].received.at(0).tail, 30'000'000 + B + D + 328 * B + D);
    EXPECT_EQ(b[1].received.at(0).remainder, 0);
}

TEST(port, a_slow_receiver_paces_the_sender_and_never_overflows) {
    bench b(topology::back_to_back(), first_generation);
    b[1].spacing = 25'000;  // a quarter of the wire's rate
    const auto bytes = b.make(0, 1, 4000);
    b.script.at(0, [&] { b[0].nic.send(bytes, true); });
    b.run();
    ASSERT_EQ(b[1].received.size(), 1u);
    // The slack never runs empty (GO goes out at 39, the round trip is 2D + 2B = 18 characters of the wire,
    // fewer than 5 of the receiver), so the receiver takes one each 25 ns from the first to the GAP,
    // character 4001.
    EXPECT_EQ(b[1].received[0].tail, B + D + 4001 * picoseconds{25'000});
    EXPECT_LE(b[1].nic.highest_slack(), b[1].nic.slack_size());
    EXPECT_EQ(b[1].received[0].bytes, bytes);
}

// The card begins to take at the very instant at which the buffer passes the threshold of STOP; whether its
// call comes before or after the arrival within that instant must not show.
TEST(port, taking_at_the_instant_of_a_threshold) {
    for (const bool late : {false, true}) {
        bench b(topology::back_to_back(), first_generation);
        b[1].when_head = [] {};
        // In the order of construction the script is woken before or after the port; a further delta is later
        // still.
        sc_core::sc_event later;
        struct waiter : sim::module {
            waiter(sc_core::sc_event& e, std::function<void()> f)
                : sim::module("waiter"), what(std::move(f)) {
                SC_HAS_PROCESS(waiter);
                SC_METHOD(act);
                sensitive << e;
                dont_initialize();
            }
            void act() { what(); }
            std::function<void()> what;
        } second(later, [&] { b[1].nic.take(never); });
        b.script.at(0, [&] { b[0].nic.send(std::vector<std::uint8_t>(400, 3), true); });
        b.script.at(57 * B + D, [&] {
            if (late)
                later.notify(sc_core::SC_ZERO_TIME);
            else
                b[1].nic.take(never);
        });
        b.run();
        // All 57 are taken at the instant at which the last of them comes: the buffer never holds more
        // than 56.
        EXPECT_EQ(b.net.cables()[0]->ab.stops.value(), 0u);
        EXPECT_EQ(b[1].received.at(0).tail, 402 * B + D);
    }
}

TEST(port, a_blocked_sender_hears_of_it_once) {
    bench b(topology::back_to_back(), {{"port.nres_ps", "1000000000"}});
    b[1].when_head = [] {};
    b.script.at(0, [&] { b[0].nic.send(std::vector<std::uint8_t>(4000, 3), true); });
    b.run();
    ASSERT_EQ(b[0].blocked.size(), 1u);
    EXPECT_EQ(b[0].nic.blocked.value(), 1u);
}

TEST(port, a_slack_too_small_for_the_cable_is_refused) {
    bench b(topology::back_to_back(),
            {{"link.byte_ps", "6250"}, {"link.length_mm", "25000"}, {"port.slack_bytes", "80"}});
    // 25 m: 2 * 123000 / 6250 = 39 characters under way; 57 + 2 + 39 = 98.
    try {
        b.run();
        FAIL();
    } catch (const sim::input_error& e) {
        EXPECT_NE(std::string(e.what()).find("need 98"), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace vinic::link
