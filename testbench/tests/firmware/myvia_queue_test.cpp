// SPDX-License-Identifier: Apache-2.0

// Rings, doorbells, completion queues, events, flushing and the driver's commands.
#include <gtest/gtest.h>

#include <cstring>

#include "testbench/tests/firmware/fake_card.h"

namespace vinic::testbench {
namespace {

using namespace abi;
using namespace abi::myvia;

constexpr uint64_t base = 0x30000040;

// Rings of every size, wrapped several times, with as many slots posted as fit.
TEST(myvia_queue, rings_wrap) {
    for (uint32_t asked : {1u, 2u, 4u, 8u, 64u}) {
        fake_card card({.seed = asked});
        library_vi from = card.create_vi(1, vi_unreliable, asked),
                   to = card.create_vi(2, vi_unreliable, asked);
        const uint32_t slots = to.slots;  // tokens are fewer
        card.connect(1, 2);
        const memory_region memory = card.register_memory(base, 0x2000, 7);
        const uint32_t count = 3 * slots + 5;
        uint32_t sent = 0;
        for (uint32_t i = 0; i != count;) {
            if (to.receive.posted != count && to.receive.posted - to.receive.seen < slots)
                card.post_receive(to, encode(message({{base, memory.handle, 8}})));
            if (sent != to.receive.posted && sent - from.send.seen < slots)
                card.post_send(from,
                               encode(message({{base, memory.handle, 8}}, vi_control_immediate, sent++)));
            card.step();
            if (card.completed(from, from.send)) {
                EXPECT_EQ(card.take(from, from.send).status, done_send);
            }
            if (!card.completed(to, to.receive)) continue;
            EXPECT_EQ(card.take(to, to.receive), (completion{done_receive | vi_status_immediate, 8, i}));
            ++i;
        }
        EXPECT_TRUE(card.violations.empty());
    }
}

// One doorbell may announce several slots, and the doorbell page wraps; the host learns at least each quarter
// of the page how many were taken.
TEST(myvia_queue, doorbells_wrap_and_are_credited) {
    fake_card card;
    library_vi to = card.create_vi(2, vi_unreliable, 1024);
    uint32_t rung = 0;
    for (; rung != 3 * doorbells_per_page + 17; ++rung) {
        ASSERT_TRUE(card.run_until([&] { return rung - card.doorbells_taken() < doorbells_per_page; }));
        if (rung < to.slots)
            card.post_receive(to, encode(message({})));
        else
            card.ring(doorbell_receive, 2, to.slots);
    }
    card.settle();
    EXPECT_LT(rung - card.doorbells_taken(), doorbells_per_page / 4);
}

// A process rings only for what is its own.
TEST(myvia_queue, doorbells_of_others_have_no_effect) {
    fake_card card;
    card.open_process(3);
    library_vi from = card.create_vi(1, vi_unreliable);
    card.create_vi(2, vi_unreliable);
    card.connect(1, 2);
    card.create_queue(4, 8);
    card.put_slot(from, from.send, encode(message({})));
    card.ring(doorbell_send, 1, 1, 3);
    card.ring(doorbell_arm_send, 1, 7, 3);
    card.ring(doorbell_arm_queue, 4, 7, 3);
    card.ring(doorbell_send, 1000, 1);  // no such VI
    card.ring(doorbell_send, 0xFFFF, 1);
    card.ring(doorbell_arm_queue, 0xFFFF, 1);
    card.settle();
    EXPECT_FALSE(card.completed(from, from.send));
    EXPECT_TRUE(card.take_events().empty());
    card.ring(doorbell_send, 1, 1);
    EXPECT_EQ(card.wait(from, from.send).status, done_send);
}

// More slots announced than the ring has: VI_OVERRUN and error state (vipl.md 6.2).
TEST(myvia_queue, overrun) {
    fake_card card;
    library_vi from = card.create_vi(1, vi_unreliable, 8);
    card.create_vi(2, vi_unreliable, 8);
    card.connect(1, 2);
    card.ring(doorbell_send, 1, 9);
    card.settle();
    const auto events = card.take_events();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, event_error);
    EXPECT_EQ(events[0].argument, 3u);  // VI_OVERRUN
    card.post_send(from, encode(message({})));
    EXPECT_EQ(card.wait(from, from.send).status, done_send | vi_status_flushed_error);
}

// Both queues of two VIs in one completion queue that wraps: an entry for each completion, after it, in
// order.
TEST(myvia_queue, completion_queue) {
    fake_card card({.seed = 3});
    card.create_queue(5, 7);
    library_vi vis[2] = {card.create_vi(1, vi_unreliable, 16, 7, 5, 5),
                         card.create_vi(2, vi_unreliable, 16, 7, 5, 5)};
    card.connect(1, 2);
    const memory_region memory = card.register_memory(base, 0x2000, 7);
    uint32_t sends = 0, receives = 0;
    for (uint32_t round = 0; round != 20; ++round) {
        library_vi &from = vis[round % 2], &to = vis[1 - round % 2];
        card.post_receive(to, encode(message({{base, memory.handle, 8}})));
        card.post_send(from, encode(message({{base, memory.handle, 8}})));
        uint32_t found = 0;
        ASSERT_TRUE(card.run_until([&] {
            for (uint32_t entry : card.queue_entries(5)) {
                const bool receive = entry >> 31;
                library_vi& of = vis[(entry & 0xFFFF) - 1];
                EXPECT_EQ(&of, receive ? &to : &from);
                EXPECT_TRUE(card.completed(of, receive ? of.receive : of.send));
                card.take(of, receive ? of.receive : of.send);
                ++(receive ? receives : sends);
                ++found;
            }
            return found == 2;
        }));
    }
    EXPECT_EQ(sends, 20u);
    EXPECT_EQ(receives, 20u);
}

// Resizing: entries so far stand in the old ring when the command is done, later ones in the new.
TEST(myvia_queue, completion_queue_is_replaced) {
    fake_card card;
    card.create_queue(5, 8);
    library_vi from = card.create_vi(1, vi_unreliable, 16, 7, 5), to = card.create_vi(2, vi_unreliable, 16);
    card.connect(1, 2);
    for (int i = 0; i != 2; ++i) card.post_receive(to, encode(message({})));
    card.post_send(from, encode(message({})));
    card.wait(from, from.send);
    card.settle();
    EXPECT_EQ(card.queue_entries(5), std::vector<uint32_t>{1});
    card.create_queue(5, 32);
    card.post_send(from, encode(message({})));
    card.wait(from, from.send);
    card.settle();
    EXPECT_EQ(card.queue_entries(5), std::vector<uint32_t>{1});
}

// An armed completion is one event; arming late (a completion has come meanwhile) is an event at once.
TEST(myvia_queue, arming) {
    fake_card card;
    card.create_queue(5, 8);
    library_vi from = card.create_vi(1, vi_unreliable, 16, 7, 5), to = card.create_vi(2, vi_unreliable, 16);
    card.connect(1, 2);
    card.ring(doorbell_arm_send, 1, 0);
    card.ring(doorbell_arm_receive, 2, 0);
    card.ring(doorbell_arm_queue, 5, 0);
    card.settle();
    EXPECT_TRUE(card.take_events().empty());
    for (int i = 0; i != 2; ++i) {
        card.post_receive(to, encode(message({})));
        card.post_send(from, encode(message({})));
        card.wait(to, to.receive);
        card.wait(from, from.send);
    }
    card.settle();
    std::vector<uint16_t> kinds;
    for (const event& one : card.take_events()) kinds.push_back(one.kind);
    std::sort(kinds.begin(), kinds.end());
    EXPECT_EQ(kinds, (std::vector<uint16_t>{event_completion_send, event_completion_receive,
                                            event_completion_queue}));
    EXPECT_EQ(card.interrupts, 3u);
    card.ring(doorbell_arm_send, 1, 1);  // the second one is not seen yet
    card.settle();
    EXPECT_EQ(card.take_events().size(), 1u);
}

// Disconnecting completes everything on both queues in order, whatever state it is in.
TEST(myvia_queue, disconnect_flushes_in_order) {
    for (unsigned seed = 1; seed != 12; ++seed) {
        fake_card card({.seed = seed});
        const vi_reliability reliability = seed % 2 ? vi_unreliable : vi_reliable_delivery;
        card.create_queue(5, 64);
        library_vi from = card.create_vi(1, reliability, 16, 7, 5, 5),
                   to = card.create_vi(2, reliability, 16);
        card.connect(1, 2);
        const memory_region memory = card.register_memory(base, 0x20000, 7);
        for (int i = 0; i != 10; ++i) {
            card.post_receive(from, encode(message({{base, memory.handle, 64}})));
            card.post_receive(to, encode(message({{base, memory.handle, 9000}})));
            card.post_send(from, encode(message({{base + 9000, memory.handle, 9000}})));
        }
        card.run(seed * 15);
        EXPECT_EQ(card.disconnect(1, vi_idle), 0u);
        bool flushed = false;
        for (int i = 0; i != 10; ++i) {
            ASSERT_TRUE(card.completed(from, from.send)) << i;
            const uint32_t status = card.take(from, from.send).status;
            EXPECT_EQ(status,
                      done_send | (flushed ? uint32_t{vi_status_flushed_error} : status & ~done_send));
            flushed |= (status & vi_status_flushed_error) != 0;
            ASSERT_TRUE(card.completed(from, from.receive)) << i;
            EXPECT_EQ(card.take(from, from.receive).status, done_receive | vi_status_flushed_error);
        }
        EXPECT_EQ(card.queue_entries(5).size(), 20u);
        // Nothing of it is touched any more, and the VI lives on.
        EXPECT_EQ(card.command(command_clear_region, {memory.index}), 0u);
        card.disconnect(2, vi_idle);
        card.connect(1, 2, 1, 0x77);
        card.post_receive(to, encode(message({})));
        card.settle();
        card.post_send(from, encode(message({})));
        EXPECT_EQ(card.wait(from, from.send).status, done_send);
    }
}

TEST(myvia_queue, what_was_rung_before_a_command_counts_before_it) {
    fake_card card;
    library_vi vi = card.create_vi(1, vi_unreliable);
    card.create_vi(2, vi_unreliable);
    card.connect(1, 2);
    for (int i = 0; i != 40; ++i) card.post_receive(vi, encode(message({})));
    EXPECT_EQ(card.disconnect(1, vi_idle), 0u);
    for (int i = 0; i != 40; ++i) {
        ASSERT_TRUE(card.completed(vi, vi.receive)) << i;
        EXPECT_EQ(card.take(vi, vi.receive).status, done_receive | vi_status_flushed_error);
    }
}

TEST(myvia_queue, sends_on_an_idle_vi_are_flushed_and_receives_stay) {
    fake_card card;
    library_vi from = card.create_vi(1, vi_unreliable), to = card.create_vi(2, vi_unreliable);
    card.post_send(from, encode(message({})));
    card.post_receive(to, encode(message({})));
    EXPECT_EQ(card.wait(from, from.send).status, done_send | vi_status_flushed_error);
    card.settle();
    EXPECT_FALSE(card.completed(to, to.receive));
    card.connect(1, 2);
    card.post_send(from, encode(message({})));
    EXPECT_EQ(card.wait(to, to.receive).status, done_receive);
}

// A region's pages are forgotten: its number is used again with other frames.
TEST(myvia_command, region_is_replaced) {
    fake_card card;
    library_vi from = card.create_vi(1, vi_unreliable), to = card.create_vi(2, vi_unreliable);
    card.connect(1, 2);
    const memory_region memory = card.register_memory(base, 0x4000, 7);
    card.post_receive(to, encode(message({{base, memory.handle, 8}})));
    card.post_send(from, encode(message({{base + 0x1000, memory.handle, 8}})));
    EXPECT_EQ(card.wait(to, to.receive).status, done_receive);
    EXPECT_EQ(card.command(command_clear_region, {memory.index}), 0u);
    card.post_receive(to, encode(message({{base, memory.handle, 8}})));
    card.post_send(from, encode(message({{base, memory.handle, 8}})));
    EXPECT_EQ(card.wait(from, from.send).status, done_send);  // the one before
    EXPECT_EQ(card.wait(from, from.send).status, done_send | vi_status_protection_error);
    // Neighbours in the page table share lines of the cache: what is registered next must not be stale.
    const memory_region next = card.register_memory(base, 0x4000, 7);
    const bytes data = random_bytes(card.random, 8);
    card.write(next, base + 0x1000, data);
    card.post_receive(to, encode(message({{base, next.handle, 8}})));
    card.post_send(from, encode(message({{base + 0x1000, next.handle, 8}})));
    // The receive descriptor posted above names the old handle: it takes this message's place.
    EXPECT_EQ(card.wait(to, to.receive).status, done_receive | vi_status_protection_error);
    card.post_send(from, encode(message({{base + 0x1000, next.handle, 8}})));
    EXPECT_EQ(card.wait(to, to.receive).status, done_receive);
    EXPECT_TRUE(card.read(next, base, 8) == data);
}

// With one slot, each descriptor stands in the place of the one before, and names the same segment.
TEST(myvia_command, what_is_known_of_a_segment_ends_with_its_region) {
    fake_card card;
    library_vi from = card.create_vi(1, vi_unreliable, 1), to = card.create_vi(2, vi_unreliable, 1);
    card.connect(1, 2);
    const memory_region source = card.register_memory(base, 0x1000, 7);
    const memory_region target = card.register_memory(base, 0x1000, 7);
    const auto exchange = [&] {
        card.post_receive(to, encode(message({{base, target.handle, 8}})));
        card.settle();
        card.post_send(from, encode(message({{base, source.handle, 8}})));
        EXPECT_EQ(card.wait(from, from.send).status, done_send);
        return card.wait(to, to.receive).status;
    };
    for (int i = 0; i != 3; ++i) EXPECT_EQ(exchange(), done_receive);
    EXPECT_EQ(card.command(command_clear_region, {target.index}), 0u);
    EXPECT_EQ(exchange(), done_receive | vi_status_protection_error);
}

TEST(myvia_command, control_packets) {
    fake_card card;
    for (uint32_t route : {1u, 0u, route_loopback}) {
        std::vector<uint32_t> arguments = {route, route == 1 ? 0x81u : 0u, 0,
                                           99};  // the first byte of the route
        for (uint32_t i = 0; i != 25; ++i) arguments.push_back(static_cast<uint32_t>(card.random()));
        EXPECT_EQ(card.command(command_send_control, arguments), 0u);
        card.settle();
        const auto events = card.take_events();
        ASSERT_EQ(events.size(), 1u);
        EXPECT_EQ(events[0].kind, event_control_packet);
        ASSERT_EQ(events[0].argument, 99u);
        EXPECT_EQ(std::memcmp(events[0].payload.data(), &arguments[4], 99), 0);
    }
    EXPECT_EQ(card.command(command_send_control, {1, 0x81, 0, 101}), command_bad_argument);
    EXPECT_EQ(card.command(command_send_control, {9, 0x81, 0, 10}), command_bad_argument);
}

// More events than the ring holds: the rest waits until the driver has taken some; none is lost.
TEST(myvia_command, event_ring_is_full) {
    fake_card card;
    library_vi from = card.create_vi(1, vi_unreliable);
    card.create_vi(2, vi_unreliable);
    card.connect(1, 2);
    for (int i = 0; i != 60; ++i) {
        card.post_send(from, encode(message({})));  // each: RECVQ_EMPTY at the peer
        card.wait(from, from.send);
    }
    card.settle();
    size_t events = 0;
    for (int i = 0; i != 5; ++i) {
        const size_t now = card.take_events().size();
        EXPECT_LE(now, 24u);
        events += now;
        card.settle();
    }
    EXPECT_EQ(events, 60u);
}

TEST(myvia_command, bad_arguments) {
    fake_card card;
    card.create_vi(1, vi_unreliable);
    const auto create = [&](uint32_t vi, uint32_t reliability, uint32_t slots, uint32_t queue) {
        return card.command(command_create_vi,
                            {vi, 0, 7, reliability, 100, 0, 0, 0x1000, 0, 0x2000, slots, queue, no_queue});
    };
    EXPECT_EQ(create(1, 1, 16, no_queue), command_wrong_state);
    EXPECT_EQ(create(1024, 1, 16, no_queue), command_bad_argument);
    EXPECT_EQ(create(2, 3, 16, no_queue), command_bad_argument);
    EXPECT_EQ(create(2, 8, 16, no_queue), command_bad_argument);
    EXPECT_EQ(create(2, 1, 12, no_queue), command_bad_argument);
    EXPECT_EQ(create(2, 1, 16, 3), command_bad_argument);  // no such completion queue
    EXPECT_EQ(card.command(command_connect_vi, {2, 1, 5, 1, 0, 0, 100}), command_wrong_state);
    EXPECT_EQ(card.command(command_connect_vi, {1, 1, 5, 9, 0, 0, 100}), command_bad_argument);
    EXPECT_EQ(card.command(command_set_region, {0, 2, 0, 0, 4096, 0, 7, 0}), command_bad_argument);
    EXPECT_EQ(card.command(command_set_region, {0, 1, 0, 0, 4096, 8189, 7, 0}), command_bad_argument);
    EXPECT_EQ(card.command(command_set_region, {0, 1, 0, 1, 4096, 8188, 7, 0}), command_bad_argument);
    EXPECT_EQ(card.command(static_cast<command_op>(99), {}), command_bad_argument);
    EXPECT_EQ(card.command(command_destroy_vi, {1}), command_ok);
    EXPECT_EQ(create(1, 1, 16, no_queue), command_ok);
}

// A packet longer than any may be is read to its end and dropped; so is one whose CRC is wrong.
TEST(myvia_receive, foreign_packets) {
    fake_card card;
    library_vi from = card.create_vi(1, vi_unreliable), to = card.create_vi(2, vi_unreliable);
    card.connect(1, 2);
    card.on_link.push_back(random_bytes(card.random, 20000));
    card.on_link.push_back(random_bytes(card.random, 8));
    card.on_link.push_back(random_bytes(card.random, 4144));
    card.on_link.push_back({});
    card.post_receive(to, encode(message({})));
    card.settle();
    card.post_send(from, encode(message({})));
    EXPECT_EQ(card.wait(to, to.receive).status, done_receive);
}

}  // namespace
}  // namespace vinic::testbench
