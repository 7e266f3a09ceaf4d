// SPDX-License-Identifier: Apache-2.0
#include "host_driver/sockets/internet.h"

namespace vinic::driver::internet {

namespace {

constexpr std::uint8_t version_and_length = 0x45;
constexpr std::uint8_t time_to_live = 64;
constexpr std::uint16_t more_fragments = 0x2000;
constexpr std::uint16_t offset_mask = 0x1FFF;
constexpr std::uint8_t option_end = 0, option_nothing = 1, option_mss = 2;

void add16(bytes& to, std::uint32_t value) {
    to.push_back(static_cast<std::byte>(value >> 8));
    to.push_back(static_cast<std::byte>(value));
}
void add32(bytes& to, std::uint32_t value) {
    add16(to, value >> 16);
    add16(to, value & 0xFFFF);
}
std::uint8_t get8(std::span<const std::byte> from, std::size_t at) {
    return std::to_integer<std::uint8_t>(from[at]);
}
std::uint16_t get16(std::span<const std::byte> from, std::size_t at) {
    return static_cast<std::uint16_t>(get8(from, at) << 8 | get8(from, at + 1));
}
std::uint32_t get32(std::span<const std::byte> from, std::size_t at) {
    return std::uint32_t{get16(from, at)} << 16 | get16(from, at + 2);
}
void set16(bytes& in, std::size_t at, std::uint16_t value) {
    in[at] = static_cast<std::byte>(value >> 8);
    in[at + 1] = static_cast<std::byte>(value);
}

}  // namespace

std::uint32_t add_checksum(std::span<const std::byte> over, std::uint32_t start) {
    std::uint64_t sum = start;
    for (std::size_t i = 0; i + 1 < over.size(); i += 2) sum += get16(over, i);
    if (over.size() % 2 != 0) sum += std::uint32_t{get8(over, over.size() - 1)} << 8;
    while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint32_t>(sum);
}

std::uint16_t checksum_of(std::uint32_t sum) {
    while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

std::uint32_t pseudo_header(std::uint32_t source, std::uint32_t destination, std::uint8_t protocol,
                            std::size_t length) {
    return (source >> 16) + (source & 0xFFFF) + (destination >> 16) + (destination & 0xFFFF) + protocol +
           static_cast<std::uint32_t>(length);
}

bytes make(const ip_header& h) {
    bytes b{std::byte{version_and_length}, std::byte{0}};
    add16(b, h.length);
    add16(b, h.identification);
    add16(b, (h.more ? more_fragments : 0u) | h.offset / 8u);
    b.push_back(std::byte{time_to_live});
    b.push_back(static_cast<std::byte>(h.protocol));
    add16(b, 0);
    add32(b, h.source);
    add32(b, h.destination);
    set16(b, 10, checksum_of(add_checksum(b)));
    return b;
}

bytes make(const udp_header& h) {
    bytes b;
    add16(b, h.source);
    add16(b, h.destination);
    add16(b, h.length);
    add16(b, h.checksum);
    return b;
}

bytes make_segment(std::uint32_t source, std::uint32_t destination, const tcp_header& h,
                   std::span<const std::byte> payload) {
    bytes b;
    add16(b, h.source);
    add16(b, h.destination);
    add32(b, h.sequence);
    add32(b, h.acknowledge);
    const std::size_t header = tcp_header_bytes + (h.mss != 0 ? mss_option_bytes : 0);
    b.push_back(static_cast<std::byte>(header / 4 << 4));
    b.push_back(static_cast<std::byte>(h.flags));
    add16(b, h.window);
    add32(b, 0);  // checksum, urgent pointer
    if (h.mss != 0) {
        b.push_back(std::byte{option_mss});
        b.push_back(std::byte{mss_option_bytes});
        add16(b, h.mss);
    }
    b.insert(b.end(), payload.begin(), payload.end());
    set16(b, 16, checksum_of(add_checksum(b, pseudo_header(source, destination, tcp, b.size()))));
    return b;
}

std::optional<ip_header> parse_ip(std::span<const std::byte> packet) {
    if (packet.size() < ip_header_bytes || get8(packet, 0) != version_and_length) return std::nullopt;
    if (checksum_of(add_checksum(packet.first(ip_header_bytes))) != 0) return std::nullopt;
    const std::uint16_t fragment = get16(packet, 6);
    const ip_header h{.source = get32(packet, 12),
                      .destination = get32(packet, 16),
                      .protocol = get8(packet, 9),
                      .identification = get16(packet, 4),
                      .offset = static_cast<std::uint16_t>((fragment & offset_mask) * 8),
                      .more = (fragment & more_fragments) != 0,
                      .length = get16(packet, 2)};
    if (h.length < ip_header_bytes || h.length > packet.size()) return std::nullopt;
    return h;
}

std::optional<udp_header> parse_udp(std::span<const std::byte> datagram) {
    if (datagram.size() < udp_header_bytes) return std::nullopt;
    const udp_header h{.source = get16(datagram, 0),
                       .destination = get16(datagram, 2),
                       .length = get16(datagram, 4),
                       .checksum = get16(datagram, 6)};
    if (h.length != datagram.size()) return std::nullopt;
    return h;
}

std::optional<tcp_header> parse_tcp(std::span<const std::byte> segment, std::size_t& header_bytes) {
    if (segment.size() < tcp_header_bytes) return std::nullopt;
    header_bytes = std::size_t{get8(segment, 12)} / 16 * 4;
    if (header_bytes < tcp_header_bytes || header_bytes > segment.size()) return std::nullopt;
    tcp_header h{.source = get16(segment, 0),
                 .destination = get16(segment, 2),
                 .sequence = get32(segment, 4),
                 .acknowledge = get32(segment, 8),
                 .flags = get8(segment, 13),
                 .window = get16(segment, 14)};
    for (std::size_t at = tcp_header_bytes; at < header_bytes && get8(segment, at) != option_end;) {
        if (get8(segment, at) == option_nothing) {
            ++at;
            continue;
        }
        if (at + 1 >= header_bytes || get8(segment, at + 1) < 2) break;
        if (get8(segment, at) == option_mss && at + 4 <= header_bytes) h.mss = get16(segment, at + 2);
        at += get8(segment, at + 1);
    }
    return h;
}

}  // namespace vinic::driver::internet
