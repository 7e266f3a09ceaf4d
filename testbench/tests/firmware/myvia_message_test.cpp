// SPDX-License-Identifier: Apache-2.0

// Messages through the MyVIA firmware's logic, between VIs of one (fake) card: over its link or inside it.
#include <gtest/gtest.h>

#include <cstring>

#include "testbench/tests/firmware/vi_pair.h"

namespace vinic::testbench {
namespace {

using namespace abi;

TEST(myvia_message, eight_bytes) {
    fake_card card;
    library_vi from = card.create_vi(1, vi_unreliable), to = card.create_vi(2, vi_unreliable);
    card.connect(1, 2);
    const memory_region memory = card.register_memory(0x7F0000001234, 0x3000, 7);
    const bytes data = random_bytes(card.random, 8);
    card.write(memory, memory.address, data);
    card.post_receive(to, encode(message({{memory.address + 0x1100, memory.handle, 64}})));
    card.post_send(from, encode(message({{memory.address, memory.handle, 8}})));
    EXPECT_EQ(card.wait(to, to.receive), (completion{done_receive, 8, 0}));
    EXPECT_EQ(card.wait(from, from.send), (completion{done_send, 8, 0}));
    EXPECT_EQ(card.read(memory, memory.address + 0x1100, 8), data);
    // Route of one byte, header of 32, 8 of payload.
    ASSERT_EQ(card.sent.size(), 1u);
    EXPECT_EQ(card.sent[0].size(), 1u + 32 + 8);
    EXPECT_TRUE(card.violations.empty());
}

TEST(myvia_message, header_as_in_the_contract) {
    fake_card card;
    library_vi from = card.create_vi(1, vi_unreliable), to = card.create_vi(2, vi_unreliable);
    card.connect(1, 2, 3, 0xA1B2C3D4);
    const memory_region memory = card.register_memory(0x10000, 0x1000, 7);
    const bytes data = random_bytes(card.random, 5);
    card.write(memory, memory.address + 3, data);
    card.post_receive(to, encode(message({{memory.address + 0x800, memory.handle, 5}})));
    card.post_send(
        from, encode(message({{memory.address + 3, memory.handle, 5}}, vi_control_immediate, 0x01020304)));
    EXPECT_EQ(card.wait(to, to.receive), (completion{done_receive | vi_status_immediate, 5, 0x01020304}));
    // Three route bytes, then wire_format.h field by field: type, kind, flags (first, last, immediate),
    // length, destination, source, key, sequence 0, acknowledge 0, offset 0, immediate; the payload padded to
    // 8 bytes.
    bytes expected = {0x81, 0x82, 0x83, 0, 0, 0x56, 0x49, 1, 7, 0, 5, 0, 2, 0, 1, 0xA1, 0xB2, 0xC3, 0xD4};
    expected.insert(expected.end(), 12, 0);
    for (uint8_t b : {1, 2, 3, 4}) expected.push_back(b);
    expected.insert(expected.end(), data.begin(), data.end());
    expected.insert(expected.end(), 3, 0);
    ASSERT_EQ(card.sent.size(), 1u);
    EXPECT_EQ(card.sent[0], expected);
}

TEST(myvia_message, nothing_at_all) {
    fake_card card;
    library_vi from = card.create_vi(1, vi_unreliable), to = card.create_vi(2, vi_unreliable);
    card.connect(1, 2);
    const memory_region memory = card.register_memory(0x10000, 0x1000, 7);
    // vipl.md 3.3: no segment, and a segment of length 0; each takes one receive descriptor.
    for (int i = 0; i != 2; ++i) card.post_receive(to, encode(message({})));
    card.post_send(from, encode(message({}, vi_control_immediate, 77)));
    card.post_send(from, encode(message({{0, 0, 0}})));
    EXPECT_EQ(card.wait(to, to.receive), (completion{done_receive | vi_status_immediate, 0, 77}));
    EXPECT_EQ(card.wait(to, to.receive), (completion{done_receive, 0, 0}));
    for (uint32_t immediate : {77u, 0u})
        EXPECT_EQ(card.wait(from, from.send), (completion{done_send, 0, immediate}));
}

TEST(myvia_message, pushed_into_the_card) {
    fake_card card;
    library_vi from = card.create_vi(1, vi_unreliable), to = card.create_vi(2, vi_unreliable);
    card.connect(1, 2);
    const memory_region memory = card.register_memory(0x7F0000001234, 0x3000, 7);
    for (uint32_t i = 0; i != 3; ++i)
        card.post_receive(to, encode(message({{memory.address + 0x1100 + 0x400 * i, memory.handle, 0x400}})));
    card.settle();
    uint32_t number = 0;
    for (const uint32_t length : {1u, 13u, abi::myvia::push_bytes}) {
        const unsigned slots = card.dma_reads[0], payloads = card.dma_reads[1];
        // What lies in host memory is something else: nothing is fetched from there.
        const bytes data = random_bytes(card.random, length);
        card.push_send(from, 3, encode(message({{memory.address, memory.handle, length}})), data);
        EXPECT_EQ(card.wait(to, to.receive), (completion{done_receive, length, 0}));
        EXPECT_EQ(card.wait(from, from.send), (completion{done_send, length, 0}));
        EXPECT_EQ(card.read(memory, memory.address + 0x1100 + 0x400 * number++, length), data);
        EXPECT_EQ(card.dma_reads[1], payloads) << length;
        // The first one brings the translation of its target, unless that was looked up when it was posted.
        EXPECT_EQ(card.dma_reads[0], slots + (length == 1 && !vinic::myvia::has_tokens ? 1 : 0)) << length;
    }
    EXPECT_TRUE(card.violations.empty());
}

// A pushed message that is not the usual one, or comes while its VI is at work, is fetched from the ring, in
// order.
TEST(myvia_message, pushed_messages_keep_their_order) {
    for (unsigned seed = 1; seed != 20; ++seed) {
        fake_card card({.seed = seed});
        library_vi from = card.create_vi(1, vi_reliable_delivery),
                   to = card.create_vi(2, vi_reliable_delivery);
        card.connect(1, 2);
        const memory_region source = card.register_memory(0x10000, 0x4000, 7);
        const memory_region target = card.register_memory(0x20000, 0x4000, 7);
        constexpr uint32_t count = 8;
        const bytes data = random_bytes(card.random, 0x1000);
        card.write(source, source.address, data);
        for (uint32_t i = 0; i != count; ++i)
            card.post_receive(to, encode(message({{target.address + 0x200 * i, target.handle, 0x200}})));
        for (uint32_t i = 0; i != count; ++i) {
            const uint32_t at = 0x200 * i, length = 1 + card.random() % 0x200;
            // Two segments are not usual.
            const bytes slot = encode(
                i % 4 == 3 ? message({{source.address + at, source.handle, length / 2},
                                      {source.address + at + length / 2, source.handle, length - length / 2}})
                           : message({{source.address + at, source.handle, length}}));
            const bytes payload(data.begin() + at, data.begin() + at + length);
            if (i % 3 == 1)
                card.post_send(from, slot);
            else
                card.push_send(from, i, slot, payload);
            card.run(card.random() % 60);
        }
        for (uint32_t i = 0; i != count; ++i) {
            const completion done = card.wait(to, to.receive);
            EXPECT_EQ(done.status, done_receive);
            EXPECT_EQ(card.read(target, target.address + 0x200 * i, done.length),
                      bytes(data.begin() + 0x200 * i, data.begin() + 0x200 * i + done.length))
                << "seed " << seed << ", message " << i;
            EXPECT_EQ(card.wait(from, from.send).status, done_send);
        }
        EXPECT_TRUE(card.violations.empty());
    }
}

// Every length of the route puts the same packet behind it; only loopback stays in the card.
TEST(myvia_message, routes_of_all_lengths) {
    for (uint32_t length : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, abi::myvia::route_loopback}) {
        fake_card card;
        library_vi from = card.create_vi(1, vi_unreliable), to = card.create_vi(2, vi_unreliable);
        card.connect(1, 2, length);
        const memory_region memory = card.register_memory(0x10000, 0x1000, 7);
        card.post_receive(to, encode(message({{memory.address, memory.handle, 8}})));
        card.post_send(from, encode(message({{memory.address, memory.handle, 8}})));
        EXPECT_EQ(card.wait(to, to.receive).status, done_receive);
        ASSERT_EQ(card.sent.size(), length == abi::myvia::route_loopback ? 0u : 1u);
        if (length == abi::myvia::route_loopback) continue;
        EXPECT_EQ(card.sent[0].size(), length + 40);
        for (uint32_t i = 0; i != length; ++i) EXPECT_EQ(card.sent[0][i], 0x81 + i);
    }
}

struct traffic {
    unsigned seed;
    uint32_t route;
    vi_reliability reliability;
};

class myvia_random_messages : public testing::TestWithParam<traffic> {};

// Sizes 0 to 64 KiB, any alignment, up to 252 segments on each side, several messages at once, four VIs whose
// regions are of their own, every part of the card now fast and now slow.
TEST_P(myvia_random_messages, arrive_byte_by_byte) {
    const traffic& with = GetParam();
    fake_card card({.seed = with.seed, .laziness = 1 + with.seed % 4});
    constexpr uint32_t pairs = 2, rounds = 25, room = 70000;
    vi_pair all[pairs];
    for (uint32_t i = 0; i != pairs; ++i)
        all[i].open(card, i, with.reliability, 8, with.route, 4 * (room + 8192));
    uint32_t posted = 0, received = 0;
    while (received != pairs * rounds) {
        vi_pair& one = all[card.random() % pairs];
        if (posted != pairs * rounds && one.expected.size() < 4 &&
            one.from.send.posted - one.from.send.seen < 4 && one.to.receive.posted != rounds) {
            const uint32_t slot = one.to.receive.posted % 4;
            const uint32_t limits[] = {9, 300, 5000, 65536};
            const uint32_t length = card.random() % (limits[card.random() % 4] + 1);
            const size_t counts[] = {1, 2, 1 + card.random() % 20, 252};
            const uint64_t from = one.source.address + slot * (room + 8192) + card.random() % 4000;
            const uint64_t to = one.target.address + slot * (room + 8192) + card.random() % 4000;
            const bytes data = random_bytes(card.random, length);
            card.write(one.source, from, data);
            // Descriptors of the program stand behind the buffers, aligned to 64.
            const auto descriptor = [&](const memory_region& in) {
                return (in.address + slot * (room + 8192) + room + 4096 - 64 - 252 * 16 + 4000) / 64 * 64;
            };
            const uint32_t spare =
                card.random() % 3 == 0 ? 400 : 0;  // the buffer may be longer than the message
            const auto receive = cut(card.random, one.target, to, length + spare, counts[card.random() % 4]);
            const auto send = cut(card.random, one.source, from, length, counts[card.random() % 4]);
            card.post_receive(one.to, card.slot_of(receive, one.target, descriptor(one.target)));
            card.post_send(one.from, card.slot_of(send, one.source, descriptor(one.source)));
            one.expected.emplace_back(data, to);
            ++posted;
        }
        card.run(card.random() % 40);
        for (vi_pair& each : all) ASSERT_NO_FATAL_FAILURE(each.take(card, received));
    }
    for (vi_pair& each : all) ASSERT_NO_FATAL_FAILURE(each.finish(card));
    EXPECT_TRUE(card.take_events().empty());
}

INSTANTIATE_TEST_SUITE_P(all, myvia_random_messages,
                         testing::Values(traffic{1, 1, vi_unreliable}, traffic{2, 2, vi_unreliable},
                                         traffic{3, abi::myvia::route_loopback, vi_unreliable},
                                         traffic{4, 4, vi_reliable_delivery},
                                         traffic{5, 0, vi_reliable_delivery},
                                         traffic{6, 8, vi_reliable_reception},
                                         traffic{7, 3, vi_reliable_reception}));

// Two VIs with long messages to send take turns packet by packet.
TEST(myvia_message, virtual_interfaces_take_turns) {
    fake_card card;
    card.hold_link = true;
    const memory_region memory = card.register_memory(0x100000, 0x20000, 7);
    library_vi from[2] = {card.create_vi(1, vi_unreliable), card.create_vi(2, vi_unreliable)};
    card.create_vi(3, vi_unreliable), card.create_vi(4, vi_unreliable);
    card.connect(1, 3), card.connect(2, 4);
    for (library_vi& one : from)
        card.post_send(one, encode(message({{memory.address, memory.handle, 65536}})));
    ASSERT_TRUE(card.run_until([&] { return card.sent.size() >= 16; }));
    // Source VI: bytes 11 and 12 behind the route byte. In 16 packets no VI gets three turns in a row.
    for (size_t i = 2; i < 16; ++i) {
        const auto source = [&](size_t n) { return card.sent[n][1 + 11]; };
        EXPECT_FALSE(source(i) == source(i - 1) && source(i) == source(i - 2)) << i;
    }
}

}  // namespace
}  // namespace vinic::testbench
