// SPDX-License-Identifier: Apache-2.0
#include "host_driver/myvia/queues.h"

#include <gtest/gtest.h>

#include <cstring>

#include "firmware/abi/vi_descriptor.h"
#include "testbench/tests/host_driver/cluster.h"

namespace vinic::driver::test {
namespace {

namespace myvia = abi::myvia;

/// A machine whose card is not started: the queues talk to its window directly, as process 0.
struct queues : cluster {
    queues() : cluster(1), m(*machines[0]) { m.card.open[0] = true; }

    machine& m;
    std::unique_ptr<card_window> window = m.card.window();
    std::shared_ptr<myvia_doorbell_page> page =
        std::make_shared<myvia_doorbell_page>(*window, m.ram, fake_card::doorbells_at, 20);

    std::uint64_t big(const myvia_work_queue& q, unsigned offset, unsigned bytes) {
        std::array<std::byte, myvia::slot_bytes> raw;
        m.ram.dma_read(q.ring(), raw);
        std::uint64_t value = 0;
        for (unsigned i = 0; i < bytes; ++i)
            value = value << 8 | std::to_integer<std::uint64_t>(raw[offset + i]);
        return value;
    }
};

std::array<std::byte, descriptor_bytes> descriptor(std::uint32_t immediate) {
    abi::vi_control_segment control{.next = 0x1234,
                                    .next_handle = 99,
                                    .segment_count = 2,
                                    .control = abi::vi_control_immediate,
                                    .reserved = 5,
                                    .immediate_data = immediate,
                                    .length = 8,
                                    .status = 0xFFFFFFFF};
    std::array<std::byte, descriptor_bytes> bytes;
    bytes.fill(std::byte{0x77});
    const abi::vi_data_segment first{.data = 0x0102030405060708, .handle = 0x11121314, .length = 0x21222324};
    std::memcpy(bytes.data(), &control, sizeof control);
    std::memcpy(bytes.data() + sizeof control, &first, sizeof first);
    return bytes;
}

TEST(myvia_work_queue, post_fills_the_slot_and_rings) {
    queues t;
    t.spawn(0, [&](host::process& self, host::address_space&) {
        myvia_work_queue q(t.m.ram, t.page, 3, true, 4, 1, std::nullopt);
        q.post(self, descriptor(42), 0xABC0, 7);
        // Offsets of facts vipl.md 2; the most significant byte first (myvia_card.h).
        EXPECT_EQ(t.big(q, 0, 8), 0xABC0u);         // where the card finds segments beyond the slot
        EXPECT_EQ(t.big(q, 8, 4), 7u);              // and their memory
        EXPECT_EQ(t.big(q, 12, 4), 4u << 16 | 2u);  // immediate data; two segments
        EXPECT_EQ(t.big(q, 16, 4), 5u);             // reserved: as the program wrote it
        EXPECT_EQ(t.big(q, 20, 4), 42u);
        EXPECT_EQ(t.big(q, 24, 4), 8u);
        EXPECT_EQ(t.big(q, 28, 4), 0u);  // facts vipl.md 3.7
        EXPECT_EQ(t.big(q, 32, 8), 0x0102030405060708u);
        EXPECT_EQ(t.big(q, 40, 4), 0x11121314u);
        EXPECT_EQ(t.big(q, 44, 4), 0x21222324u);
        EXPECT_EQ(t.big(q, 48, 8), 0x7777777777777777u);
        // what = valid | op << 16 | VI; data = slots posted so far.
        ASSERT_EQ(t.m.card.doorbell_log.size(), 1u);
        EXPECT_EQ(t.m.card.doorbell_log[0].what, 1u << 31 | 2u << 16 | 3u);
        EXPECT_EQ(t.m.card.doorbell_log[0].data, 1u);
        EXPECT_FALSE(q.head_done());
        EXPECT_EQ(q.outstanding(), 1u);
    });
    t.run();
}

TEST(myvia_work_queue, completions_come_back_in_order_around_the_ring) {
    queues t;
    t.spawn(0, [&](host::process& self, host::address_space&) {
        myvia_work_queue q(t.m.ram, t.page, 0, true, 4, 1, std::nullopt);
        for (unsigned round = 0; round < 3; ++round) {
            for (unsigned i = 0; i < 4; ++i) q.post(self, descriptor(i), 0x1000 * (i + 1), 7);
            EXPECT_TRUE(q.full());
            for (unsigned i = 0; i < 4; ++i) {
                EXPECT_FALSE(q.head_done());
                const std::array<std::uint32_t, 4> done{0, big_endian(50 + i), big_endian(60 + i),
                                                        big_endian(std::uint32_t{abi::vi_status_done})};
                t.m.ram.write(q.ring() + i * 64 + 16, std::as_bytes(std::span(done)));
                ASSERT_TRUE(q.head_done());
                const descriptor_completion c = q.take();
                EXPECT_EQ(c.descriptor, 0x1000u * (i + 1));
                EXPECT_EQ(c.immediate_data, 50 + i);
                EXPECT_EQ(c.length, 60 + i);
            }
            EXPECT_TRUE(q.empty());
            EXPECT_FALSE(q.head_done());
        }
        EXPECT_EQ(t.m.card.doorbell_log.back().data, 12u);  // free running: 3 rounds of 4
    });
    t.run();
}

TEST(myvia_doorbell_page, waits_for_credit_when_the_page_is_full_and_wraps) {
    queues t;
    sim::picoseconds full_at = 0;
    sim::picoseconds rung_at = 0;
    t.m.card.takes_doorbells = false;
    t.spawn(0, [&](host::process& self, host::address_space&) {
        std::uint32_t data = 0;
        for (; data < myvia::doorbells_per_page; ++data) t.page->ring(self, myvia::doorbell_send, 0, data);
        full_at = sim::now();
        t.page->ring(self, myvia::doorbell_arm_queue, 2, data);
        rung_at = sim::now();
    });
    constexpr sim::picoseconds later = 5'000'000'000;
    sc_core::sc_spawn([&] {
        sc_core::wait(sim::to_sc_time(later));
        EXPECT_EQ(t.page->written(), myvia::doorbells_per_page);  // the next one has not been written
        t.m.card.takes_doorbells = true;
        t.m.card.take_doorbells();
    });
    t.run();
    EXPECT_LT(full_at, later);
    EXPECT_GT(rung_at, later);
    ASSERT_EQ(t.m.card.doorbell_log.size(), myvia::doorbells_per_page + 1);
    for (std::uint32_t i = 0; i < myvia::doorbells_per_page; ++i) EXPECT_EQ(t.m.card.doorbell_log[i].data, i);
    EXPECT_EQ(t.m.card.doorbell_log.back().what, 1u << 31 | 5u << 16 | 2u);
    // Taken from the first entry of the page, which it has wrapped to.
    EXPECT_EQ(t.m.card.doorbells_taken[0], myvia::doorbells_per_page + 1);
}

/// Writes entries as the card does: pass 1, 2, 1, ... (myvia_card.h).
struct completion_writer {
    host::memory& ram;
    const myvia_completion_queue& queue;
    std::uint32_t written = 0;

