// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/translation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "hw/sim/error.h"
#include "testbench/tests/nic/vi_engine/engine_bench.h"

namespace vinic::nic {
namespace {

constexpr std::uint32_t frame_of_page_0 = 0x40000000;

/// Region 0: 5 pages from page 8 of the table on, of which the first byte lies 256 bytes into its page.
struct bench : test::engine_bench {
    explicit bench(const test::settings& given, std::uint64_t memory_clocks = 0)
        : engine_bench(given, memory_clocks), pages("translation", order, dma) {
        for (std::uint32_t page = 0; page < 256; ++page) set_page(page, frame_of_page_0 + page * 0x1000);
        pages.set_table(test::host_base, 256);
        pages.set_region(0, {.handle = 0x70001,
                             .address = 0x20100,
                             .length = 0x4000,
                             .first_page = 8,
                             .tag = 5,
                             .rdma_enables = 1});
    }
    translation pages;
    std::vector<translation::result> results;
    std::vector<sequencer::edge> done;
    std::vector<machine> lookups;

    void set_page(std::uint32_t page, std::uint32_t frame) {
        pages.set_entry(2 * page, frame);
        std::memcpy(host.memory.data() + 8 * page, &frame, 4);
    }
    machine look(translation::request what) {
        results.push_back(co_await pages.translate(what));
        done.push_back(edge_now());
    }
    /// A lookup that begins on edge `n`.
    void look_at(sequencer::edge n, translation::request what) {
        at(n - 1,
           [this, what] { lookups.push_back(order.start(rank::send, [this, what] { return look(what); })); });
    }
    translation::request bytes(std::uint64_t address, std::uint32_t length) const {
        return {.handle = 0x70001, .tag = 5, .address = address, .length = length};
    }
};

const test::settings on_card{
    {"translation.table", "card"}, {"translation.check_clocks", "2"}, {"translation.lookup_clocks", "3"}};

TEST(translation, on_the_card_takes_check_lookup_and_two_accesses) {
    bench b(on_card, 4);
    b.look_at(10, b.bytes(0x20100, 64));
    sc_core::sc_start();
    EXPECT_EQ(b.done, (std::vector<sequencer::edge>{10 + 2 + 3 + 2 * 4}));
    EXPECT_TRUE(b.results[0].allowed);
    EXPECT_EQ(b.results[0].physical, frame_of_page_0 + 8 * 0x1000 + 0x100);
    EXPECT_EQ(b.results[0].bytes, 64u);
    EXPECT_TRUE(b.host.moved.empty());
}

TEST(translation, ends_with_the_page) {
    bench b(on_card);
    b.look_at(1, b.bytes(0x21F00, 0x1000));
    sc_core::sc_start();
    EXPECT_EQ(b.results[0].physical, frame_of_page_0 + 9 * 0x1000 + 0xF00);
    EXPECT_EQ(b.results[0].bytes, 0x100u);
}

TEST(translation, requests_wait_for_each_other) {
    bench b(on_card);
    b.look_at(10, b.bytes(0x20100, 64));
    b.look_at(11, b.bytes(0x20200, 64));
    sc_core::sc_start();
    EXPECT_EQ(b.done, (std::vector<sequencer::edge>{15, 20}));
}

TEST(translation, protects) {
    bench b(on_card);
    const auto whole = b.bytes(0x20100, 0x4000);
    EXPECT_TRUE(b.pages.allowed(whole));
    EXPECT_TRUE(b.pages.allowed(b.bytes(0x24100, 0)));
    EXPECT_FALSE(b.pages.allowed(b.bytes(0x200FF, 1)));
    EXPECT_FALSE(b.pages.allowed(b.bytes(0x20101, 0x4000)));
    EXPECT_FALSE(b.pages.allowed(b.bytes(0x24101, 0)));
    EXPECT_FALSE(b.pages.allowed(b.bytes(~std::uint64_t{0}, 2)));
    for (const std::uint32_t handle : {0u, 0x60001u, 0x70002u, 0xFFFFFFFFu}) {
        auto other = whole;
        other.handle = handle;
        EXPECT_FALSE(b.pages.allowed(other)) << handle;
    }
    auto other = whole;
    other.tag = 6;
    EXPECT_FALSE(b.pages.allowed(other));
    other = whole;
    other.rdma_enables = 1;
    EXPECT_TRUE(b.pages.allowed(other));
    other.rdma_enables = 2;
    EXPECT_FALSE(b.pages.allowed(other));
    b.pages.clear_region(0);
    EXPECT_FALSE(b.pages.allowed(whole));
}

const test::settings in_host{{"translation.table", "host"},      {"translation.check_clocks", "2"},
                             {"translation.lookup_clocks", "3"}, {"translation.cache_entries", "8"},
                             {"translation.cache_ways", "2"},    {"translation.line_entries", "4"},
                             {"dma.start_clocks", "1"}};

// Two ways of four entries: one set of two lines.
TEST(translation, a_miss_reads_a_line_and_the_least_recently_used_goes) {
    bench b(in_host);
    b.pages.set_region(1, {.handle = 0x70002, .address = 0, .length = 0x40000, .first_page = 0, .tag = 5});
    const auto page = [](std::uint32_t n) {
        return translation::request{.handle = 0x70002, .tag = 5, .address = n * 0x1000ull, .length = 8};
    };
    sequencer::edge n = 10;
    for (const std::uint32_t p : {0, 3, 4, 1, 8, 2, 5}) b.look_at(n += 100, page(p));
    sc_core::sc_start();
    ASSERT_EQ(b.results.size(), 7u);
    EXPECT_EQ(b.results[3].physical, frame_of_page_0 + 0x1000);
    std::vector<std::uint64_t> lines;
    for (const auto& m : b.host.moved) lines.push_back((m.address - test::host_base) / 32);
    EXPECT_EQ(lines, (std::vector<std::uint64_t>{0, 1, 2, 1}));  // 8 puts line 1 out, which 5 needs again
    EXPECT_EQ(b.pages.misses.value(), 4u);
    EXPECT_EQ(b.done[1], 210u + 5);  // a hit
    EXPECT_GT(b.done[0], 110u + 5);
    EXPECT_EQ(b.host.moved[0].bytes, 32u);
}

TEST(translation, that_is_free_takes_no_clocks_and_no_bus) {
    test::settings free = in_host;
    free.emplace_back("translation.free", "true");
    bench b(free);
    b.look_at(10, b.bytes(0x20100, 8));
    sc_core::sc_start();
    ASSERT_EQ(b.results.size(), 1u);
    EXPECT_EQ(b.results[0].physical, frame_of_page_0 + 0x8100);
    EXPECT_EQ(b.done[0], 10u);
    EXPECT_TRUE(b.host.moved.empty());
    EXPECT_EQ(b.pages.misses.value(), 1u);
}

TEST(translation, a_region_that_is_set_anew_is_read_anew) {
    bench b(in_host);
    b.look_at(10, b.bytes(0x20100, 8));
    b.at(200, [&] {
        b.set_page(8, 0x7000000);
        b.pages.set_region(0,
                           {.handle = 0x70001, .address = 0x20100, .length = 64, .first_page = 8, .tag = 5});
    });
    b.look_at(300, b.bytes(0x20100, 8));
    sc_core::sc_start();
    EXPECT_EQ(b.results[1].physical, 0x7000100u);
}

TEST(translation, a_cache_has_whole_sets) {
    EXPECT_THROW(bench({{"translation.table", "host"},
                        {"translation.cache_entries", "100"},
                        {"translation.cache_ways", "3"}}),
                 sim::input_error);
}

}  // namespace
}  // namespace vinic::nic
