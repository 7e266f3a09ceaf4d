// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/lanai/slots.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace vinic::lanai {
namespace {

// The rule, slot by slot: each slot to the first port in order of priority that has an access due.
struct plain_arbiter {
    std::array<slot_pattern, sram_ports> patterns{};
    std::array<std::uint64_t, sram_ports> served{};
    std::array<std::vector<slot>, sram_ports> when;
    slot now = 0;

    std::size_t decide() {
        const slot s = now++;
        for (std::size_t p = 0; p < sram_ports; ++p) {
            const slot_pattern& q = patterns[p];
            if (served[p] < q.count && s >= q.first &&
                (s - q.first) * q.period_denominator >= served[p] * q.period_numerator) {
                ++served[p];
                when[p].push_back(s);
                return p;
            }
        }
        return sram_ports;
    }
};

// 250 MB/s into 8-byte slots of 133.3 MHz: a word each 64/15 slots, so due at ceil(k * 64 / 15).
TEST(slots, due_follows_the_rational_period) {
    const slot_pattern p{.first = 100, .period_numerator = 64, .period_denominator = 15, .count = 20};
    EXPECT_EQ(p.due(0), 100u);
    EXPECT_EQ(p.due(1), 105u);
    EXPECT_EQ(p.due(2), 109u);
    EXPECT_EQ(p.due(3), 113u);
    EXPECT_EQ(p.due(4), 118u);
    EXPECT_EQ(p.due(15), 164u);
}

TEST(slots, core_takes_what_is_left) {
    slot_schedule schedule;
    slot_cursor cursor;
    schedule.set(sram_port::host_dma, {.first = 10, .period_numerator = 2, .count = 3}, 0);  // 10, 12, 14
    schedule.restart(cursor, sram_port::host_dma);
    EXPECT_EQ(schedule.take(cursor, 5), 5u);
    EXPECT_EQ(schedule.take(cursor, 9), 9u);
    EXPECT_EQ(schedule.take(cursor, 10), 11u);
    EXPECT_EQ(schedule.take(cursor, 12), 13u);
    EXPECT_EQ(schedule.take(cursor, 14), 15u);
    EXPECT_EQ(schedule.take(cursor, 16), 16u);
    EXPECT_EQ(cursor.next_due, never);
}

// Receive wants 20 and 21, host DMA wants 20 and 22: receive gets 21 and 23.
TEST(slots, priority) {
    slot_schedule schedule;
    schedule.set(sram_port::receive, {.first = 20, .count = 2}, 0);
    schedule.set(sram_port::host_dma, {.first = 20, .period_numerator = 2, .count = 2}, 0);
    EXPECT_EQ(schedule.served_at(sram_port::host_dma, 0), 20u);
    EXPECT_EQ(schedule.served_at(sram_port::host_dma, 1), 22u);
    EXPECT_EQ(schedule.served_at(sram_port::receive, 0), 21u);
    EXPECT_EQ(schedule.served_at(sram_port::receive, 1), 23u);
    EXPECT_EQ(schedule.next_free(sram_port::host_access, 20), 20u);  // above both
    EXPECT_EQ(schedule.next_free(sram_port::host_dma, 20), 21u);
    EXPECT_EQ(schedule.next_free(sram_port::send, 20), 24u);
    EXPECT_EQ(schedule.next_free(sram_port::send, 19), 19u);
    EXPECT_EQ(schedule.next_free(sram_port::send, 30), 30u);
}

TEST(slots, replacing_a_pattern_drops_the_rest) {
    slot_schedule schedule;
    schedule.set(sram_port::send, {.first = 0, .count = 100}, 0);
    EXPECT_EQ(schedule.next_free(sram_port::send, 10), 100u);
    schedule.set(sram_port::send, {}, 10);
    EXPECT_EQ(schedule.next_free(sram_port::send, 10), 10u);
}

TEST(slots, random_patterns_equal_the_plain_arbiter) {
    std::mt19937 random(11);
    for (unsigned round = 0; round < 300; ++round) {
        slot_schedule schedule;
        plain_arbiter plain;
        slot_cursor cursor;
        slot now = 0;
        for (unsigned change = 0; change < 6; ++change) {
            while (plain.now < now) plain.decide();
            schedule.advance(cursor, now);
            const auto port = static_cast<sram_port>(random() % sram_ports);
            slot_pattern p{.first = now + random() % 20,
                           .period_numerator = 0,
                           .period_denominator = 1 + random() % 9,
                           .count = random() % 60};
            p.period_numerator = p.period_denominator + random() % 30;
            schedule.set(port, p, now);
            schedule.restart(cursor, port);
            plain.patterns[static_cast<std::size_t>(port)] = p;
            plain.served[static_cast<std::size_t>(port)] = 0;
            plain.when[static_cast<std::size_t>(port)].clear();
            now += random() % 100;
        }
        now = cursor.position;
        // Who is served when, from here to the end; and what the core gets.
        plain_arbiter future = plain;
        std::vector<slot> free;
        while (future.now < now + 3000)
            if (future.decide() == sram_ports) free.push_back(future.now - 1);
        for (std::size_t port = 0; port < sram_ports; ++port)
            for (std::size_t k = plain.served[port]; k < future.served[port]; ++k)
                EXPECT_EQ(schedule.served_at(static_cast<sram_port>(port), k), future.when[port][k]);
        for (const slot s : free) ASSERT_EQ(schedule.take(cursor, cursor.position), s);
    }
}

}  // namespace
}  // namespace vinic::lanai
