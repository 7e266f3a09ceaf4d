// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "hw/bus/bus_properties.h"
#include "hw/bus/initiator.h"
#include "hw/bus/job.h"
#include "hw/bus/protocol.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::bus {

/// A device's way to be initiator: takes jobs, cuts them into legal bursts, repeats them after retry and
/// disconnect, gathers split completions. Ordering (PCI 2.2 appendix E, facts/lanai_pcix.md C1): posted
/// writes stay in order, reads and completions never pass an earlier write, anything may pass a read that
/// waits.
class master : public sim::module,
               private tlm::tlm_bw_transport_if<protocol>,
               private initiator::surroundings {
public:
    initiator_socket socket;

    sim::parameter<std::uint64_t> max_burst_bytes;
    sim::parameter<std::uint64_t> burst_boundary_bytes;
    sim::parameter<std::uint64_t> max_read_bytes;
    sim::parameter<std::uint64_t> max_outstanding_splits;
    sim::parameter<bool> write_and_invalidate;

    sim::counter<sim::unit::bytes> bytes_read{*this, "bytes_read", "by this master, completions included"};
    sim::counter<sim::unit::bytes> bytes_written{*this, "bytes_written",
                                                 "by this master, completions included"};
    sim::counter<sim::unit::events> repeats{*this, "repeats", "requests repeated after a retry"};

    master(const sc_core::sc_module_name& name, const bus_properties& bus, requester_id id,
           implementation how = implementation::model);
    ~master() override;

    requester_id id() const { return id_; }
    void start(job& what);
    bool idle() const { return bursts_->idle(); }

    /// For tools: no time. Returns the number of bytes done.
    std::size_t debug_read(std::uint64_t address, std::span<std::uint8_t> bytes);
    std::size_t debug_write(std::uint64_t address, std::span<const std::uint8_t> bytes);

    /// Split completions for this master, from its device's target_port.
    initiator& completions() { return *bursts_; }

private:
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                       sc_core::sc_time&) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    const bus_properties& bus() const override { return bus_; }
    requester_id requester() const override { return id_; }
    burst_limits limits() const override;
    void to_bus(transaction&, tlm::tlm_phase) override;
    std::size_t look(std::uint64_t address, std::span<std::uint8_t> into) override {
        return debug_read(address, into);
    }
    void count_moved(const job&, std::uint64_t bytes) override;
    void count_repeats(std::uint64_t n) override { repeats.add(n); }

    const bus_properties& bus_;
    requester_id id_;
    std::unique_ptr<initiator> bursts_;
};

}  // namespace vinic::bus
