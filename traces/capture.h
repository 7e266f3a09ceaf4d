// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/sim/time.h"

namespace vinic::traces {

/// A pcapng file of pcap_writer, read back. Views point into the bytes that it was read from.
struct capture {
    struct interface {
        std::string name;
        std::string text;
    };
    struct packet {
        std::uint32_t interface;  ///< index
        sim::picoseconds at;
        std::uint32_t flags;  ///< pcapng::flag_*
        std::span<const std::uint8_t> bytes;
        std::string_view comment;
    };
    std::vector<interface> interfaces;
    std::vector<packet> packets;
    /// What breaks the format's rules, and where; reading ends at a block whose length cannot be right.
    std::vector<std::string> faults;
};

capture read_capture(std::string_view file);

}  // namespace vinic::traces
