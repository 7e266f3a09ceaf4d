// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "hw/bus/master.h"
#include "hw/nic/ethernet/descriptor_ring.h"
#include "hw/nic/ethernet/mac.h"
#include "hw/nic/ethernet/steps.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic::ethernet {

/// Gathers frames from host memory, descriptor by descriptor, into the transmit FIFO and gives them to the
/// MAC: whole, or as soon as `threshold_bytes` of one are there. A frame that the bus brings too slowly for
/// the wire is sent again when it is whole.
class transmit_engine : public sim::module, private bus::job_client {
public:
    sim::parameter<std::uint64_t> fifo_bytes;
    sim::parameter<std::uint64_t> threshold_bytes;
    sim::parameter<std::uint64_t> descriptor_clocks;
    sim::parameter<std::uint64_t> start_clocks;

    sim::counter<sim::unit::bytes> bytes_read;

    sim::value_probe fifo_probe;
    sim::span_probe part_probe;
    sim::span_probe frame_probe;

    transmit_engine(const sc_core::sc_module_name& name, steps& when, bus::master& master,
                    descriptor_ring& ring, mac& to);

    void step();
    /// A frame that asked for it has left, and its descriptor says so.
    std::function<void()> on_report;

private:
    struct frame {
        std::vector<std::uint8_t> bytes;
        std::uint32_t last = 0;  ///< number of its last descriptor
        bool report = false;
        bool complete = false;
        bool only_whole = false;  ///< the wire has outrun it once
        std::size_t handed = 0;   ///< bytes that the MAC has
    };
    enum class sending { idle, starting, under_way, ended };

    void gather();
    void start_part();
    void feed();
    bool can_begin(const frame& f) const;
    void finish_frame();
    void on_arrival(bus::job&, std::uint64_t offset, std::uint64_t count) override;
    void on_done(bus::job&, bus::job_status) override;

    steps& when_;
    bus::master& master_;
    descriptor_ring& ring_;
    mac& mac_;
    std::deque<frame> fifo_;
    std::uint64_t used_ = 0;  ///< bytes of the FIFO, reserved ones included

    abi::ethernet::descriptor part_{};
    std::uint32_t part_number_ = 0;
    bool taking_ = false;   ///< a descriptor is being worked on
    bool reading_ = false;  ///< ... and the bus reads
    std::uint64_t part_edge_ = 0;
    sim::picoseconds part_began_ = 0;
    std::vector<std::uint8_t> part_bytes_;
    bus::job part_job_;

    sending state_ = sending::idle;
    std::uint64_t start_edge_ = 0;
    sim::picoseconds began_ = 0;
    sim::picoseconds left_at_ = sim::never;  ///< the frame has left the MAC: known from the next step on
    bool whole_ = true;
};

}  // namespace vinic::nic::ethernet
