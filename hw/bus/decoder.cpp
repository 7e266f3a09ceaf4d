// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/decoder.h"

#include <iterator>

namespace vinic::bus {

unsigned decoder::add(const target_properties& how) {
    targets_.push_back(how);
    return static_cast<unsigned>(targets_.size()) - 1;
}

bool decoder::map(unsigned target, std::uint64_t base, std::uint64_t bytes) {
    const std::uint64_t last = base + (bytes - 1);
    if (bytes == 0 || last < base) return false;
    const auto after = ranges_.lower_bound(base);
    if (after != ranges_.end() && after->first <= last) return false;
    if (after != ranges_.begin() && std::prev(after)->second.last >= base) return false;
    ranges_[base] = {last, target};
    return true;
}

void decoder::unmap(unsigned target) {
    std::erase_if(ranges_, [&](const auto& entry) { return entry.second.target == target; });
}

std::optional<decoder::claim> decoder::decode(command c, bus_kind kind, std::uint64_t address,
                                              const requester_id& completion_for) const {
    const bool configuration = c == command::config_read || c == command::config_write;
    const bool completion = kind == bus_kind::pcix && c == command::split_completion;
    if (configuration || completion) {
        // IDSEL of device n: the device number stands in AD[15:11] (PCI-X 1.0a, type 0).
        constexpr unsigned config_space_bytes = 256;
        const auto device = configuration ? (address >> 11) & 31 : completion_for.device;
        for (unsigned n = 0; n < targets_.size(); ++n) {
            if (targets_[n].id.device != device) continue;
            return claim{
                n, configuration ? config_space_bytes - address % config_space_bytes : max_sequence_bytes};
        }
        return std::nullopt;
    }
    if (!is_memory(c)) return std::nullopt;
    auto at = ranges_.upper_bound(address);
    if (at == ranges_.begin()) return std::nullopt;
    --at;
    if (at->second.last < address) return std::nullopt;
    const std::uint64_t rest = at->second.last - address;
    return claim{at->second.target, rest == ~std::uint64_t{0} ? rest : rest + 1};
}

}  // namespace vinic::bus
