// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "firmware/abi/ethernet_card.h"
#include "hw/bus/target_port.h"
#include "hw/nic/ethernet/steps.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"
#include "hw/sim/unit.h"

namespace vinic::nic::ethernet {

/// The registers of the card (firmware/abi/ethernet_card.h), and its interrupt: causes gather until there are
/// enough of them or the first has waited long enough.
class registers : public sim::module, public bus::target_device {
public:
    sim::parameter<std::uint64_t> read_clocks;

    sim::counter<sim::unit::events> interrupts;
    sim::counter<sim::unit::events> sent_reports;
    sim::counter<sim::unit::events> received_reports;

    sim::value_probe interrupt_probe;
    sim::value_probe cause_probe;
    sim::span_probe write_probe;

    registers(const sc_core::sc_module_name& name, steps& when, const sim::clock_domain& clock);

    /// A register was written, at the end of the bus's data phase.
    std::function<void(abi::ethernet::register_offset, std::uint32_t value)> on_register;
    std::function<void(bool asserted)> interrupt;

    std::uint32_t stored(abi::ethernet::register_offset at) const { return words_[at / 4]; }
    std::uint64_t stored_pair(abi::ethernet::register_offset low) const {
        return words_[low / 4] | std::uint64_t{words_[low / 4 + 1]} << 32;
    }

    /// Something of that kind stands in host memory.
    void report(abi::ethernet::cause_bit what);

    bus::target_answer on_address(const tlm::tlm_generic_payload& payload,
                                  const bus::pci_extension&) override;
    void on_write(const bus::pci_extension&, std::uint64_t address, std::span<const std::uint8_t>) override;
    void on_read(const bus::pci_extension&, std::uint64_t address, std::span<std::uint8_t>) override;
    std::size_t debug_read(std::uint64_t address, std::span<std::uint8_t> bytes) override;

private:
    /// Reports that wait for company.
    struct coalescer {
        abi::ethernet::cause_bit cause;
        abi::ethernet::register_offset setting;
        std::uint32_t waiting = 0;
        sim::picoseconds deadline = sim::never;
    };
    void raise(coalescer& which);
    void expired();
    void update();

    steps& when_;
    const sim::clock_domain& clock_;
    std::array<std::uint32_t, abi::ethernet::REGISTERS_END / 4> words_{};
    std::uint32_t cause_ = 0;
    bool level_ = false;
    coalescer sent_{abi::ethernet::CAUSE_SENT, abi::ethernet::COALESCE_SENT};
    coalescer received_{abi::ethernet::CAUSE_RECEIVED, abi::ethernet::COALESCE_RECEIVED};
    sim::timer timer_{[this] { expired(); }};
};

}  // namespace vinic::nic::ethernet
