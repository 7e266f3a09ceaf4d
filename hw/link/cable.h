// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "hw/link/protocol.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/random.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::link {

/// A full-duplex cable between the ports A and B. It delays, damages, loses and watches; it schedules
/// nothing. The parameters of all cables can be set as `link.NAME`.
class cable : public sim::module, private endpoint {
public:
    target_socket from_a;
    initiator_socket to_b;
    target_socket from_b;
    initiator_socket to_a;

    sim::parameter<std::uint64_t> byte_ps;
    sim::parameter<std::uint64_t> length_mm;
    sim::parameter<std::uint64_t> delay_fs_per_mm;
    sim::parameter<std::uint64_t> fixed_delay_ps;
    sim::parameter<bool> crc8;
    sim::parameter<std::uint64_t> gap_bytes;
    sim::parameter<bool> flow_control;
    sim::parameter<double> bit_error_rate;
    sim::parameter<double> drop_rate;
    sim::parameter<bool> free;

    /// One direction of the cable: statistics and probes as `ab.packets`, `ba.stop` ...
    struct direction {
        sim::counter<sim::unit::packets> packets;
        sim::counter<sim::unit::bytes> bytes;
        sim::counter<sim::unit::events> bit_errors;
        sim::counter<sim::unit::packets> dropped;
        sim::counter<sim::unit::events> stops;
        sim::utilisation busy;

        sim::packet_probe passing;
        sim::span_probe transmission;
        sim::value_probe state;
        sim::value_probe stop;

        direction(const sim::module& owner, const std::string& prefix);
    };
    direction ab;
    direction ba;

    explicit cable(const sc_core::sc_module_name& name);

    picoseconds delay_ps() const { return delay_; }

private:
    /// What the cable knows about the packet that is under way in one direction.
    struct flight {
        direction& seen;
        initiator_socket& onward;
        target_socket& back;
        sim::random_stream random;
        std::uint64_t bits_to_error = 0;  ///< whole bits before the next error
        std::uint64_t bytes_drawn = 0;    ///< bytes of this packet whose errors are decided
        bool dropping = false;
        picoseconds begun = 0;
    };

    void start_of_simulation() override;
    void forward(unsigned side, transfer& message, phase what, picoseconds in) override;
    void backward(unsigned side, transfer& message, phase what, picoseconds in) override;
    void begin(flight& on, picoseconds now);
    void end(flight& on, const transfer& message, picoseconds now);
    void damage(flight& on, const transfer& message);
    std::uint64_t draw_distance(sim::random_stream& random) const;
    sim::random_stream random_of(const char* which) const;

    std::array<forward_adapter, 2> forward_adapters_;
    std::array<backward_adapter, 2> backward_adapters_;
    picoseconds byte_;
    picoseconds delay_;
    std::array<flight, 2> flights_;
};

}  // namespace vinic::link
