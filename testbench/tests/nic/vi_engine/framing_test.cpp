// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/framing.h"

#include <gtest/gtest.h>

#include "hw/link/crc.h"
#include "testbench/tests/nic/timeline.h"

namespace vinic::nic {
namespace {

struct bench {
    explicit bench(const char* format)
        : simulation(test::configured({{"framing.format", format}})), frames("framing") {}
    sim::simulation simulation;
    framing frames;

    std::vector<std::uint8_t> framed(std::span<const std::uint8_t> contents, std::uint16_t channel = 3) {
        std::vector<std::uint8_t> all = frames.prefix();
        const auto more = frames.begin(channel).put(contents, true);
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
};

// 48 bytes of payload in 53, with a trailer of 8 (I.361, I.363.5).
TEST(framing, cells_of_a_packet) {
    bench b("cells");
    for (const std::size_t bytes : {32, 36, 40, 44, 88, 92, 4128, 4144}) {
        const auto contents = test::counted(bytes);
        EXPECT_EQ(b.framed(contents).size(), (bytes + 8 + 47) / 48 * 53) << bytes;
    }
}

// Header: VPI 0, VCI in bits 4 to 19, user indication in the last cell, HEC over the four bytes before.
TEST(framing, header_of_a_cell) {
    bench b("cells");
    const auto frame = b.framed(test::counted(80), 0xABC);
    ASSERT_EQ(frame.size(), 2 * 53u);
    EXPECT_EQ(frame[0], 0x00);
    EXPECT_EQ(frame[1], 0x00);
    EXPECT_EQ(frame[2], 0xAB);
    EXPECT_EQ(frame[3], 0xC0);
    EXPECT_EQ(frame[53 + 3], 0xC2);
    EXPECT_EQ(frame[4], link::crc8(std::span(frame).first(4)) ^ 0x55);
}

// Preamble and SFD 8, addresses and type 14, at least 46 bytes, FCS 4 (IEEE 802.3 clause 3).
TEST(framing, ethernet_frames) {
    bench b("ethernet");
    for (const std::size_t bytes : {32, 44, 48, 1480})
        EXPECT_EQ(b.framed(test::counted(bytes)).size(), 8 + 14 + std::max<std::size_t>(bytes, 46) + 4);
    const auto frame = b.framed(test::counted(60));
    EXPECT_EQ(frame[7], 0xD5);
    // Over the frame and its FCS the CRC gives the constant residue.
    EXPECT_EQ(link::crc32(std::span(frame).subspan(8)), 0x2144DF1Cu);
}

TEST(framing, plain_adds_a_crc32) {
    bench b("plain");
    EXPECT_EQ(b.framed(test::counted(100)).size(), 104u);
}

class every_format : public testing::TestWithParam<const char*> {};

TEST_P(every_format, what_comes_in_parts_is_framed_as_a_whole) {
    bench b(GetParam());
    const auto contents = test::counted(500);
    for (const std::size_t part : {1, 47, 48, 49, 300}) {
        std::vector<std::uint8_t> all = b.frames.prefix();
        auto writer = b.frames.begin(3);
        for (std::size_t at = 0; at < contents.size(); at += part) {
            const std::size_t n = std::min(part, contents.size() - at);
            const auto more = writer.put(std::span(contents).subspan(at, n), at + n == contents.size());
            all.insert(all.end(), more.begin(), more.end());
        }
        EXPECT_EQ(all, b.framed(contents)) << part;
    }
}

TEST_P(every_format, opens_what_is_whole) {
    bench b(GetParam());
    for (const std::size_t bytes : {32, 46, 48, 92, 1480}) {
        const auto contents = test::counted(bytes);
        const auto opened = b.frames.open(b.framed(contents));
        ASSERT_TRUE(opened) << bytes;
        ASSERT_GE(opened->size(), bytes);  // an Ethernet frame may be padded
        EXPECT_TRUE(std::equal(contents.begin(), contents.end(), opened->begin()));
    }
}

TEST_P(every_format, refuses_every_single_bit_error_behind_the_preamble) {
    bench b(GetParam());
    const auto good = b.framed(test::counted(92));
    for (std::size_t bit = 8 * (b.frames.what() == framing::kind::ethernet ? 8 : 0); bit < 8 * good.size();
         ++bit) {
        auto bad = good;
        bad[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
        EXPECT_FALSE(b.frames.open(bad)) << bit;
    }
}

TEST_P(every_format, refuses_what_is_cut_off) {
    bench b(GetParam());
    const auto good = b.framed(test::counted(92));
    for (std::size_t bytes = 0; bytes < good.size(); ++bytes)
        EXPECT_FALSE(b.frames.open(std::span(good).first(bytes))) << bytes;
}

INSTANTIATE_TEST_SUITE_P(framing, every_format, testing::Values("plain", "cells", "ethernet"),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
}  // namespace vinic::nic
