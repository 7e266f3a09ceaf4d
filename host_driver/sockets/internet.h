// SPDX-License-Identifier: Apache-2.0
// IPv4, UDP and TCP as they stand in packets (RFC 791, 768, 793). In the machine's byte order here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace vinic::driver::internet {

using bytes = std::vector<std::byte>;

inline constexpr std::uint16_t ethertype = 0x0800;
inline constexpr std::size_t ip_header_bytes = 20;
inline constexpr std::size_t udp_header_bytes = 8;
inline constexpr std::size_t tcp_header_bytes = 20;
inline constexpr std::size_t mss_option_bytes = 4;
inline constexpr std::size_t datagram_max_bytes = 65535 - ip_header_bytes - udp_header_bytes;

enum protocol : std::uint8_t { tcp = 6, udp = 17 };

struct ip_header {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::uint8_t protocol = 0;
    std::uint16_t identification = 0;
    std::uint16_t offset = 0;  ///< of a fragment, bytes
    bool more = false;         ///< fragments behind this one
    std::uint16_t length = 0;  ///< of all, header included
};

struct udp_header {
    std::uint16_t source = 0;
    std::uint16_t destination = 0;
    std::uint16_t length = 0;
    std::uint16_t checksum = 0;
};

enum tcp_flag : std::uint8_t { fin = 1, syn = 2, rst = 4, psh = 8, ack = 16 };

struct tcp_header {
    std::uint16_t source = 0;
    std::uint16_t destination = 0;
    std::uint32_t sequence = 0;
    std::uint32_t acknowledge = 0;
    std::uint8_t flags = 0;
    std::uint16_t window = 0;
    std::uint16_t mss = 0;  ///< the option, with syn; 0: none
};

/// One's complement sum of 16-bit words, not yet inverted; `start` continues another one over an even number
/// of bytes.
std::uint32_t add_checksum(std::span<const std::byte> over, std::uint32_t start = 0);
/// Folded and inverted: what stands in a header.
std::uint16_t checksum_of(std::uint32_t sum);
/// What UDP and TCP checksum besides their own bytes.
std::uint32_t pseudo_header(std::uint32_t source, std::uint32_t destination, std::uint8_t protocol,
                            std::size_t length);

bytes make(const ip_header& h);
bytes make(const udp_header& h);
/// With its checksum over `payload`.
bytes make_segment(std::uint32_t source, std::uint32_t destination, const tcp_header& h,
                   std::span<const std::byte> payload);

/// None when too short, of another version, or with a wrong header checksum.
std::optional<ip_header> parse_ip(std::span<const std::byte> packet);
std::optional<udp_header> parse_udp(std::span<const std::byte> datagram);
/// `header_bytes`: options included.
std::optional<tcp_header> parse_tcp(std::span<const std::byte> segment, std::size_t& header_bytes);

}  // namespace vinic::driver::internet
