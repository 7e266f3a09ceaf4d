// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/delayed_reads.h"

#include <algorithm>

namespace vinic::bus {

delayed_reads::identity delayed_reads::identity_of(const tlm::tlm_generic_payload& payload,
                                                   const pci_extension& pci) {
    const unsigned width = pci.schedule.width_bytes;
    const std::uint64_t end = payload.get_address() % width + payload.get_data_length();
    return {.command = pci.command,
            .address = payload.get_address(),
            .width_bytes = width,
            .last_lane = static_cast<unsigned>(std::min<std::uint64_t>(end, width) - 1)};
}

bool delayed_reads::there(const tlm::tlm_generic_payload& payload, const pci_extension& pci,
                          std::uint64_t latency_clocks) {
    const std::uint64_t clock = pci.schedule.address;
    discarded_ += std::erase_if(latched_, [&](const entry& e) { return clock > last_clock(e); });
    const identity what = identity_of(payload, pci);
    const auto same = std::ranges::find(latched_, what, &entry::what);
    if (same == latched_.end()) {
        if (latched_.size() < entries_) latched_.push_back({what, clock + latency_clocks});
        return false;
    }
    if (clock < same->ready) return false;
    latched_.erase(same);
    return true;
}

std::uint64_t delayed_reads::retried_before(const tlm::tlm_generic_payload& payload,
                                            const pci_extension& pci) const {
    const identity what = identity_of(payload, pci);
    std::uint64_t ready = 0, discarding = ~std::uint64_t{0};
    for (const entry& e : latched_) {
        if (e.what == what) ready = e.ready;
        discarding = std::min(discarding, last_clock(e) + 1);
    }
    return std::min(ready, discarding);
}

}  // namespace vinic::bus
