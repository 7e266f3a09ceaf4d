// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hw/bus/master.h"
#include "hw/nic/ethernet/descriptor_ring.h"
#include "hw/nic/ethernet/mac.h"
#include "hw/nic/ethernet/steps.h"
#include "hw/nic/occupancy.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic::ethernet {

/// Takes whole frames from the MAC into the receive FIFO and writes each into the buffer of the next receive
/// descriptor, then what has become of that into the descriptor. A frame that finds the FIFO full is lost.
class receive_engine : public sim::module, private bus::job_client {
public:
    sim::parameter<std::uint64_t> fifo_bytes;
    sim::parameter<std::uint64_t> start_clocks;

    sim::counter<sim::unit::bytes> bytes_written;
    sim::counter<sim::unit::packets> overruns;
    sim::counter<sim::unit::packets> too_long;

    sim::value_probe fifo_probe;
    sim::span_probe wait_probe;
    sim::span_probe data_probe;

    receive_engine(const sc_core::sc_module_name& name, steps& when, bus::master& master,
                   descriptor_ring& ring, mac& from);

    void step();
    /// A frame stands in host memory, and its descriptor says so.
    std::function<void()> on_report;

private:
    struct frame {
        std::vector<std::uint8_t> bytes;
        sim::picoseconds arrived;
    };

    void arrived(std::span<const std::uint8_t> bytes);
    void begin();
    void done_with_front();
    void on_done(bus::job&, bus::job_status) override;

    steps& when_;
    bus::master& master_;
    descriptor_ring& ring_;
    std::deque<frame> fifo_;
    occupancy used_;  ///< bytes of the FIFO

    bool starting_ = false;
    bool writing_ = false;
    std::uint64_t start_edge_ = 0;
    std::uint32_t number_ = 0;  ///< of the descriptor in work
    sim::picoseconds began_ = 0;
    bus::job job_;
};

}  // namespace vinic::nic::ethernet
