// SPDX-License-Identifier: Apache-2.0
#include "traces/packet_owners.h"

namespace vinic::traces {

namespace {

/// More packets than are under way in any network; it bounds memory.
constexpr std::size_t remembered = 65536;

}  // namespace

void packet_owners::on_packet_of(const message_path& m, const abi::packet_header& h) {
    const packet_name name{h.connection_key, h.source_vi, h.destination_vi, h.sequence};
    if (owners_.insert_or_assign(name, owner{m.sender, m.number, m.descriptor}).second)
        oldest_.push_back(name);
    if (oldest_.size() <= remembered) return;
    owners_.erase(oldest_.front());
    oldest_.pop_front();
}

const packet_owners::owner* packet_owners::of(const abi::packet_header& h) const {
    const auto found = owners_.find({h.connection_key, h.source_vi, h.destination_vi, h.sequence});
    return found == owners_.end() ? nullptr : &found->second;
}

}  // namespace vinic::traces
