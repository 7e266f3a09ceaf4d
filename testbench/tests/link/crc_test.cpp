// SPDX-License-Identifier: Apache-2.0
#include "hw/link/crc.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/link/protocol.h"
#include "hw/sim/random.h"

namespace vinic::link {
namespace {

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

std::vector<std::uint8_t> random_bytes(std::size_t n, std::uint64_t seed) {
    sim::random_stream r(seed, "crc_test");
    std::vector<std::uint8_t> bytes(n);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(r.next());
    return bytes;
}

/// Division by x^8+x^2+x+1, bit by bit.
std::uint8_t divide(const std::vector<std::uint8_t>& bytes) {
    unsigned rest = 0;
    for (const unsigned b : bytes)
        for (int bit = 7; bit >= 0; --bit) {
            rest = (rest << 1) | ((b >> bit) & 1);
            if (rest & 0x100) rest ^= 0x107;
        }
    for (int bit = 0; bit < 8; ++bit) {
        rest <<= 1;
        if (rest & 0x100) rest ^= 0x107;
    }
    return static_cast<std::uint8_t>(rest);
}

// The check values of the catalogue of parametrised CRC algorithms: CRC-8/SMBUS and CRC-32/ISO-HDLC.
TEST(crc, known_answers) {
    EXPECT_EQ(crc8(bytes_of("123456789")), 0xF4);
    EXPECT_EQ(crc32(bytes_of("123456789")), 0xCBF43926u);
    EXPECT_EQ(crc8({}), 0);
    EXPECT_EQ(crc32({}), 0u);
}

TEST(crc, equals_the_division_bit_by_bit) {
    for (std::size_t n = 0; n < 70; ++n) EXPECT_EQ(crc8(random_bytes(n, n)), divide(random_bytes(n, n))) << n;
}

TEST(crc, can_be_continued) {
    const auto all = random_bytes(100, 7);
    const std::span<const std::uint8_t> view(all);
    for (std::size_t cut = 0; cut <= all.size(); ++cut) {
        EXPECT_EQ(crc8(view.subspan(cut), crc8(view.first(cut))), crc8(all));
        EXPECT_EQ(crc32(view.subspan(cut), crc32(view.first(cut))), crc32(all));
    }
}

TEST(crc, data_with_its_crc_leaves_no_remainder) {
    auto bytes = random_bytes(33, 3);
    bytes.push_back(crc8(bytes));
    EXPECT_EQ(crc8(bytes), 0);
}

// What a switch does in hardware: it computes both CRCs on the fly and sends its own XOR what was wrong with
// the one that came. What the packet says without ever computing that must be the same.
TEST(crc, a_switch_keeps_an_error_visible) {
    packet p;
    p.append(random_bytes(40, 1));
    p.finish();
    EXPECT_EQ(p.remainder(), 0);
    EXPECT_EQ(divide(p.on_wire(0, 0)), 0);
    EXPECT_EQ(divide(p.on_wire(1, 1)), 0);
    const auto clean = p.on_wire(0, 0);

    p.flip(17, 0x20, 1);  // on the second cable
    EXPECT_EQ(p.on_wire(0, 0), clean);
    const auto second = p.on_wire(1, 1);
    EXPECT_NE(divide(second), 0);
    EXPECT_NE(p.remainder(), 0);

    std::vector<std::uint8_t> data(second.begin(), second.end() - 1);
    const auto wrong = static_cast<std::uint8_t>(divide(data) ^ second.back());
    EXPECT_EQ(p.remainder(), divide(second));
    data.erase(data.begin());
    auto third = data;
    third.push_back(static_cast<std::uint8_t>(divide(data) ^ wrong));
    EXPECT_EQ(p.on_wire(2, 2), third);
}

TEST(crc, damage_before_the_sender_has_finished_is_found) {
    packet p;
    p.append(random_bytes(10, 1));
    p.flip(3, 0x01, 0);
    p.append(random_bytes(10, 2));
    p.finish();
    EXPECT_NE(p.remainder(), 0);
}

TEST(crc, every_error_of_up_to_three_bits_in_127_bits_is_found) {
    // x^8+x^2+x+1 has Hamming distance 4 up to a length of 127 bits.
    for (unsigned a = 0; a < 120; ++a)
        for (unsigned b = a; b < 120; b += 7) {
            packet p;
            p.append(random_bytes(14, a));
            p.finish();
            p.flip(a / 8, static_cast<std::uint8_t>(0x80 >> a % 8), 0);
            if (b != a) p.flip(b / 8, static_cast<std::uint8_t>(0x80 >> b % 8), 0);
            EXPECT_NE(p.remainder(), 0) << a << " " << b;
        }
}

}  // namespace
}  // namespace vinic::link
