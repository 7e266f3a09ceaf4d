// SPDX-License-Identifier: Apache-2.0
#include "host_driver/sockets/internet.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace vinic::driver::internet {
namespace {

bytes octets(std::initializer_list<unsigned> values) {
    bytes all;
    for (const unsigned v : values) all.push_back(static_cast<std::byte>(v));
    return all;
}

TEST(internet, checksum_of_rfc_1071) {
    // The example of RFC 1071, section 3: the sum is 0xDDF2.
    const bytes data = octets({0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7});
    EXPECT_EQ(add_checksum(data), 0xDDF2u);
    EXPECT_EQ(checksum_of(add_checksum(data)), 0x220D);
    // In two parts, and with an odd byte, which is the upper half of a word.
    EXPECT_EQ(add_checksum(std::span(data).subspan(4), add_checksum(std::span(data).first(4))), 0xDDF2u);
    EXPECT_EQ(add_checksum(octets({0x12})), 0x1200u);
}

TEST(internet, ip_header_byte_by_byte) {
    const bytes made = make(ip_header{.source = 0x0A000001,
                                      .destination = 0x0A000002,
                                      .protocol = udp,
                                      .identification = 0x1234,
                                      .offset = 1480,
                                      .more = true,
                                      .length = 1500});
    ASSERT_EQ(made.size(), ip_header_bytes);
    EXPECT_EQ(made[0], std::byte{0x45});
    EXPECT_EQ(made[2], std::byte{0x05});
    EXPECT_EQ(made[3], std::byte{0xDC});
    EXPECT_EQ(made[6], std::byte{0x20});  // more fragments; offset 185 * 8
    EXPECT_EQ(made[7], std::byte{0xB9});
    EXPECT_EQ(made[9], std::byte{17});
    EXPECT_EQ(checksum_of(add_checksum(made)), 0);
}

TEST(internet, what_is_made_is_parsed) {
    bytes packet = make(ip_header{.source = 1,
                                  .destination = 2,
                                  .protocol = tcp,
                                  .identification = 3,
                                  .offset = 8,
                                  .more = false,
                                  .length = 24});
    packet.resize(24);
    const auto h = parse_ip(packet);
    ASSERT_TRUE(h);
    EXPECT_EQ(h->source, 1u);
    EXPECT_EQ(h->destination, 2u);
    EXPECT_EQ(h->offset, 8);
    EXPECT_FALSE(h->more);
    EXPECT_EQ(h->length, 24);
    packet[13] ^= std::byte{1};
    EXPECT_FALSE(parse_ip(packet));  // its checksum is wrong
    packet[13] ^= std::byte{1};
    EXPECT_FALSE(parse_ip(std::span(packet).first(23)));  // shorter than it says
}

TEST(internet, segments_carry_their_checksum_and_mss) {
    const bytes data = octets({1, 2, 3});
    const bytes made = make_segment(7, 8,
                                    {.source = 5,
                                     .destination = 6,
                                     .sequence = 100,
                                     .acknowledge = 200,
                                     .flags = syn | ack,
                                     .window = 300,
                                     .mss = 1460},
                                    data);
    ASSERT_EQ(made.size(), tcp_header_bytes + mss_option_bytes + data.size());
    EXPECT_EQ(checksum_of(add_checksum(made, pseudo_header(7, 8, tcp, made.size()))), 0);
    std::size_t header = 0;
    const auto h = parse_tcp(made, header);
    ASSERT_TRUE(h);
    EXPECT_EQ(header, 24u);
    EXPECT_EQ(h->sequence, 100u);
    EXPECT_EQ(h->acknowledge, 200u);
    EXPECT_EQ(h->flags, syn | ack);
    EXPECT_EQ(h->window, 300);
    EXPECT_EQ(h->mss, 1460);
}

TEST(internet, datagrams_say_how_long_they_are) {
    bytes made = make(udp_header{.source = 1, .destination = 2, .length = 10, .checksum = 4});
    EXPECT_FALSE(parse_udp(made));
    made.resize(10);
    ASSERT_TRUE(parse_udp(made));
    EXPECT_EQ(parse_udp(made)->destination, 2);
}

}  // namespace
}  // namespace vinic::driver::internet
