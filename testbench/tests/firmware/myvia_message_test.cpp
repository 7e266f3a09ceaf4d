// SPDX-License-Identifier: Apache-2.0

// Messages through the MyVIA firmware's logic, between two VIs of one (fake) card.
#include <gtest/gtest.h>

#include <numeric>

#include "testbench/tests/firmware/fake_card.h"

namespace vinic::testbench {
namespace {

using namespace abi;

constexpr uint32_t done_send = vi_status_done | vi_status_op_send;
constexpr uint32_t done_receive = vi_status_done | vi_status_op_receive;

bytes pattern(std::mt19937& random, size_t length) {
    bytes made(length);
    for (uint8_t& b : made) b = static_cast<uint8_t>(random());
    return made;
}

TEST(myvia_message, eight_bytes) {
    fake_card card;
    library_vi from = card.create_vi(1, vi_unreliable), to = card.create_vi(2, vi_unreliable);
    card.connect(1, 2);
    const memory_region memory = card.register_memory(0x7F0000001234, 0x3000, 7);
    const bytes data = pattern(card.random, 8);
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

}  // namespace
}  // namespace vinic::testbench
