// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "hw/bus/bus_properties.h"
#include "hw/bus/protocol.h"
#include "hw/sim/module.h"

namespace vinic::bus {

/// What a device does as a target. `pci` and `payload` are those of the tenure at hand; there is one tenure
/// at a time.
class target_device {
public:
    virtual ~target_device() = default;

    /// The address phase: say what will happen (accept, retry, split ...). Called at the arbiter's decision,
    /// before the address phase itself (pci.schedule.address_at); so the answer must depend only on what
    /// happened before this instant.
    virtual target_answer on_address(const tlm::tlm_generic_payload& payload, const pci_extension& pci) = 0;
    /// The data phases are known: reserve what is needed, from pci.schedule (first_data_at, data_period,
    /// phases).
    virtual void on_schedule(const tlm::tlm_generic_payload& /*payload*/, const pci_extension& /*pci*/) {}
    /// pci.schedule has become shorter.
    virtual void on_cut(const tlm::tlm_generic_payload& /*payload*/, const pci_extension& /*pci*/) {}
    /// `n` repetitions of the read that was answered with `retry_before` were retried.
    virtual void on_repeated(std::uint64_t /*n*/) {}
    /// The last data phase ends: take the first bytes of the payload (a write) ...
    virtual void on_write(const pci_extension& pci, std::uint64_t address,
                          std::span<const std::uint8_t> bytes) = 0;
    /// ... or fill them (a read).
    virtual void on_read(const pci_extension& pci, std::uint64_t address, std::span<std::uint8_t> bytes) = 0;
    /// Tools look and poke without time (transport_dbg). Returns the number of bytes done.
    virtual std::size_t debug_read(std::uint64_t /*address*/, std::span<std::uint8_t> /*bytes*/) { return 0; }
    virtual std::size_t debug_write(std::uint64_t /*address*/, std::span<const std::uint8_t> /*bytes*/) {
        return 0;
    }
};

class master;

/// The target socket of a device: turns phases into the calls of `target_device`. Split completions go to
/// `completions`, the master whose reads they answer.
class target_port : public sim::module, private tlm::tlm_fw_transport_if<protocol> {
public:
    target_socket socket;

    target_port(const sc_core::sc_module_name& name, const bus_properties& bus, target_device& device,
                master* completions = nullptr);

    /// STOP#: end the tenure at hand as soon as the rules allow. No tenure: no effect.
    void stop();

private:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                       sc_core::sc_time&) override;
    void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }

    unsigned transport_dbg(tlm::tlm_generic_payload&) override;

    void transfer(tlm::tlm_generic_payload& payload, const pci_extension& pci, bool completion);

    const bus_properties& bus_;
    target_device& device_;
    master* completions_;
    tlm::tlm_generic_payload* at_hand_ = nullptr;
};

}  // namespace vinic::bus
