// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hw/bus/bus_properties.h"
#include "hw/bus/protocol.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::bus {

class master;
class target_port;

/// How a target sits on the bus.
struct target_properties {
    requester_id id;  ///< configuration cycles and split completions for it come here
    std::uint32_t decode_clocks =
        0;             ///< DEVSEL# this many clocks after the address (PCI-X: attribute) phase; 0: the bus's
    bool wide = true;  ///< ACK64#
};

/// A segment of PCI or PCI-X with its arbiter. Each tenure is computed in closed form when it is granted;
/// while it lasts, a STOP# or an expired latency timer can only shorten it. An idle bus schedules no event.
class pci_bus : public sim::module {
public:
    /// One per master and per target, in the order in which they are attached.
    tlm_utils::multi_passthrough_target_socket<pci_bus, socket_width_bits, protocol> masters;
    tlm_utils::multi_passthrough_initiator_socket<pci_bus, socket_width_bits, protocol> targets;

    sim::parameter<std::string> kind;
    sim::parameter<std::uint64_t> width_bits;
    sim::parameter<std::uint64_t> clock_mhz;
    sim::parameter<std::uint64_t> target_decode_clocks;
    sim::parameter<std::uint64_t> latency_timer_clocks;
    sim::parameter<std::uint64_t> initial_limit_clocks;
    sim::parameter<std::uint64_t> retry_delay_clocks;
    sim::parameter<std::string> arbitration;
    sim::parameter<std::uint64_t> arbitration_clocks;
    sim::parameter<std::string> parking;
    sim::parameter<bool> free;

    explicit pci_bus(const sc_core::sc_module_name& name);
    ~pci_bus() override;

    const bus_properties& properties() const { return properties_; }

    /// Wire a master; returns its number, which is its place in the round robin.
    unsigned attach(initiator_socket& socket);
    unsigned attach(master& device);
    /// Wire a target; returns its number for `map`.
    unsigned attach(target_socket& socket, const target_properties& how);
    unsigned attach(target_port& device, const target_properties& how);
    /// Memory addresses [base, base + bytes) are the target's, from now on. Ranges must not overlap.
    void map(unsigned target, std::uint64_t base, std::uint64_t bytes);
    void unmap(unsigned target);

private:
    bus_properties properties_;
};

}  // namespace vinic::bus
