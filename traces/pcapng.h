// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace vinic::traces::pcapng {

// The numbers of draft-ietf-opsawg-pcapng that vinic writes and reads.
inline constexpr std::uint32_t section_header = 0x0A0D0D0A;
inline constexpr std::uint32_t byte_order_magic = 0x1A2B3C4D;
inline constexpr std::uint32_t interface_description = 1;
inline constexpr std::uint32_t enhanced_packet = 6;

inline constexpr std::uint16_t end_of_options = 0;
inline constexpr std::uint16_t comment = 1;
inline constexpr std::uint16_t section_application = 4;
inline constexpr std::uint16_t interface_name = 2;
inline constexpr std::uint16_t interface_text = 3;
inline constexpr std::uint16_t interface_resolution = 9;
inline constexpr std::uint16_t packet_flags = 2;

inline constexpr std::uint32_t flag_inbound = 1;
inline constexpr std::uint32_t flag_outbound = 2;
inline constexpr std::uint32_t flag_direction_mask = 3;
inline constexpr std::uint32_t flag_crc_error = 1u << 24;

inline constexpr std::uint16_t link_type_user0 = 147;
inline constexpr std::uint16_t link_type_ethernet = 1;
inline constexpr std::uint8_t picoseconds = 12;  ///< resolution: a power of ten

}  // namespace vinic::traces::pcapng
