// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/delayed_reads.h"

#include <algorithm>

namespace vinic::bus {

bool delayed_reads::there(const tlm::tlm_generic_payload& payload, const pci_extension& pci,
                          std::uint64_t latency_clocks) {
    const std::uint64_t clock = pci.schedule.address;
    discarded_ += std::erase_if(latched_, [&](const entry& e) { return clock > e.ready + discard_clocks_; });
    const auto same = std::ranges::find_if(latched_, [&](const entry& e) {
        return e.address == payload.get_address() && e.command == pci.command;
    });
    if (same == latched_.end()) {
        if (latched_.size() < entries_)
            latched_.push_back({pci.command, payload.get_address(), clock + latency_clocks});
        return false;
    }
    if (clock < same->ready) return false;
    latched_.erase(same);
    return true;
}

}  // namespace vinic::bus
