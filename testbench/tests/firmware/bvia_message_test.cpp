// SPDX-License-Identifier: Apache-2.0

// Messages through the firmware of Berkeley VIA and FirmVIA, between VIs of one (fake) card: over its link or
// inside it.
#include <gtest/gtest.h>

#include "testbench/tests/firmware/fake_lanai4.h"

namespace vinic::testbench {
namespace {

using namespace abi;

struct connected_pair {
    fake_lanai4 card;
    library_vi from, to;
    memory_region memory;

    explicit connected_pair(unsigned seed = 1, uint32_t route = 1)
        : card({.seed = seed}),
          from(card.create_vi(1, vi_unreliable)),
          to(card.create_vi(2, vi_unreliable, 64, 7, myvia::no_queue, myvia::no_queue, 0, 1)) {
        card.connect(1, 2, route, 0xA1B2C3D4);
        memory = card.register_memory(0x7F0000001234, 0x20000, 7, 1);
    }
};

TEST(bvia_message, header_as_in_the_contract) {
    connected_pair pair(1, 3);
    auto& [card, from, to, memory] = pair;
    const bytes data = random_bytes(card.random, 5);
    card.write(memory, memory.address + 3, data);
    card.post_receive(to, encode(message({{memory.address + 0x800, memory.handle, 5}})));
    card.post_send(
        from, encode(message({{memory.address + 3, memory.handle, 5}}, vi_control_immediate, 0x01020304)));
    EXPECT_EQ(card.wait(to, to.receive), (completion{done_receive | vi_status_immediate, 5, 0x01020304}));
    EXPECT_EQ(card.wait(from, from.send).status, done_send);
    // Three route bytes, then wire_format.h field by field: type, kind, flags (first, last, immediate),
    // length, destination, source, key, sequence 0, acknowledge 0, offset 0, immediate; the payload padded to
    // whole words.
    bytes expected = {0x81, 0x82, 0x83, 0, 0, 0x56, 0x49, 1, 7, 0, 5, 0, 2, 0, 1, 0xA1, 0xB2, 0xC3, 0xD4};
    expected.insert(expected.end(), 12, 0);
    for (uint8_t b : {1, 2, 3, 4}) expected.push_back(b);
    expected.insert(expected.end(), data.begin(), data.end());
    expected.insert(expected.end(), 3, 0);
    ASSERT_EQ(card.sent.size(), 1u);
    EXPECT_EQ(card.sent[0], expected);
    EXPECT_EQ(card.read(memory, memory.address + 0x800, 5), data);
    EXPECT_TRUE(card.violations.empty());
}

// Messages of every length, in any number of segments on either side, over the link and inside the card.
TEST(bvia_message, any_segments) {
    for (unsigned seed = 1; seed != 40; ++seed) {
        connected_pair pair(seed, seed % 2 ? 1 : abi::myvia::route_loopback);
        auto& [card, from, to, memory] = pair;
        const uint32_t lengths[] = {0, 1, 8, 4095, 4096, 4097, 9000, 32768};
        const uint32_t length = lengths[seed % 8];
        const uint64_t source = memory.address + card.random() % 100;
        const uint64_t target = memory.address + 0x10000 + card.random() % 100;
        const bytes data = random_bytes(card.random, length);
        card.write(memory, source, data);
        const auto out = cut(card.random, memory, source, length, 1 + card.random() % 9);
        const auto in = cut(card.random, memory, target, length, 1 + card.random() % 9);
        card.post_receive(to, card.slot_of(in, memory, 0x7F000001E000));
        card.settle();
        card.post_send(from, card.slot_of(out, memory, 0x7F000001F000, vi_control_immediate, seed));
        EXPECT_EQ(card.wait(to, to.receive), (completion{done_receive | vi_status_immediate, length, seed}));
        EXPECT_EQ(card.wait(from, from.send).status, done_send);
        EXPECT_TRUE(card.read(memory, target, length) == data) << seed;
        EXPECT_TRUE(card.violations.empty()) << card.violations.front();
    }
}

// With immediate data it takes a receive descriptor, without none.
TEST(bvia_message, rdma_writes) {
    for (const uint16_t immediate : {uint16_t{0}, uint16_t{vi_control_immediate}}) {
        connected_pair pair;
        auto& [card, from, to, memory] = pair;
        const bytes data = random_bytes(card.random, 6000);
        card.write(memory, memory.address + 8, data);
        card.post_receive(to, encode(message({})));
        card.post_send(from, encode(message({{memory.address + 0x9000, memory.handle, 0},
                                             {memory.address + 8, memory.handle, 6000}},
                                            vi_op_rdma_write | immediate, 99)));
        EXPECT_EQ(card.wait(from, from.send).status, done_write);
        card.settle();
        EXPECT_TRUE(card.read(memory, memory.address + 0x9000, 6000) == data);
        EXPECT_EQ(card.completed(to, to.receive), immediate != 0);
        if (immediate != 0) {
            EXPECT_EQ(card.take(to, to.receive),
                      (completion{done_remote_write | vi_status_immediate, 6000, 99}));
        }
        EXPECT_TRUE(card.violations.empty());
    }
}

// Nothing is fetched for a pushed message: what lies in host memory is something else.
TEST(bvia_message, pushed_into_the_card) {
    connected_pair pair;
    auto& [card, from, to, memory] = pair;
    for (uint32_t i = 0; i != 3; ++i)
        card.post_receive(to, encode(message({{memory.address + 0x1100 + 0x400 * i, memory.handle, 0x400}})));
    card.settle();
    uint32_t number = 0;
    for (const uint32_t length : {1u, 13u, abi::myvia::push_bytes}) {
        const bytes data = random_bytes(card.random, length);
        const bytes slot =
            encode(message({{memory.address, memory.handle, length}}, vi_control_immediate, length));
        const unsigned reads = card.dma_reads;
        card.push_send(from, 3, slot, data);
        ASSERT_TRUE(card.run_until([&] { return card.sent.size() == number + 1; }));
        EXPECT_EQ(card.dma_reads, reads) << length;
        EXPECT_EQ(card.wait(to, to.receive),
                  (completion{done_receive | vi_status_immediate, length, length}));
        EXPECT_EQ(card.wait(from, from.send).status, done_send);
        EXPECT_EQ(card.read(memory, memory.address + 0x1100 + 0x400 * number++, length), data);
    }
    EXPECT_TRUE(card.violations.empty());
}

// One that comes while its VI is at work, or is not of the usual form, is fetched from the ring, in order.
TEST(bvia_message, pushed_messages_keep_their_order) {
    for (unsigned seed = 1; seed != 30; ++seed) {
        connected_pair pair(seed);
        auto& [card, from, to, memory] = pair;
        constexpr uint32_t count = 8, bytes_each = 100;
        const bytes data = random_bytes(card.random, count * bytes_each);
        card.write(memory, memory.address, data);
        for (uint32_t i = 0; i != count; ++i)
            card.post_receive(
                to, encode(message({{memory.address + 0x8000 + i * bytes_each, memory.handle, bytes_each}})));
        card.settle();
        for (uint32_t i = 0; i != count; ++i) {
            const uint64_t at = memory.address + i * bytes_each;
            const auto first = data.begin() + i * bytes_each;
            auto made = message({{at, memory.handle, bytes_each}}, vi_control_immediate, i);
            if (card.random() % 4 == 0)
                made = message({{at, memory.handle, 40}, {at + 40, memory.handle, bytes_each - 40}},
                               vi_control_immediate, i);
            if (card.random() % 2)
                card.push_send(from, i, encode(made), bytes(first, first + bytes_each));
            else
                card.post_send(from, encode(made));
            card.run(card.random() % 20);
        }
        for (uint32_t i = 0; i != count; ++i) {
            EXPECT_EQ(card.wait(to, to.receive),
                      (completion{done_receive | vi_status_immediate, bytes_each, i}));
            EXPECT_EQ(card.wait(from, from.send).status, done_send);
        }
        EXPECT_TRUE(card.read(memory, memory.address + 0x8000, data.size()) == data) << seed;
        EXPECT_TRUE(card.violations.empty());
    }
}

// Of a region whose addresses are physical no entry of the table is read, and what was its memory before
// leaves nothing behind.
TEST(bvia_message, physical_regions) {
    connected_pair pair;
    auto& [card, from, to, memory] = pair;
    const memory_region copies = card.register_physical(0x5000, 7);
    const bytes data = random_bytes(card.random, 0x3000);
    card.write(copies, copies.address + 0x800, data);
    card.post_receive(to, encode(message({{memory.address, memory.handle, 0x3000}})));
    card.post_send(from, encode(message({{copies.address + 0x800, copies.handle, 0x3000}})));
    EXPECT_EQ(card.wait(to, to.receive), (completion{done_receive, 0x3000, 0}));
    EXPECT_EQ(card.wait(from, from.send).status, done_send);
    EXPECT_TRUE(card.read(memory, memory.address, 0x3000) == data);
    EXPECT_TRUE(card.violations.empty()) << card.violations.front();
    EXPECT_EQ(card.command(abi::myvia::command_clear_region, {copies.index}), 0u);
    card.post_receive(to, encode(message({{memory.address, memory.handle, 0x3000}})));
    card.post_send(from, encode(message({{copies.address, copies.handle, 8}})));
    EXPECT_EQ(card.wait(from, from.send).status, done_send | vi_status_protection_error);
}

// Sends in error complete with the bits of the standard (vipl.md 6.2), and the next one goes out.
TEST(bvia_message, errors_of_senders) {
    connected_pair pair;
    auto& [card, from, to, memory] = pair;
    const memory_region others = card.register_memory(0x900000, 0x1000, 8);
    slot_contents reserved = message({{memory.address, memory.handle, 8}});
    reserved.reserved = 1;
    slot_contents long_one = message({{memory.address, memory.handle, 8}});
    long_one.length = 9;
    const std::pair<slot_contents, uint32_t> wrong[] = {
        {reserved, vi_status_format_error},
        {long_one, vi_status_format_error},
        {message({{others.address, others.handle, 8}}), vi_status_protection_error},
        {message({{memory.address + 0x20000 - 4, memory.handle, 8}}), vi_status_protection_error},
        {message({{memory.address, memory.handle, 0}}, vi_op_rdma_read), vi_status_format_error}};
    for (const auto& [slot, status] : wrong) {
        card.post_send(from, encode(slot));
        EXPECT_EQ(card.wait(from, from.send).status & vi_status_error_mask, status);
    }
    card.post_receive(to, encode(message({{memory.address, memory.handle, 8}})));
    card.post_send(from, encode(message({{memory.address, memory.handle, 8}})));
    EXPECT_EQ(card.wait(to, to.receive), (completion{done_receive, 8, 0}));
    EXPECT_TRUE(card.violations.empty());
}

// Unreliable: a message without a descriptor is told, one that lost a packet leaves its descriptor to the
// next.
TEST(bvia_message, what_is_lost) {
    connected_pair pair;
    auto& [card, from, to, memory] = pair;
    card.post_send(from, encode(message({{memory.address, memory.handle, 8}})));
    EXPECT_EQ(card.wait(from, from.send).status, done_send);
    card.settle();
    const auto events = card.take_events();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, abi::myvia::event_error);
    EXPECT_EQ(events[0].argument, 2u) << "receive queue empty";
    card.post_receive(to, encode(message({{memory.address + 0x4000, memory.handle, 0x4000}})));
    unsigned packets = 0;
    card.watch = [&](bytes& packet) {
        if (++packets == 2) packet[0] ^= 0x10;  // another type: dropped
    };
    card.post_send(from, encode(message({{memory.address, memory.handle, 0x3000}})));
    EXPECT_EQ(card.wait(from, from.send).status, done_send);
    card.settle();
    EXPECT_FALSE(card.completed(to, to.receive));
    card.post_send(from, encode(message({{memory.address, memory.handle, 77}})));
    EXPECT_EQ(card.wait(to, to.receive), (completion{done_receive, 77, 0}));
    EXPECT_TRUE(card.violations.empty());
}

// Memory that is registered anew under the same entries of the table: no translation survives.
TEST(bvia_message, translations_are_forgotten) {
    connected_pair pair;
    auto& [card, from, to, memory] = pair;
    for (unsigned round = 0; round != 3; ++round) {
        const memory_region fresh = card.register_memory(0x900000, 0x1000, 7);
        const bytes data = random_bytes(card.random, 64);
        card.write(fresh, fresh.address, data);
        card.post_receive(to, encode(message({{memory.address, memory.handle, 64}})));
        card.post_send(from, encode(message({{fresh.address, fresh.handle, 64}})));
        EXPECT_EQ(card.wait(to, to.receive), (completion{done_receive, 64, 0}));
        EXPECT_EQ(card.read(memory, memory.address, 64), data);
        EXPECT_EQ(card.command(abi::myvia::command_clear_region, {fresh.index}), 0u);
        card.post_send(from, encode(message({{fresh.address, fresh.handle, 64}})));
        EXPECT_EQ(card.wait(from, from.send).status, done_send);
        EXPECT_EQ(card.wait(from, from.send).status & vi_status_error_mask, vi_status_protection_error);
        card.reuse_pages(fresh);
    }
    EXPECT_TRUE(card.violations.empty());
}

}  // namespace
}  // namespace vinic::testbench
