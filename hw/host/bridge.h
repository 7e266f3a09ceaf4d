// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hw/host/context.h"
#include "hw/host/memory.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"

namespace vinic::host {

/// An address on the node's PCI bus.
using pci_address = std::uint64_t;

/// Between processors, memory and the I/O bus.
///
/// Processor side: loads and stores of PCI addresses, made on the calling context's thread, which takes the
/// time that they take. Uncached stores are posted and go out in order; a load waits until all posted ones
/// before it are done. Write-combined stores gather in line buffers that leave whole or, when flushed early,
/// in pieces of up to 8 bytes; lines leave in no promised order (here: oldest first), so a doorbell needs
/// `fence` or an uncached store.
class bridge : public sim::module {
public:
    // Uncached. The bytes lie as in memory; 1, 2, 4 or 8 of them, aligned.
    void store(context& on, pci_address at, std::span<const std::byte> from);
    void load(context& on, pci_address at, std::span<std::byte> into);

    template <typename Word>
    void store(context& on, pci_address at, Word value) {
        const auto bytes = std::bit_cast<std::array<std::byte, sizeof(Word)>>(value);
        store(on, at, std::span<const std::byte>(bytes));
    }
    template <typename Word>
    Word load(context& on, pci_address at) {
        std::array<std::byte, sizeof(Word)> bytes;
        load(on, at, std::span<std::byte>(bytes));
        return std::bit_cast<Word>(bytes);
    }

    /// Write-combining: any address and length.
    void store_combined(context& on, pci_address at, std::span<const std::byte> from);
    /// Flushes the write-combining buffers into the posting buffer (sfence); does not wait for the bus.
    void fence(context& on);
};

}  // namespace vinic::host
