// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/delayed_reads.h"

#include <algorithm>

namespace vinic::bus {

delayed_reads::delayed_reads(const sim::module& owner, const bus_properties& bus)
    : entries(owner, {.name = "delayed_reads.entries",
                      .value = 4,
                      .min = 1,
                      .max = 32,
                      .help = "PCI: reads that may be latched at a time",
                      .source = "facts/lanai_pcix.md C1"}),
      discard_clocks(owner, {.name = "delayed_reads.discard_clocks",
                             .unit = "clocks",
                             .value = 32768,
                             .choices = {1024, 32768},
                             .help = "PCI: fetched bytes that nobody comes for are dropped",
                             .source = "facts/lanai_pcix.md C1"}),
      prefetch_bytes(owner,
                     {.name = "delayed_reads.prefetch_bytes",
                      .unit = "bytes",
                      .value = 256,
                      .choices = {32, 64, 128, 256, 512, 1024, 2048, 4096},
                      .help = "PCI: what a memory read multiple fetches, up to a multiple of this address"}),
      latched(owner, "delayed_reads.latched", "reads that were latched and retried"),
      discarded(owner, "delayed_reads.discarded", "reads whose bytes nobody came for"),
      bus_(bus) {}

std::uint64_t delayed_reads::bytes_for(command c, std::uint64_t address, unsigned width_bytes) const {
    const std::uint64_t boundary = c == command::read_multiple ? prefetch_bytes
                                   : c == command::read_line   ? bus_.cache_line_bytes
                                                               : width_bytes;
    return boundary - address % boundary;
}

target_answer delayed_reads::answer(const tlm::tlm_generic_payload& payload, const pci_extension& pci,
                                    const fetch& start) {
    const sim::picoseconds now = sim::now();
    discard(now);
    const std::uint64_t address = payload.get_address();
    const auto found = std::ranges::find_if(
        waiting_, [&](const entry& e) { return e.address == address && e.command == pci.command; });
    if (found == waiting_.end()) {
        if (waiting_.size() < entries) {
            const std::uint64_t bytes = bytes_for(pci.command, address, pci.schedule.width_bytes);
            latched.add();
            waiting_.push_back({pci.command, address, bytes, start(address, bytes)});
        }
        return {.kind = answer_kind::retry};
    }
    // The target decides in the address phase; what arrives during it is too late.
    if (found->ready_at > pci.schedule.address_at) return {.kind = answer_kind::retry};
    const auto limit = static_cast<std::uint32_t>(found->bytes);
    waiting_.erase(found);
    return {.limit_bytes = limit};
}

void delayed_reads::discard(sim::picoseconds now) {
    const sim::picoseconds patience = bus_.clock.span(discard_clocks);
    discarded.add(std::erase_if(
        waiting_, [&](const entry& e) { return e.ready_at != sim::never && e.ready_at + patience < now; }));
}

}  // namespace vinic::bus
