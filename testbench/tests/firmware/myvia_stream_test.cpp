// SPDX-License-Identifier: Apache-2.0

// Streams: many messages of usual form (one segment) under way at once, so that a packet mostly waits for the
// send engine, which may be done at any look that the firmware has at it, in the midst of its work too.
#include <gtest/gtest.h>

#include "testbench/tests/firmware/vi_pair.h"

namespace vinic::testbench {
namespace {

template <typename list>
uint32_t length_of(const list& of) {
    uint32_t count = 0;
    for (const auto* one = of.head; one != nullptr; one = one->link) ++count;
    return count;
}

// Of each pool, all are free but the one that is armed.
void expect_all_buffers_free(fake_card& card) {
    EXPECT_TRUE(card.run_until([] { return myvia::on_wire == nullptr; }));
    card.settle();
    EXPECT_EQ(length_of(myvia::free_packets[myvia::pool_send]), myvia::send_buffers);
    EXPECT_EQ(length_of(myvia::free_packets[myvia::pool_short]), myvia::short_buffers);
    EXPECT_EQ(length_of(myvia::free_packets[myvia::pool_receive]), myvia::receive_buffers - 1);
}

struct stream {
    unsigned seed;
    abi::vi_reliability reliability;
};

class myvia_stream : public testing::TestWithParam<stream> {};

// Sizes and windows at random, of two VIs; each buffer in a page of its own or in one with others.
TEST_P(myvia_stream, arrives_byte_by_byte) {
    fake_card card({.seed = GetParam().seed, .laziness = 1 + GetParam().seed % 3});
    constexpr uint32_t pairs = 2, count = 200, slots = 32, room = 9000;
    struct pair : vi_pair {
        uint32_t window = 1;
    };
    pair all[pairs];
    for (uint32_t i = 0; i != pairs; ++i)
        all[i].open(card, i, GetParam().reliability, slots, 1, slots * room);
    uint32_t received = 0;
    while (received != pairs * count) {
        pair& one = all[card.random() % pairs];
        if (card.random() % 20 == 0) one.window = 1 + card.random() % slots;
        const uint32_t under_way = std::max<uint32_t>(static_cast<uint32_t>(one.expected.size()),
                                                      one.from.send.posted - one.from.send.seen);
        for (uint32_t n = under_way; n < one.window && one.to.receive.posted != count; ++n) {
            const uint32_t limits[] = {0, 8, 1500, 4096, 8192};
            const uint32_t length = card.random() % (limits[card.random() % 5] + 1);
            const uint64_t offset = one.to.receive.posted % slots * room + card.random() % (room - length);
            const bytes data = random_bytes(card.random, length);
            card.write(one.source, one.source.address + offset, data);
            card.post_receive(one.to,
                              encode(message({{one.target.address + offset, one.target.handle, length}})));
            card.post_send(one.from,
                           encode(message({{one.source.address + offset, one.source.handle, length}})));
            one.expected.emplace_back(data, one.target.address + offset);
        }
        card.run(card.random() % 20);
        for (vi_pair& each : all) ASSERT_NO_FATAL_FAILURE(each.take(card, received));
    }
    for (vi_pair& each : all) ASSERT_NO_FATAL_FAILURE(each.finish(card));
    EXPECT_TRUE(card.take_events().empty());
    expect_all_buffers_free(card);
}

INSTANTIATE_TEST_SUITE_P(all, myvia_stream,
                         testing::Values(stream{1, abi::vi_unreliable}, stream{2, abi::vi_unreliable},
                                         stream{3, abi::vi_unreliable}, stream{4, abi::vi_reliable_delivery},
                                         stream{5, abi::vi_reliable_delivery},
                                         stream{6, abi::vi_reliable_reception}));

// A packet that waits for the engine only, and whose connection ends meanwhile, does not leave; one of
// another connection behind it does.
TEST(myvia_stream, of_an_ended_connection_stops) {
    for (unsigned seed = 1; seed != 9; ++seed) {
        fake_card card({.seed = seed});
        card.hold_link = true;
        library_vi from[2] = {card.create_vi(1, abi::vi_unreliable), card.create_vi(2, abi::vi_unreliable)};
        card.create_vi(3, abi::vi_unreliable), card.create_vi(4, abi::vi_unreliable);
        card.connect(1, 3), card.connect(2, 4);
        const memory_region memory = card.register_memory(0x10000, 0x2000, 7);
        card.hold_send = true;
        for (int i = 0; i != 3; ++i)
            card.post_send(from[0], encode(message({{memory.address, memory.handle, 100}})));
        card.settle();
        card.post_send(from[1], encode(message({{memory.address, memory.handle, 100}})));
        card.settle();
        ASSERT_EQ(card.sent.size(), 1u);
        EXPECT_EQ(card.disconnect(1, abi::myvia::vi_error), 0u);
        card.hold_send = false;
        card.settle();
        // The source VI: bytes 11 and 12 behind the route byte.
        ASSERT_EQ(card.sent.size(), 2u);
        EXPECT_EQ(card.sent[0][1 + 11], 1u);
        EXPECT_EQ(card.sent[1][1 + 11], 2u);
        expect_all_buffers_free(card);
    }
}

}  // namespace
}  // namespace vinic::testbench
