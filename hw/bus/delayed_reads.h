// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "hw/bus/protocol.h"

namespace vinic::bus {

/// PCI delayed transactions of a target (a host bridge, a slow device): it latches a read, retries it,
/// fetches meanwhile, and accepts the repetition. Bytes that nobody comes for are discarded by a timer, which
/// is a function of time: no event. (PCI 2.2, 3.3.3.3; facts/lanai_pcix.md C1)
class delayed_reads {
public:
    /// At most `entries` reads are latched; one is discarded `discard_clocks` after its bytes are there.
    delayed_reads(std::uint64_t entries, std::uint64_t discard_clocks)
        : entries_(entries), discard_clocks_(discard_clocks) {}

    /// Whether the bytes of a read that is in its address phase are there: then its entry is gone and the
    /// target accepts. Otherwise it retries; a read that is new is latched, if there is room, and its bytes
    /// will be there `latency_clocks` later. PCI tells neither byte count nor master: command, address, width
    /// and the byte enables of the first data phase name a read.
    bool there(const tlm::tlm_generic_payload& payload, const pci_extension& pci,
               std::uint64_t latency_clocks);

    /// The clock until which that read, just retried, will be retried while no other read comes; 0 when it
    /// is not latched.
    std::uint64_t retried_before(const tlm::tlm_generic_payload& payload, const pci_extension& pci) const;

    std::uint64_t discarded() const { return discarded_; }

private:
    /// What stands on the bus in the address phase and the first data phase.
    struct identity {
        bus::command command;
        std::uint64_t address;
        unsigned width_bytes;
        unsigned last_lane;  ///< byte enables are contiguous
        bool operator==(const identity&) const = default;
    };
    struct entry {
        identity what;
        std::uint64_t ready;  ///< clock of the bus
    };

    static identity identity_of(const tlm::tlm_generic_payload& payload, const pci_extension& pci);

    std::uint64_t last_clock(const entry& e) const { return e.ready + discard_clocks_; }

    std::uint64_t entries_;
    std::uint64_t discard_clocks_;
    std::uint64_t discarded_ = 0;
    std::vector<entry> latched_;
};

}  // namespace vinic::bus
