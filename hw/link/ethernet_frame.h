// SPDX-License-Identifier: Apache-2.0
// What an Ethernet frame looks like on the wire (IEEE 802.3 clause 3): preamble and start delimiter, header,
// payload of at least 46 bytes, frame check sequence. The inter-frame gap is the link's (link.gap_bytes).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hw/link/crc.h"

namespace vinic::link::ethernet {

inline constexpr std::size_t preamble_bytes = 8;  ///< seven of preamble and the start frame delimiter
inline constexpr std::size_t header_bytes = 14;   ///< destination, source, type
inline constexpr std::size_t payload_min_bytes = 46;
inline constexpr std::size_t fcs_bytes = 4;
inline constexpr std::size_t frame_min_bytes = header_bytes + payload_min_bytes + fcs_bytes;

using address = std::array<std::uint8_t, 6>;
inline constexpr address broadcast{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
inline constexpr std::array<std::uint8_t, preamble_bytes> preamble{0x55, 0x55, 0x55, 0x55,
                                                                   0x55, 0x55, 0x55, 0xD5};

/// The FCS behind these bytes, destination to payload, in the order of the wire.
inline std::array<std::uint8_t, fcs_bytes> fcs_of(std::span<const std::uint8_t> bytes) {
    const std::uint32_t crc = crc32(bytes);
    return {static_cast<std::uint8_t>(crc), static_cast<std::uint8_t>(crc >> 8),
            static_cast<std::uint8_t>(crc >> 16), static_cast<std::uint8_t>(crc >> 24)};
}

/// Whether all that was on the wire, preamble to FCS, is a whole frame.
inline bool is_whole(std::span<const std::uint8_t> on_wire) {
    if (on_wire.size() < preamble_bytes + frame_min_bytes || on_wire[preamble_bytes - 1] != preamble.back())
        return false;
    const auto covered = on_wire.subspan(preamble_bytes, on_wire.size() - preamble_bytes - fcs_bytes);
    return std::ranges::equal(on_wire.last(fcs_bytes), fcs_of(covered));
}

/// Of a whole one: destination to payload.
inline std::span<const std::uint8_t> contents(std::span<const std::uint8_t> on_wire) {
    return on_wire.subspan(preamble_bytes, on_wire.size() - preamble_bytes - fcs_bytes);
}

inline address destination_of(std::span<const std::uint8_t> frame) {
    address a;
    std::ranges::copy(frame.first(a.size()), a.begin());
    return a;
}
inline address source_of(std::span<const std::uint8_t> frame) { return destination_of(frame.subspan(6)); }

}  // namespace vinic::link::ethernet
