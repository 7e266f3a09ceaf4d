// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/decoder.h"

#include <gtest/gtest.h>

namespace vinic::bus {
namespace {

TEST(decoder, ranges_claim_memory) {
    decoder d;
    const unsigned a = d.add({.id = {0, 1, 0}});
    const unsigned b = d.add({.id = {0, 2, 0}});
    EXPECT_TRUE(d.map(a, 0x1000, 0x1000));
    EXPECT_TRUE(d.map(b, 0x2000, 0x100));
    EXPECT_TRUE(d.map(a, 0x1'0000'0000, 0x1000));
    const auto at = [&](std::uint64_t address) {
        return d.decode(command::memory_write, bus_kind::pci, address, {});
    };
    EXPECT_FALSE(at(0xFFF));
    EXPECT_EQ(at(0x1000)->target, a);
    EXPECT_EQ(at(0x1FFF)->bytes, 1u);
    EXPECT_EQ(at(0x2000)->target, b);
    EXPECT_EQ(at(0x2010)->bytes, 0xF0u);
    EXPECT_FALSE(at(0x2100));
    EXPECT_EQ(at(0x1'0000'0800)->target, a);
    d.unmap(a);
    EXPECT_FALSE(at(0x1000));
    EXPECT_EQ(at(0x2000)->target, b);
}

TEST(decoder, refuses_overlaps_and_empty_ranges) {
    decoder d;
    const unsigned a = d.add({});
    EXPECT_TRUE(d.map(a, 0x1000, 0x1000));
    EXPECT_FALSE(d.map(a, 0x1FFF, 1));
    EXPECT_FALSE(d.map(a, 0, 0x1001));
    EXPECT_FALSE(d.map(a, 0x1800, 0x10));
    EXPECT_FALSE(d.map(a, 0x3000, 0));
    EXPECT_FALSE(d.map(a, ~std::uint64_t{0}, 2));
    EXPECT_TRUE(d.map(a, 0, 0x1000));
}

TEST(decoder, configuration_goes_by_device_and_completions_by_requester) {
    decoder d;
    d.add({.id = {0, 3, 0}});
    const unsigned b = d.add({.id = {0, 7, 0}});
    EXPECT_EQ(d.decode(command::config_read, bus_kind::pci, 7 << 11 | 0x10, {})->target, b);
    EXPECT_EQ(d.decode(command::config_read, bus_kind::pci, 7 << 11 | 0x10, {})->bytes, 0xF0u);
    EXPECT_FALSE(d.decode(command::config_read, bus_kind::pci, 9 << 11, {}));
    EXPECT_EQ(d.decode(command::split_completion, bus_kind::pcix, 0, {0, 7, 0})->target, b);
    // On PCI the same code is a memory read multiple: by address.
    EXPECT_FALSE(d.decode(command::read_multiple, bus_kind::pci, 0, {0, 7, 0}));
    EXPECT_FALSE(d.decode(command::io_read, bus_kind::pci, 0, {}));
}

}  // namespace
}  // namespace vinic::bus
