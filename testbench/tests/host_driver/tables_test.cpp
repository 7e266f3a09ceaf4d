// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "host_driver/fabric_directory.h"
#include "host_driver/handle_table.h"
#include "host_driver/page_allocator.h"
#include "hw/sim/error.h"

namespace vinic::driver {
namespace {

TEST(page_allocator, takes_the_first_run_that_fits) {
    page_allocator pages(10);
    EXPECT_EQ(pages.allocate(4), 0u);
    EXPECT_EQ(pages.allocate(3), 4u);
    EXPECT_EQ(pages.allocate(3), 7u);
    EXPECT_EQ(pages.allocate(1), std::nullopt);
    pages.release(4, 3);
    EXPECT_EQ(pages.allocate(4), std::nullopt);
    EXPECT_EQ(pages.allocate(2), 4u);
}

TEST(page_allocator, joins_what_comes_back_on_both_sides) {
    page_allocator pages(9);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(pages.allocate(3));
    pages.release(0, 3);
    pages.release(6, 3);
    EXPECT_EQ(pages.allocate(4), std::nullopt);
    pages.release(3, 3);
    EXPECT_EQ(pages.allocate(9), 0u);
}

TEST(handle_table, number_of_a_destroyed_object_names_nothing) {
    handle_table<int> table(2);
    const std::uint32_t first = table.insert(std::make_shared<int>(1));
    EXPECT_NE(first, 0u);
    EXPECT_EQ(*table.find(first), 1);
    table.erase(first);
    EXPECT_EQ(table.find(first), nullptr);
    const std::uint32_t again = table.insert(std::make_shared<int>(2));
    EXPECT_EQ(handle_table<int>::index_of(again), handle_table<int>::index_of(first));
    EXPECT_NE(again, first);
    EXPECT_EQ(table.find(first), nullptr);
    EXPECT_EQ(*table.find(again), 2);
}

TEST(handle_table, is_full_at_its_limit_and_uses_the_lowest_index) {
    handle_table<int> table(3);
    std::uint32_t ids[3];
    for (std::uint32_t& id : ids) id = table.insert(std::make_shared<int>(0));
    EXPECT_TRUE(table.full());
    table.erase(ids[1]);
    table.erase(ids[0]);
    EXPECT_EQ(handle_table<int>::index_of(table.insert(std::make_shared<int>(0))), 0u);
    EXPECT_EQ(table.ids().size(), 2u);
}

TEST(fabric_directory, names_cards_of_the_same_rail_first) {
    fabric_directory fabric;
    const auto a0 = make_node_address(0, 0);
    const auto a1 = make_node_address(0, 1);
    fabric.add_card("a", 0, a0);
    fabric.add_card("a", 1, a1);
    EXPECT_EQ(fabric.addresses_of("a", 0), (std::vector<node_address>{a0, a1}));
    EXPECT_EQ(fabric.addresses_of("a", 1), (std::vector<node_address>{a1, a0}));
    EXPECT_TRUE(fabric.addresses_of("b", 0).empty());
    ASSERT_NE(fabric.host_of(a1), nullptr);
    EXPECT_EQ(*fabric.host_of(a1), "a");
    EXPECT_EQ(fabric.host_of(make_node_address(9, 0)), nullptr);
    EXPECT_THROW(fabric.add_card("c", 0, a0), sim::input_error);
}

TEST(fabric_directory, a_card_reaches_itself_without_a_route) {
    fabric_directory fabric;
    const auto a = make_node_address(0, 0);
    const auto b = make_node_address(1, 0);
    fabric.set_route(a, b, {1, 2});
    ASSERT_NE(fabric.find_route(a, a), nullptr);
    EXPECT_TRUE(fabric.find_route(a, a)->loopback);
    EXPECT_EQ(fabric.find_route(a, b)->bytes, (std::vector<std::uint8_t>{1, 2}));
    EXPECT_FALSE(fabric.find_route(a, b)->loopback);
    EXPECT_EQ(fabric.find_route(b, a), nullptr);
    EXPECT_THROW(fabric.set_route(b, a, std::vector<std::uint8_t>(9)),
                 sim::input_error);  // route_bytes_max is 8
}

}  // namespace
}  // namespace vinic::driver