    void operator()(std::uint32_t vi, bool receive) {
        const std::uint32_t index = written % queue.capacity();
        const std::uint32_t pass = written / queue.capacity() % 2 + 1;
        const std::array<std::uint32_t, 2> entry{big_endian(vi | (receive ? 1u << 31 : 0u)),
                                                 big_endian(pass)};
        ram.write(queue.ring() + index * 8, std::as_bytes(std::span(entry)));
        ++written;
    }
};

// Pages of 4 KB from 0x808000 on (facts lanai_pcix.md B5): VI 3 has the fourth, queue 2 the third behind 8
// VIs.
TEST(myvia_doorbell_region, a_doorbell_is_one_word_in_the_page_of_its_vi_or_queue) {
    queues t;
    t.spawn(0, [&](host::process& self, host::address_space&) {
        myvia_doorbell_region region(*t.window, t.m.ram, 8, 20);
        const std::uint32_t count = 70000, seen = 6;
        region.ring(self, myvia::doorbell_receive, 3, count);
        region.ring(self, myvia::doorbell_arm_queue, 2, seen);
        EXPECT_EQ(t.window->load_big(self, 0x808000 + 3 * 0x1000 + 4 * 2), count);
        EXPECT_EQ(t.window->load_big(self, 0x808000 + 10 * 0x1000 + 4 * 5), seen);
        EXPECT_EQ(region.written(), 2u);
    });
    t.run();
}

TEST(myvia_vi_pages, a_word_says_how_things_stand_and_two_that_arm_differ) {
    queues t;
    t.spawn(0, [&](host::process& self, host::address_space&) {
        myvia_vi_pages pages(*t.window, 0x80000, 8);
        const std::uint32_t count = 0x12345, seen = 6;
        pages.ring(self, myvia::doorbell_send, 3, count);
        EXPECT_EQ(t.window->load_big(self, 0x83004),
                  0x80012345u);  // valid, send, the lower half of the count
        pages.ring(self, myvia::doorbell_arm_receive, 3, seen);
        EXPECT_EQ(t.window->load_big(self, 0x83010), 0x80040006u);
        pages.ring(self, myvia::doorbell_arm_receive, 3, seen);
        EXPECT_EQ(t.window->load_big(self, 0x83010), 0x80140006u);
        pages.ring(self, myvia::doorbell_arm_queue, 2, seen);
        EXPECT_EQ(t.window->load_big(self, 0x8A014), 0x80250006u);
    });
    t.run();
}

TEST(myvia_completion_queue, entries_are_told_by_their_pass) {
    queues t;
    t.spawn(0, [&](host::process&, host::address_space&) {
        myvia_completion_queue q(t.m.ram, t.page, 0, 4);
        completion_writer write{t.m.ram, q};
        for (std::uint32_t i = 0; i < 19; ++i) {  // over four passes
            EXPECT_FALSE(q.head_valid());
            write(i, i % 3 == 0);
            ASSERT_TRUE(q.head_valid());
            const completion_queue::entry e = q.take();
            EXPECT_EQ(e.vi, i);
            EXPECT_EQ(e.receive, i % 3 == 0);
        }
    });
    t.run();
}

TEST(myvia_completion_queue, forgets_entries_of_a_vi_that_is_gone) {
    queues t;
    t.spawn(0, [&](host::process& self, host::address_space&) {
        myvia_completion_queue q(t.m.ram, t.page, 1, 8);
        completion_writer write{t.m.ram, q};
        for (const std::uint32_t vi : {5u, 1u, 5u, 2u, 5u}) write(vi, false);
        EXPECT_EQ(q.pending(), 5u);
        q.forget(5);
        EXPECT_EQ(q.pending(), 2u);
        EXPECT_EQ(q.take().vi, 1u);
        EXPECT_EQ(q.take().vi, 2u);
        EXPECT_FALSE(q.head_valid());
        write(5, false);  // of a later VI with the same number
        ASSERT_TRUE(q.head_valid());
        EXPECT_EQ(q.take().vi, 5u);
        q.arm(self);
        EXPECT_EQ(t.m.card.doorbell_log.back().what, 1u << 31 | 5u << 16 | 1u);
        EXPECT_EQ(t.m.card.doorbell_log.back().data, 6u);  // all that were produced
        myvia_completion_queue longer(t.m.ram, t.page, 1, 16);
        longer.continues(q);
        longer.arm(self);
        EXPECT_EQ(t.m.card.doorbell_log.back().data, 6u);
    });
    t.run();
}

}  // namespace
}  // namespace vinic::driver::test
