// SPDX-License-Identifier: Apache-2.0
#include "hw/host/memory.h"

#include <gtest/gtest.h>

#include "hw/sim/error.h"
#include "testbench/tests/host/node.h"

namespace vinic::host {
namespace {

using test::bytes_of;
using test::word_at;

struct fixture : testing::Test {
    sim::simulation simulation{test::configured({{"memory.size_mbytes", "1"}})};
    memory ram{"memory"};
};
using memory_test = fixture;

TEST_F(memory_test, the_lowest_free_frame_is_taken) {
    EXPECT_EQ(ram.allocate_frame(), 0u);
    EXPECT_EQ(ram.allocate_frame(), page_bytes);
    EXPECT_EQ(ram.allocate_frame(), 2 * page_bytes);
    ram.free_frame(page_bytes);
    EXPECT_EQ(ram.allocate_frame(), page_bytes);
    EXPECT_EQ(ram.frames_in_use(), 3u);
}

TEST_F(memory_test, a_run_is_the_lowest_that_is_long_enough_and_contiguous_for_the_kernel) {
    for (int i = 0; i < 5; ++i) ram.allocate_frame();
    ram.free_frame(1 * page_bytes);
    ram.free_frame(3 * page_bytes);
    ram.free_frame(4 * page_bytes);
    // Frame 1 alone is too short for two pages; 3 and 4 are not, and run on into new ones.
    EXPECT_EQ(ram.allocate_contiguous(page_bytes + 1), 3 * page_bytes);
    EXPECT_EQ(ram.pointer(4 * page_bytes), ram.pointer(3 * page_bytes) + page_bytes);
    ram.free_contiguous(3 * page_bytes, 2 * page_bytes);
    EXPECT_EQ(ram.allocate_contiguous(3 * page_bytes), 3 * page_bytes);
    EXPECT_EQ(ram.allocate_frame(), 1 * page_bytes);
}

TEST_F(memory_test, full_ram_is_an_error) {
    ram.allocate_contiguous(1 << 20);
    EXPECT_THROW(ram.allocate_frame(), sim::model_error);
}

TEST_F(memory_test, a_pinned_frame_is_not_freed) {
    const auto frame = ram.allocate_frame();
    ram.pin(frame);
    ram.pin(frame);
    ram.unpin(frame);
    EXPECT_EQ(ram.pins(frame), 1u);
    EXPECT_THROW(ram.free_frame(frame), sim::model_error);
    ram.unpin(frame);
    EXPECT_THROW(ram.unpin(frame), sim::model_error);
    ram.free_frame(frame);
    EXPECT_THROW(ram.pin(frame), sim::model_error);
}

TEST_F(memory_test, contents_cross_pages_wherever_these_lie) {
    alignas(16) static std::byte page[page_bytes] = {};
    const auto first = ram.allocate_frame();
    const auto second = ram.allocate_frame(page, this);
    ram.write(second - 2, bytes_of(std::uint32_t{0x44332211}));
    EXPECT_EQ(ram.pointer(first)[page_bytes - 1], std::byte{0x22});
    EXPECT_EQ(page[0], std::byte{0x33});
    EXPECT_EQ(word_at(ram, second - 2), 0x44332211u);
    EXPECT_THROW(ram.pointer(ram.size_bytes()), sim::model_error);
}

TEST_F(memory_test, a_dma_write_is_visible_from_its_time_on_and_to_dma_at_once) {
    std::vector<std::uint32_t> seen;
    EXPECT_THROW(ram.write_at(0, bytes_of(1), sim::now()), sim::model_error);
    ram.write(8, bytes_of(std::uint32_t{1}));
    ram.write_at(8, bytes_of(std::uint32_t{2}), 100);
    ram.write_at(10, bytes_of(std::uint16_t{0xabcd}), 50);
    std::array<std::byte, 4> dma;
    ram.dma_read(8, dma);
    // By time of becoming visible: 0xabcd over the upper half, then 2 over both.
    EXPECT_EQ(std::bit_cast<std::uint32_t>(dma), 2u);
    sc_core::sc_spawn([&] {
        for (const sim::picoseconds at : {49, 50, 99, 100}) {
            test::wait_until(at);
            seen.push_back(word_at(ram, 8));
        }
    });
    sc_core::sc_start();
    EXPECT_EQ(seen, (std::vector<std::uint32_t>{1, 0xabcd0001, 0xabcd0001, 2}));
}

struct listener : memory_watcher {
    void changes_at(sim::picoseconds at, const physical_range&) override { heard.push_back(at); }
    std::vector<sim::picoseconds> heard;
};

TEST_F(memory_test, watchers_hear_of_changes_of_their_bytes_before_these_are_visible) {
    listener words, pages, other;
    alignas(16) static std::byte page[page_bytes] = {};
    ram.allocate_frame();
    const auto foreign = ram.allocate_frame(page, this);
    ram.write_at(96, bytes_of(std::uint64_t{0}), 10);
    ram.watch({100, 8}, words);
    ram.watch_pages_of(this, pages);
    ram.watch({108, 4}, other);
    ram.write_at(104, bytes_of(std::uint32_t{0}), 20);
    ram.write_at(foreign + 4000, bytes_of(std::uint32_t{0}), 30);
    ram.change_at([] {}, {100, 1}, 40);
    EXPECT_EQ(words.heard, (std::vector<sim::picoseconds>{10, 20, 40}));
    EXPECT_EQ(pages.heard, (std::vector<sim::picoseconds>{30}));
    EXPECT_TRUE(other.heard.empty());
    ram.unwatch(words);
    ram.write_at(100, bytes_of(std::uint32_t{0}), 50);
    EXPECT_EQ(words.heard.size(), 3u);
}

}  // namespace
}  // namespace vinic::host
