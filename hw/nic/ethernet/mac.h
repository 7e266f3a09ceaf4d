// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hw/link/ethernet_frame.h"
#include "hw/link/port.h"
#include "hw/sim/module.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic::ethernet {

/// The medium access control of a full-duplex card (IEEE 802.3): puts preamble, padding and FCS around what
/// is to be sent, and lets through what comes whole and for this station. The inter-frame gap is the link's.
class mac : public sim::module, private link::port_client {
public:
    sim::counter<sim::unit::packets> frames_sent;
    sim::counter<sim::unit::packets> frames_received;
    sim::counter<sim::unit::packets> frames_damaged;
    sim::counter<sim::unit::packets> frames_for_others;
    sim::counter<sim::unit::events> underruns;

    sim::packet_probe sent_probe;
    sim::packet_probe received_probe;

    explicit mac(const sc_core::sc_module_name& name);

    link::port_client& client() { return *this; }
    void bind(link::port& to) { link_ = &to; }
    void set_address(const link::ethernet::address& a) { address_ = a; }
    /// Frames that come in before are dropped.
    void enable_receive(bool yes) { receiving_ = yes; }

    /// Begins a frame (destination to payload) with its first bytes; `number` is for those who watch: that of
    /// its first descriptor.
    void begin(std::span<const std::uint8_t> bytes, std::uint32_t number);
    /// Further bytes. False when the wire has run out of them: the frame ended with a wrong FCS.
    bool more(std::span<const std::uint8_t> bytes);
    /// That was the last byte; false as above.
    bool end();

    /// The frame has left, and the next can be begun; whether whole.
    std::function<void(bool whole)> on_sent_frame;
    /// A frame has come: destination to payload, padding included.
    std::function<void(std::span<const std::uint8_t>)> on_frame;

private:
    void on_head(const link::packet_ptr&) override { link_->take(link::never); }
    void on_take_limit() override {}
    void on_tail(const link::reception& came) override;
    void on_part_sent() override {}
    void on_sent() override;
    bool too_late();

    link::port* link_ = nullptr;
    link::ethernet::address address_{};
    bool receiving_ = false;
    std::vector<std::uint8_t> frame_;  ///< being sent: what its FCS covers
    bool broken_ = false;
};

}  // namespace vinic::nic::ethernet
