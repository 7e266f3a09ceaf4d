// SPDX-License-Identifier: Apache-2.0
// The card as a target on the bus: BAR 0 (firmware/abi/vi_engine_card.h) and the configuration header. Writes
// are posted and take effect in order; reads come with wait states, or with a retry where those would be too
// many or a posted write is before them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "firmware/abi/vi_engine_card.h"
#include "hw/bus/delayed_reads.h"
#include "hw/bus/pci_bus.h"
#include "hw/bus/target_port.h"
#include "hw/nic/occupancy.h"
#include "hw/nic/vi_engine/doorbell_decoder.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class register_window : public sim::module, public bus::target_device {
public:
    register_window(const sc_core::sc_module_name& name, sequencer& order, const bus::bus_properties& bus,
                    doorbell_decoder& doorbells);

    sim::parameter<std::uint64_t> decode_clocks;
    sim::parameter<bool> wide;
    sim::parameter<std::uint64_t> posted_bytes;
    sim::parameter<std::uint64_t> register_clocks;
    sim::parameter<std::uint64_t> read_clocks;
    sim::parameter<std::uint64_t> delayed_reads;
    sim::parameter<std::uint64_t> discard_clocks;

    sim::counter<sim::unit::bytes> bytes_written{*this, "bytes_written", "bytes that the host wrote"};
    sim::counter<sim::unit::bytes> bytes_read{*this, "bytes_read", "bytes that the host read"};
    sim::counter<sim::unit::events> retries{*this, "retries", "accesses answered by a retry"};

    sim::span_probe write{*this, "write", "a posted write: from its last data phase to its effect"};

    /// A word to a register or to the translation table on the card; offsets are of BAR 0.
    std::function<void(std::uint32_t offset, std::uint32_t value)> store;
    /// What a register shows on the bus.
    std::function<std::uint32_t(std::uint32_t offset)> load;

    bus::target_properties properties(bus::requester_id id) const {
        return {id, static_cast<std::uint32_t>(decode_clocks.get()), wide.get()};
    }
    /// No posted write waits; for the engine.
    bool idle() const { return writes_.empty(); }

    bus::target_answer on_address(const tlm::tlm_generic_payload& payload,
                                  const bus::pci_extension& pci) override;
    void on_write(const bus::pci_extension& pci, std::uint64_t address,
                  std::span<const std::uint8_t> bytes) override;
    void on_read(const bus::pci_extension& pci, std::uint64_t address,
                 std::span<std::uint8_t> bytes) override;
    std::size_t debug_read(std::uint64_t address, std::span<std::uint8_t> bytes) override;

private:
    struct posted_write {
        std::uint32_t offset = 0;
        std::vector<std::uint8_t> bytes;
        sim::picoseconds arrived = 0;
    };

    static bool is_configuration(const bus::pci_extension& pci);
    bus::target_answer answer_write(std::uint32_t offset);
    bus::target_answer answer_read(const tlm::tlm_generic_payload& payload, const bus::pci_extension& pci);
    machine intake();
    void take(const posted_write& what);
    void read_words(std::uint32_t offset, std::span<std::uint8_t> bytes) const;

    sequencer& sequencer_;
    const bus::bus_properties& bus_;
    doorbell_decoder& doorbells_;
    bus::delayed_reads delayed_;
    occupancy queued_;
    std::deque<posted_write> writes_;
    std::array<std::uint8_t, 64> config_{};
    condition written_;
    machine machine_;
};

}  // namespace vinic::nic
