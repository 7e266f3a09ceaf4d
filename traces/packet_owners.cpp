// SPDX-License-Identifier: Apache-2.0
#include "traces/packet_owners.h"

#include <algorithm>

namespace vinic::traces {

namespace {

/// More packets than are under way in any network; it bounds memory.
constexpr std::size_t remembered = 65536;

}  // namespace

packet_owners::packet_name packet_owners::name_of(const abi::packet_header& h) {
    return {h.kind, h.connection_key, h.source_vi, h.destination_vi, h.sequence};
}

void packet_owners::on_packet_of(const message_path& m, const abi::packet_header& h) {
    const packet_name name = name_of(h);
    std::vector<owner>& all = owners_[name];
    const auto known = std::ranges::find(all, m.sender, &owner::sender);
    if (known != all.end()) {
        *known = {m.sender, m.number, m.descriptor};
        return;
    }
    all.push_back({m.sender, m.number, m.descriptor});
    oldest_.emplace_back(name, m.sender);
    if (oldest_.size() <= remembered) return;
    const auto& [oldest, sender] = oldest_.front();
    const auto of = owners_.find(oldest);
    std::erase_if(of->second, [&s = sender](const owner& o) { return o.sender == s; });
    if (of->second.empty()) owners_.erase(of);
    oldest_.pop_front();
}

const packet_owners::owner* packet_owners::of(const abi::packet_header& h, const sim::packet_probe& where,
                                              std::span<const std::uint8_t> packet) const {
    const auto found = owners_.find(name_of(h));
    if (found == owners_.end()) return nullptr;
    const std::vector<owner>& all = found->second;
    const std::string way = where.name().substr(0, where.name().rfind('.'));
    std::string receiver = ways_.destination(way, packet);
    if (receiver.find('.') == std::string::npos) receiver += ".nic";  // the first card of its node
    const auto sender = std::ranges::find_if(all, [&](const owner& o) { return o.sender != receiver; });
    return sender == all.end() ? nullptr : &*sender;
}

}  // namespace vinic::traces
