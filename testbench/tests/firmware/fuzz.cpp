// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/firmware/fuzz.h"

#include <gtest/gtest.h>

namespace vinic::testbench {

using namespace abi;

namespace {

constexpr uint64_t base = 0x7FFFFFF00400;
constexpr uint32_t size = 0x12345;

uint64_t some_address(std::mt19937& random) {
    switch (random() % 6) {
        case 0:
            return base - 4 + random() % 8;
        case 1:
            return base + size - 32 + random() % 64;
        case 2:
            return (uint64_t{random()} << 32) | random();
        case 3:
            return 0xFFFFFFFFFFFFFFFF - random() % 16;
        default:
            return base + random() % size;
    }
}

uint32_t some_length(std::mt19937& random) {
    const std::mt19937::result_type lengths[] = {0,    1,          random() % 100, random() % 10000,
                                                 size, 0xFFFFFFFF, random()};
    return static_cast<uint32_t>(lengths[random() % 7]);
}

data_segment some_segment(std::mt19937& random, uint32_t handle) {
    return {some_address(random), random() % 4 ? handle : static_cast<uint32_t>(random()),
            some_length(random)};
}

slot_contents some_slot(std::mt19937& random, uint32_t handle) {
    std::vector<data_segment> segments(random() % 3);
    for (data_segment& one : segments) one = some_segment(random, handle);
    slot_contents made = message(segments, static_cast<uint16_t>(random() % 8));
    made.next = random() % 2 ? some_address(random) / 64 * 64 : some_address(random);
    made.next_handle = random() % 4 ? handle : static_cast<uint32_t>(random());
    if (random() % 3 == 0) made.segment_count = static_cast<uint16_t>(random() % 300);
    if (random() % 8 == 0) made.length = some_length(random);
    if (random() % 8 == 0) made.control = static_cast<uint16_t>(random());
    if (random() % 16 == 0) made.reserved = static_cast<uint32_t>(random());
    made.immediate = static_cast<uint32_t>(random());
    return made;
}

}  // namespace

void survive_descriptors(fake_host& card, bool loopback) {
    const memory_region memory = card.register_memory(base, size, 7, 3);
    library_vi from =
        card.create_vi(1, vi_unreliable, 8, 7, abi::myvia::no_queue, abi::myvia::no_queue, 0, 3);
    library_vi to = card.create_vi(2, vi_unreliable, 8, 7, abi::myvia::no_queue, abi::myvia::no_queue, 0, 3);
    card.connect(1, 2, loopback ? abi::myvia::route_loopback : 1);
    // The region itself is full of descriptors' remains: segments beyond the slot are as wild as the rest.
    for (uint32_t i = 0; i + 16 <= size; i += 16)
        card.write(memory, base + i,
                   encode(std::vector<data_segment>{some_segment(card.random, memory.handle)}));
    constexpr uint32_t count = 400;
    while (from.send.seen != count) {
        if (to.receive.posted - to.receive.seen < 8)
            card.post_receive(to, encode(some_slot(card.random, memory.handle)));
        if (from.send.posted != count && from.send.posted - from.send.seen < 8)
            card.post_send(from, encode(some_slot(card.random, memory.handle)));
        card.run(card.random() % 30);
        while (card.completed(from, from.send)) card.take(from, from.send);
        while (card.completed(to, to.receive)) card.take(to, to.receive);
        card.take_events();
        ASSERT_TRUE(card.violations.empty()) << card.violations.front();
    }
    // And it still works.
    EXPECT_EQ(card.disconnect(1, abi::myvia::vi_idle), 0u);
    EXPECT_EQ(card.disconnect(2, abi::myvia::vi_idle), 0u);
    while (card.completed(to, to.receive)) card.take(to, to.receive);
    card.connect(1, 2, 1, 0x4321);
    card.post_receive(to, encode(message({{base, memory.handle, 8}})));
    card.post_send(from, encode(message({{base + 64, memory.handle, 8}})));
    EXPECT_EQ(card.wait(to, to.receive), (completion{done_receive, 8, 0}));
    EXPECT_TRUE(card.violations.empty());
}

void survive_packets(fake_host& card, vi_reliability reliability) {
    const memory_region memory = card.register_memory(base, size, 7, 3);
    library_vi from = card.create_vi(1, reliability, 8, 7, abi::myvia::no_queue, abi::myvia::no_queue, 0, 3);
    library_vi to = card.create_vi(2, reliability, 8, 7, abi::myvia::no_queue, abi::myvia::no_queue, 0, 3);
    card.connect(1, 2);
    for (uint32_t i = 0; i != 600; ++i) {
        if (to.receive.posted - to.receive.seen < 8 && card.random() % 4 == 0)
            card.post_receive(to, encode(message({{base + card.random() % 1000, memory.handle, 5000}})));
        if (from.send.posted - from.send.seen < 8 && card.random() % 4 == 0)
            card.post_send(
                from, encode(message({{base, memory.handle, static_cast<uint32_t>(card.random() % 6000)}})));
        bytes packet = random_bytes(card.random, 32 + card.random() % 200 / 4 * 4);
        const bytes good = {0,
                            0,
                            0x56,
                            0x49,
                            static_cast<uint8_t>(card.random() % 7),
                            static_cast<uint8_t>(card.random() % 16),
                            0,
                            static_cast<uint8_t>(packet.size() - 32),
                            0,
                            static_cast<uint8_t>(1 + card.random() % 2),
                            0,
                            static_cast<uint8_t>(1 + card.random() % 2),
                            0,
                            0,
                            0x12,
                            0x34,
                            0,
                            0,
                            0,
                            static_cast<uint8_t>(card.random() % 8),
                            0,
                            0,
                            0,
                            static_cast<uint8_t>(card.random() % 8)};
        for (size_t k = 0; k != good.size(); ++k)
            if (card.random() % 64 != 0) packet[k] = good[k];
        card.on_link.push_back(packet);
        card.run(card.random() % 30);
        while (card.completed(from, from.send)) card.take(from, from.send);
        while (card.completed(to, to.receive)) card.take(to, to.receive);
        card.take_events();
        ASSERT_TRUE(card.violations.empty()) << card.violations.front();
    }
}

}  // namespace vinic::testbench
