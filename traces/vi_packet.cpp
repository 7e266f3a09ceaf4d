// SPDX-License-Identifier: Apache-2.0
#include "traces/vi_packet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace vinic::traces {

namespace {

std::uint32_t big32(const std::uint8_t* p) {
    return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}
std::uint32_t big16(const std::uint8_t* p) { return std::uint32_t{p[0]} << 8 | p[1]; }

/// What stands before a packet in its frame: nothing; the header of a cell; preamble and header of Ethernet
/// (hw/nic/vi_engine/framing.h).
constexpr std::array<std::size_t, 3> frame_bytes{0, 5, 8 + 14};

}  // namespace

std::size_t route_bytes_of(std::span<const std::uint8_t> packet) {
    const auto type = std::ranges::find_if(packet, [](std::uint8_t byte) { return (byte & 0x80) == 0; });
    return static_cast<std::size_t>(type - packet.begin());
}

bool is_ethernet(std::span<const std::uint8_t> packet) {
    constexpr std::uint8_t preamble = 0x55, start = 0xD5;
    constexpr std::size_t before_start = ethernet_preamble_bytes - 1;
    return packet.size() > before_start && packet[before_start] == start &&
           std::ranges::all_of(packet.first(before_start), [](std::uint8_t b) { return b == preamble; });
}

std::optional<abi::packet_header> vi_header_of(std::span<const std::uint8_t> bytes) {
    const std::size_t route = is_ethernet(bytes) ? 0 : route_bytes_of(bytes);
    const auto starts_at = [&](std::size_t frame) {
        return bytes.size() >= route + frame + sizeof(abi::packet_header) &&
               big32(bytes.data() + route + frame) == abi::packet_type_vi;
    };
    const auto frame = std::ranges::find_if(frame_bytes, starts_at);
    if (frame == frame_bytes.end()) return std::nullopt;
    const std::uint8_t* p = bytes.data() + route + *frame;
    using header = abi::packet_header;
    return header{.type = big32(p),
                  .kind = p[offsetof(header, kind)],
                  .flags = p[offsetof(header, flags)],
                  .length = static_cast<std::uint16_t>(big16(p + offsetof(header, length))),
                  .destination_vi = static_cast<std::uint16_t>(big16(p + offsetof(header, destination_vi))),
                  .source_vi = static_cast<std::uint16_t>(big16(p + offsetof(header, source_vi))),
                  .connection_key = big32(p + offsetof(header, connection_key)),
                  .sequence = big32(p + offsetof(header, sequence)),
                  .acknowledge = big32(p + offsetof(header, acknowledge)),
                  .offset = big32(p + offsetof(header, offset)),
                  .immediate = big32(p + offsetof(header, immediate))};
}

std::string kind_name(std::uint8_t kind) {
    switch (kind) {
        case abi::packet_send:
            return "send";
        case abi::packet_rdma_write:
            return "RDMA write";
        case abi::packet_acknowledge:
            return "acknowledge";
        case abi::packet_not_acknowledge:
            return "not acknowledge";
        case abi::packet_control:
            return "control";
        default:
            return fmt::format("kind {}", kind);
    }
}

}  // namespace vinic::traces
