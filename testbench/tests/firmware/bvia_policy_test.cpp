// SPDX-License-Identifier: Apache-2.0

// What makes Berkeley VIA and FirmVIA different: how many packets are filled, when receive descriptors are
// fetched, how doorbells are found; and what both promise of doorbells, queues and commands.
#include <gtest/gtest.h>

#include "testbench/tests/firmware/fake_lanai4.h"

namespace vinic::testbench {
namespace {

using namespace abi;
using namespace abi::myvia;

constexpr uint64_t base = 0x30000040;

// FirmVIA fetches a receive descriptor when it is posted, Berkeley VIA when its message comes.
TEST(bvia_policy, receive_descriptors) {
    fake_lanai4 card;
    library_vi to = card.create_vi(2, vi_unreliable);
    card.post_receive(to, encode(vinic::testbench::message({})));
    card.settle();
    EXPECT_EQ(card.dma_reads, vinic::bvia::variant::caches_descriptors ? 1u : 0u);
}

// While the wire is busy, one packet more is filled than it has buffers for beside that on the wire.
TEST(bvia_policy, send_buffers) {
    fake_lanai4 card;
    library_vi from = card.create_vi(1, vi_unreliable);
    card.create_vi(2, vi_unreliable);
    card.connect(1, 2);
    const memory_region memory = card.register_memory(base, 0x2000, 7);
    card.hold_send = true;
    for (int i = 0; i != 4; ++i)
        card.post_send(from, encode(vinic::testbench::message({{base, memory.handle, 8}})));
    card.settle();
    uint32_t done = 0;
    for (; card.completed(from, from.send); ++done) card.take(from, from.send);
    EXPECT_EQ(done, vinic::bvia::variant::send_buffers);
    card.hold_send = false;
    for (; done != 4; ++done) EXPECT_EQ(card.wait(from, from.send).status, done_send);
}

// Doorbells of all VIs are found, whichever of them rings, and in any number.
TEST(bvia_policy, doorbells_of_many_vis) {
    fake_lanai4 card({.seed = 5});
    const memory_region memory = card.register_memory(base, 0x2000, 7);
    std::vector<library_vi> from, to;
    for (uint32_t i = 0; i != 16; ++i) {
        from.push_back(card.create_vi(2 * i, vi_unreliable, 16));
        to.push_back(card.create_vi(2 * i + 1, vi_unreliable, 16));
        card.connect(2 * i, 2 * i + 1, 1, i);
    }
    uint32_t sent = 0, received = 0;
    while (received != 500) {
        const uint32_t i = card.random() % 16;
        if (sent != 500 && to[i].receive.posted - to[i].receive.seen < 16 &&
            from[i].send.posted == from[i].send.seen) {
            card.post_receive(to[i], encode(vinic::testbench::message({{base, memory.handle, 100}})));
            card.post_send(from[i], encode(vinic::testbench::message({{base, memory.handle, 50 + i}})));
            ++sent;
        }
        card.run(card.random() % 10);
        for (uint32_t k = 0; k != 16; ++k) {
            while (card.completed(from[k], from[k].send))
                ASSERT_EQ(card.take(from[k], from[k].send).status, done_send);
            while (card.completed(to[k], to[k].receive)) {
                ASSERT_EQ(card.take(to[k], to[k].receive), (completion{done_receive, 50 + k, 0}));
                ++received;
            }
        }
    }
    EXPECT_TRUE(card.violations.empty());
}

// A process rings only for what is its own.
TEST(bvia_policy, doorbells_of_others_have_no_effect) {
    fake_lanai4 card;
    card.open_process(3);
    library_vi from = card.create_vi(1, vi_unreliable);
    card.create_vi(2, vi_unreliable);
    card.connect(1, 2);
    card.create_queue(4, 8);
    card.put_slot(from, from.send, encode(vinic::testbench::message({})));
    card.ring(doorbell_send, 1, 1, 3);
    card.ring(doorbell_arm_send, 1, 7, 3);
    card.ring(doorbell_arm_queue, 4, 7, 3);
    card.ring(doorbell_send_pushed, 1, 1, 3);
    card.settle();
    EXPECT_FALSE(card.completed(from, from.send));
    EXPECT_TRUE(card.take_events().empty());
    card.ring(doorbell_send, 1, 1);
    EXPECT_EQ(card.wait(from, from.send).status, done_send);
}

// More slots announced than the ring has: VI_OVERRUN and error state (vipl.md 6.2), whichever doorbell says
// so.
TEST(bvia_policy, overrun) {
    for (const auto op : {doorbell_send, doorbell_send_pushed}) {
        fake_lanai4 card;
        library_vi from = card.create_vi(1, vi_unreliable, 8);
        card.create_vi(2, vi_unreliable, 8);
        card.connect(1, 2);
        card.ring(op, 1, 9);
        card.settle();
        const auto events = card.take_events();
        ASSERT_EQ(events.size(), 1u);
        EXPECT_EQ(events[0].argument, 3u) << "VI overrun";
        EXPECT_EQ(vinic::bvia::vis[1].state, vi_error);
        from.send.posted = 0;
        card.post_send(from, encode(vinic::testbench::message({})));
        EXPECT_EQ(card.wait(from, from.send).status & vi_status_error_mask, vi_status_flushed_error);
    }
}

// What was rung before a command counts before it: the card knows the descriptors that it flushes.
TEST(bvia_policy, commands_come_after_the_doorbells_before_them) {
    fake_lanai4 card;
    library_vi from = card.create_vi(1, vi_unreliable);
    card.create_vi(2, vi_unreliable);
    card.connect(1, 2);
    card.hold_send = true;
    for (int i = 0; i != 6; ++i) card.post_send(from, encode(vinic::testbench::message({})));
    EXPECT_EQ(card.disconnect(1, vi_idle), 0u);
    for (int i = 0; i != 6; ++i) {
        ASSERT_TRUE(card.completed(from, from.send)) << i;
        card.take(from, from.send);
    }
}

// Entries come in order; an armed queue tells of the next one.
TEST(bvia_policy, completion_queues) {
    fake_lanai4 card;
    card.create_queue(5, 8);
    library_vi from = card.create_vi(1, vi_unreliable, 16, 7, 5, no_queue);
    library_vi to = card.create_vi(2, vi_unreliable, 16, 7, no_queue, 5);
    card.connect(1, 2);
    card.ring(doorbell_arm_queue, 5, 0);
    for (int i = 0; i != 20; ++i) {
        card.post_receive(to, encode(vinic::testbench::message({})));
        card.post_send(from, encode(vinic::testbench::message({})));
        card.wait(to, to.receive), card.wait(from, from.send);
        card.settle();
        EXPECT_EQ(card.queue_entries(5), (std::vector<uint32_t>{1, 2 | completion_receive}));
        const auto events = card.take_events();
        EXPECT_EQ(events.size(), i == 0 ? 1u : 0u);
        if (i == 0) {
            EXPECT_EQ(events[0].kind, event_completion_queue);
        }
    }
}

}  // namespace
}  // namespace vinic::testbench
