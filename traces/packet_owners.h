// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hw/sim/probe.h"
#include "traces/cable_ends.h"
#include "traces/message_listener.h"
#include "traces/packet_ways.h"

namespace vinic::traces {

/// Remembers which message each packet on its way belongs to, packets that are sent again included.
class packet_owners : public message_listener {
public:
    struct owner {
        std::string sender;  ///< card
        std::uint64_t number;
        std::uint64_t descriptor;
    };
    explicit packet_owners(const cable_map& cables) : ways_(cables) {}

    void on_packet_of(const message_path&, const abi::packet_header&) override;

    /// `where`: that the packet passes, of a cable. Null when the packet belongs to no message, or was sent
    /// long ago.
    const owner* of(const abi::packet_header&, const sim::packet_probe& where,
                    std::span<const std::uint8_t> packet) const;

private:
    /// kind, connection key, source VI, destination VI, sequence
    using packet_name = std::tuple<std::uint8_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
    static packet_name name_of(const abi::packet_header&);

    packet_ways ways_;
    /// Both directions of a connection may have the same name: VIs of one number, at the same sequence. Where
    /// the packet goes says which is meant.
    std::map<packet_name, std::vector<owner>> owners_;
    std::deque<std::pair<packet_name, std::string>> oldest_;  ///< with the sender
};

}  // namespace vinic::traces
