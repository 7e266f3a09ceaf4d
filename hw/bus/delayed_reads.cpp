// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/delayed_reads.h"

#include <algorithm>

namespace vinic::bus {

bool delayed_reads::there(const tlm::tlm_generic_payload& payload, const pci_extension& pci,
                          std::uint64_t latency_clocks) {
    const std::uint64_t clock = pci.schedule.address;
    discarded_ += std::erase_if(latched_, [&](const entry& e) { return clock > last_clock(e); });
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

std::uint64_t delayed_reads::retried_before(const tlm::tlm_generic_payload& payload,
                                            const pci_extension& pci) const {
    std::uint64_t ready = 0, discarding = ~std::uint64_t{0};
    for (const entry& e : latched_) {
        if (e.address == payload.get_address() && e.command == pci.command) ready = e.ready;
        discarding = std::min(discarding, last_clock(e) + 1);
    }
    return std::min(ready, discarding);
}

}  // namespace vinic::bus
