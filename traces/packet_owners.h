// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>

#include "traces/message_listener.h"

namespace vinic::traces {

/// Remembers which message each packet on its way belongs to, packets that are sent again included.
class packet_owners : public message_listener {
public:
    struct owner {
        std::string sender;  ///< card
        std::uint64_t number;
        std::uint64_t descriptor;
    };
    void on_packet_of(const message_path&, const abi::packet_header&) override;

    /// Null when the packet belongs to no message, or was sent long ago.
    const owner* of(const abi::packet_header&) const;

private:
    /// connection key, source VI, destination VI, sequence
    using packet_name = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

    std::map<packet_name, owner> owners_;
    std::deque<packet_name> oldest_;
};

}  // namespace vinic::traces
