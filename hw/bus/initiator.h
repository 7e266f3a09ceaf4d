// SPDX-License-Identifier: Apache-2.0
// Who makes bursts of a master's jobs: the model, or RTL (hw/rtl/pcix_dma).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "hw/bus/bus_properties.h"
#include "hw/bus/job.h"
#include "hw/bus/protocol.h"

namespace vinic::bus {

/// How long bursts may be.
struct burst_limits {
    std::uint32_t max_burst_bytes;       ///< of a write, and of a read on PCI
    std::uint32_t burst_boundary_bytes;  ///< no burst crosses a multiple of it
    std::uint32_t max_read_bytes;        ///< PCI-X: MMRBC
    std::uint32_t max_outstanding_splits;
    bool write_and_invalidate;
};

class initiator {
public:
    /// What stands around it.
    class surroundings {
    public:
        virtual ~surroundings() = default;
        virtual const bus_properties& bus() const = 0;
        virtual requester_id requester() const = 0;
        virtual burst_limits limits() const = 0;
        /// `request`, `repeat` or `cut`.
        virtual void to_bus(transaction&, tlm::tlm_phase) = 0;
        /// What lies there now, without time. Returns the number of bytes that somebody has.
        virtual std::size_t look(std::uint64_t address, std::span<std::uint8_t>) = 0;
        virtual void count_moved(const job&, std::uint64_t bytes) = 0;
        virtual void count_repeats(std::uint64_t) = 0;
    };

    virtual ~initiator() = default;

    virtual void start(job&) = 0;
    virtual bool idle() const = 0;
    /// A phase that the bus sent with the payload of one of its transactions.
    virtual void on_phase(const tlm::tlm_generic_payload&, const tlm::tlm_phase&) = 0;
    /// Split completions for this master.
    virtual void on_completion_schedule(const tlm::tlm_generic_payload&, const pci_extension&) = 0;
    virtual void on_completion_cut(const pci_extension&) = 0;
    virtual void on_completion(const pci_extension&, std::span<const std::uint8_t>) = 0;
};

enum class implementation : std::uint8_t { model, rtl };
inline implementation implementation_of(std::string_view text) {
    return text == "rtl" ? implementation::rtl : implementation::model;
}

}  // namespace vinic::bus
