// SPDX-License-Identifier: Apache-2.0
// The card as a target on the PCI bus: BAR 0 (facts lanai_pcix.md B5; firmware/abi/card_map.h) and the
// configuration header. Writes are posted: they wait in a buffer and take effect in order, those to SRAM at
// one word a slot (C4). Reads let the writes before them pass (C1) and come with wait states, or with a retry
// where those would be too many.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "firmware/abi/card_map.h"
#include "hw/bus/delayed_reads.h"
#include "hw/bus/pci_bus.h"
#include "hw/bus/target_port.h"
#include "hw/nic/card_clock.h"
#include "hw/nic/doorbell_region.h"
#include "hw/nic/host_dma.h"
#include "hw/nic/settled_value.h"
#include "hw/nic/special_registers.h"
#include "hw/nic/sram.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class pci_interface : public sim::module, public bus::target_device {
public:
    pci_interface(const sc_core::sc_module_name& name, const card_clock& clock,
                  const bus::bus_properties& bus, sram& memory, special_registers& registers, host_dma& dma,
                  doorbell_region& doorbells);

    sim::parameter<std::uint64_t> decode_clocks;
    sim::parameter<bool> wide;
    sim::parameter<std::uint64_t> posted_bytes;
    sim::parameter<std::uint64_t> read_clocks;
    sim::parameter<std::uint64_t> read_burst_bytes;
    sim::parameter<std::uint64_t> delayed_reads;
    sim::parameter<std::uint64_t> discard_clocks;
    sim::parameter<std::uint64_t> register_clocks;

    sim::counter<sim::unit::bytes> bytes_written{*this, "bytes_written", "bytes that the host wrote"};
    sim::counter<sim::unit::bytes> bytes_read{*this, "bytes_read", "bytes that the host read"};
    sim::counter<sim::unit::events> retries{*this, "retries", "accesses answered by a retry"};

    sim::value_probe posted{*this, "posted", 16, "bytes in the buffer of posted writes"};
    sim::span_probe write{*this, "write", "a posted write: from its last data phase to its effect"};

    /// How the card hangs on the bus.
    bus::target_properties properties(bus::requester_id id) const {
        return {id, static_cast<std::uint32_t>(decode_clocks.get()), wide.get()};
    }
    /// Reset bits of the control register.
    std::function<void(bool asserted)> lanai_reset;
    std::function<void()> board_reset;
    void reset();

    bus::target_answer on_address(const tlm::tlm_generic_payload& payload,
                                  const bus::pci_extension& pci) override;
    void on_schedule(const tlm::tlm_generic_payload& payload, const bus::pci_extension& pci) override;
    void on_write(const bus::pci_extension& pci, std::uint64_t address,
                  std::span<const std::uint8_t> bytes) override;
    void on_read(const bus::pci_extension& pci, std::uint64_t address,
                 std::span<std::uint8_t> bytes) override;
    std::size_t debug_read(std::uint64_t address, std::span<std::uint8_t> bytes) override;
    std::size_t debug_write(std::uint64_t address, std::span<const std::uint8_t> bytes) override;

private:
    enum class region : std::uint8_t { sram, config_copy, control, pointers, registers, doorbells, nothing };
    struct posted_write {
        region where = region::nothing;
        std::uint32_t offset = 0;
        std::vector<std::uint8_t> bytes;
        sim::picoseconds arrived = 0;
        std::size_t done = 0;  // bytes of it that have taken effect
    };

    /// Of the tenure at hand. The SRAM may still fill one that the bus has given up.
    struct sram_read {
        std::uint32_t offset;
        cycle first;
        std::vector<std::uint8_t> data;
        bool started = false;
        bool ready = false;
    };

    region region_of(std::uint32_t offset) const;
    static bool is_configuration(const bus::pci_extension& pci);
    void pump();
    void store_word();
    void word_stored();
    void written();
    void apply(region where, std::uint32_t offset, std::span<const std::uint8_t> word);
    std::uint32_t read_word(region where, std::uint32_t offset, bool& little);
    void read_now(std::uint32_t offset, std::span<std::uint8_t> bytes);
    void store_control(std::uint32_t value);
    void store_pointer(unsigned index, std::uint32_t address);
    bus::target_answer answer_read(const tlm::tlm_generic_payload& payload, const bus::pci_extension& pci);
    bool backlog() const { return !queue_.empty() || freed_at_ == sim::now(); }
    std::uint64_t clocks_of(const posted_write& w) const;
    std::uint64_t read_wait_clocks(std::uint64_t words) const;
    void read_config(std::uint32_t offset, std::span<std::uint8_t> bytes) const;
    void write_config(std::uint32_t offset, std::span<const std::uint8_t> bytes);

    const card_clock& clock_;
    const bus::bus_properties& bus_;
    sram& memory_;
    special_registers& registers_;
    host_dma& dma_;
    doorbell_region& doorbells_;

    std::deque<posted_write> queue_;
    std::uint64_t queued_bytes_ = 0;
    bool busy_ = false;  // the first of the queue is on its way
    std::shared_ptr<sram_read> reading_;
    bus::delayed_reads delayed_;
    std::uint32_t control_ = 0;
    std::array<std::uint32_t, 16> pointers_{};
    std::array<std::uint8_t, 64> config_{};
    sim::timer word_{[this] { store_word(); }};
    settled_value posted_seen_{posted};
    // What ended at this instant: a tenure that begins at it does not know yet.
    sim::picoseconds freed_at_ = sim::never;
    std::uint64_t freed_bytes_ = 0;
    std::uint64_t freed_clocks_ = 0;
};

}  // namespace vinic::nic
