// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hw/bus/bus_properties.h"
#include "hw/bus/protocol.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::bus {

/// PCI delayed transactions of a target (a host bridge, a slow device): it latches a read, retries it,
/// fetches meanwhile, and accepts the repetition. What nobody fetches is discarded by a timer, which is a
/// function of time: no event. (PCI 2.2, 3.3.3.3; facts/lanai_pcix.md C1)
class delayed_reads {
public:
    sim::parameter<std::uint64_t> entries;
    sim::parameter<std::uint64_t> discard_clocks;
    sim::parameter<std::uint64_t> prefetch_bytes;

    sim::counter<sim::unit::events> latched;
    sim::counter<sim::unit::events> discarded;

    /// Parameters and statistics are the owner's, as `delayed_reads.entries` ...
    delayed_reads(const sim::module& owner, const bus_properties& bus);

    /// Starts to fetch and returns when the bytes are there.
    using fetch = std::function<sim::picoseconds(std::uint64_t address, std::uint64_t bytes)>;
    /// The answer to the address phase of a read: retry until the bytes are there, then accept, up to what
    /// was fetched.
    target_answer answer(const tlm::tlm_generic_payload& payload, const pci_extension& pci,
                         const fetch& start);

    /// Bytes that a read fetches, by its command: PCI tells no byte count.
    std::uint64_t bytes_for(command c, std::uint64_t address, unsigned width_bytes) const;

private:
    struct entry {
        bus::command command;
        std::uint64_t address;
        std::uint64_t bytes;
        sim::picoseconds ready_at;
    };
    void discard(sim::picoseconds now);

    const bus_properties& bus_;
    std::vector<entry> waiting_;
};

}  // namespace vinic::bus
