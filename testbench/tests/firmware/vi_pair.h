// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <utility>

#include "testbench/tests/firmware/fake_card.h"

namespace vinic::testbench {

/// Two connected VIs of a protection tag of their own, one that sends and one that receives, with a region
/// each.
struct vi_pair {
    library_vi from, to;
    memory_region source, target;
    std::deque<std::pair<bytes, uint64_t>> expected;  ///< of each message under way: its bytes, and where to

    /// Pair number i of a test.
    void open(fake_card& card, uint32_t i, abi::vi_reliability reliability, uint32_t slots, uint32_t route,
              uint64_t region_bytes) {
        from = card.create_vi(10 + i, reliability, slots, 100 + i);
        to = card.create_vi(20 + i, reliability, slots, 100 + i);
        card.connect(10 + i, 20 + i, route, 0x100 + i);
        source = card.register_memory(0x5000000000 + card.random() % 4096, region_bytes, 100 + i);
        target = card.register_memory(0x6000000000 + card.random() % 4096, region_bytes, 100 + i);
    }

    /// Takes what has completed; each message must be the one expected next. Adds to `received`.
    void take(fake_card& card, uint32_t& received) {
        while (card.completed(from, from.send)) ASSERT_EQ(card.take(from, from.send).status, done_send);
        while (card.completed(to, to.receive)) {
            const auto [data, at] = expected.front();
            expected.pop_front();
            ASSERT_EQ(card.take(to, to.receive),
                      (completion{done_receive, static_cast<uint32_t>(data.size()), 0}));
            ASSERT_TRUE(card.read(target, at, data.size()) == data) << "message " << received;
            ++received;
        }
        ASSERT_TRUE(card.violations.empty()) << card.violations.front();
    }

    /// Waits for the sends that are left.
    void finish(fake_card& card) {
        while (from.send.seen != from.send.posted) ASSERT_EQ(card.wait(from, from.send).status, done_send);
    }
};

}  // namespace vinic::testbench
