// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "firmware/abi/wire_format.h"

namespace vinic::traces {

/// In front of an Ethernet frame: preamble and start delimiter.
inline constexpr std::size_t ethernet_preamble_bytes = 8;
/// Whether the packet is an Ethernet frame, preamble included.
bool is_ethernet(std::span<const std::uint8_t> packet);

/// How many bytes of route stand before a packet's type: route bytes have bit 7 set, the type has not.
std::size_t route_bytes_of(std::span<const std::uint8_t> packet);

/// The header of a VI packet, behind whatever route and frame stand before it; none when it is another packet
/// or too short for a header.
std::optional<abi::packet_header> vi_header_of(std::span<const std::uint8_t> packet);

/// "send", "RDMA write" ...; "kind 9" for what wire_format.h does not name.
std::string kind_name(std::uint8_t kind);

}  // namespace vinic::traces
