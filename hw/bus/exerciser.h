// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hw/bus/master.h"
#include "hw/bus/pci_bus.h"
#include "hw/bus/target_port.h"
#include "hw/sim/module.h"
#include "hw/sim/probe.h"

namespace vinic::bus {

/// A device that does nothing but DMA: it moves a chain of blocks at the speed that bus and host allow, as a
/// PCI exerciser in a slot does, and as a card's DMA engine does for a bus test.
class exerciser : public sim::module, private target_device, private job_client {
public:
    bus::master master;
    bus::target_port target;

    sim::span_probe chain_probe{*this, "chain", "a chain of blocks: from its start to its last byte"};

    exerciser(const sc_core::sc_module_name& name, const bus_properties& bus, requester_id id);

    void attach(pci_bus& to);

    struct chain {
        job::kind what = job::kind::read;
        std::vector<std::uint64_t> addresses;  ///< of the blocks, in the order of the chain
        std::uint64_t block_bytes = 0;
    };
    /// How a chain went.
    struct outcome {
        sim::picoseconds begun = 0;
        sim::picoseconds first_word = 0;  ///< the first word of the first block is sampled
        sim::picoseconds ended = 0;
        bool aborted = false;  ///< the bus aborted a block
    };
    /// One chain at a time; `done` is called at the edge at which its last byte has moved.
    void start(const chain& of, std::function<void(const outcome&)> done);

private:
    target_answer on_address(const tlm::tlm_generic_payload&, const pci_extension&) override;
    void on_write(const pci_extension&, std::uint64_t, std::span<const std::uint8_t>) override {}
    void on_read(const pci_extension&, std::uint64_t, std::span<std::uint8_t>) override {}
    void on_burst(job&, std::uint64_t offset, std::uint64_t count, const tenure_schedule&) override;
    void on_done(job&, job_status) override;

    requester_id id_;
    std::vector<job> blocks_;
    std::vector<std::uint8_t> bytes_;
    std::size_t left_ = 0;
    outcome outcome_;
    std::function<void(const outcome&)> done_;
};

}  // namespace vinic::bus
