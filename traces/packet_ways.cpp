// SPDX-License-Identifier: Apache-2.0
#include "traces/packet_ways.h"

#include <fmt/format.h>

#include "traces/vi_packet.h"

namespace vinic::traces {

namespace {

/// "switch2 port 7", and 0x82 -> "switch2 port 9": bit 7 set, the low six bits a signed distance from the
/// input port (facts lanai_pcix.md B6).
std::string output_of(const std::string& input, std::uint8_t route_byte) {
    const std::size_t number = input.rfind(' ') + 1;
    const int port = std::stoi(input.substr(number));
    return fmt::format("{}{}", input.substr(0, number),
                       port + (route_byte & 0x3F) - ((route_byte & 0x20) << 1));
}

}  // namespace

packet_ways::packet_ways(const cable_map& cables) {
    for (const auto& [name, ends] : cables) {
        far_ends_[name + ".ab"] = ends.b;
        far_ends_[name + ".ba"] = ends.a;
        other_ends_[ends.a] = ends.b;
        other_ends_[ends.b] = ends.a;
    }
}

std::string packet_ways::destination(const std::string& way, std::span<const std::uint8_t> packet) const {
    const auto first = far_ends_.find(way);
    if (first == far_ends_.end()) return "";
    std::string at = first->second;
    for (const std::uint8_t byte : packet.first(route_bytes_of(packet))) {
        if (!at.starts_with("switch")) break;
        const auto next = other_ends_.find(output_of(at, byte));
        if (next == other_ends_.end()) break;
        at = next->second;
    }
    return at;
}

}  // namespace vinic::traces
