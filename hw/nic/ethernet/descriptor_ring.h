// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firmware/abi/ethernet_card.h"
#include "hw/bus/master.h"
#include "hw/nic/ethernet/steps.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic::ethernet {

/// A ring of descriptors in host memory as the card sees it: reads ahead what the driver has posted, several
/// descriptors a burst, and writes back what has become of them. Descriptors are counted from 0.
class descriptor_ring : public sim::module, private bus::job_client {
public:
    sim::parameter<std::uint64_t> held;
    sim::parameter<std::uint64_t> burst;

    sim::counter<sim::unit::transactions> fetches;
    sim::counter<sim::unit::transactions> write_backs;

    sim::value_probe posted_probe;
    sim::span_probe fetch_probe;
    sim::span_probe write_probe;

    descriptor_ring(const sc_core::sc_module_name& name, steps& when, bus::master& master);
    ~descriptor_ring() override;

    void place(std::uint64_t address, std::uint32_t entries);
    /// So many have been handed over by now; a count that does not go ahead is ignored.
    void post(std::uint32_t count);
    void step();

    bool available() const { return !fetched_.empty(); }
    const abi::ethernet::descriptor& front() const { return fetched_.front(); }
    /// Takes the front one; its number.
    std::uint32_t take();

    /// Writes these bytes at `offset` of descriptor `number`, behind all that the card writes before; `done`
    /// when they are on their way into memory.
    void write_back(std::uint32_t number, std::uint32_t offset, std::vector<std::uint8_t> bytes,
                    std::function<void()> done);

private:
    struct write;

    std::uint64_t address_of(std::uint32_t number) const {
        return base_ + (number & (entries_ - 1)) * sizeof(abi::ethernet::descriptor);
    }
    void on_done(bus::job&, bus::job_status) override;

    steps& when_;
    bus::master& master_;
    std::uint64_t base_ = 0;
    std::uint32_t entries_ = 0;
    std::uint32_t posted_ = 0;
    std::uint32_t asked_ = 0;  ///< fetched, or being fetched
    std::uint32_t taken_ = 0;
    std::deque<abi::ethernet::descriptor> fetched_;
    std::vector<std::uint8_t> raw_;
    bus::job fetch_;
    bool fetching_ = false;
    sim::picoseconds began_ = 0;
    std::deque<std::unique_ptr<write>> writes_;
};

}  // namespace vinic::nic::ethernet
