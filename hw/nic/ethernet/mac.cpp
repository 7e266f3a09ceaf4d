// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/ethernet/mac.h"

#include <algorithm>

namespace vinic::nic::ethernet {

namespace frame = link::ethernet;

mac::mac(const sc_core::sc_module_name& name)
    : sim::module(name),
      frames_sent(*this, "frames_sent", "frames sent whole"),
      frames_received(*this, "frames_received", "whole frames for this station"),
      frames_damaged(*this, "frames_damaged", "received frames dropped: wrong FCS, or too short"),
      frames_for_others(*this, "frames_for_others", "received frames dropped: for another station"),
      underruns(*this, "underruns", "frames broken off: the wire ran out of bytes"),
      sent_probe(*this, "sent",
                 "a frame goes on the wire, as far as it is known; padding and FCS come later"),
      received_probe(*this, "received", "a whole frame for this station, without FCS, when it has come") {}

void mac::begin(std::span<const std::uint8_t> bytes, std::uint32_t number) {
    frame_.assign(bytes.begin(), bytes.end());
    broken_ = false;
    sent_probe.report(sim::now(), bytes, {}, {{"first", number}});
    link_->send(frame::preamble, false);
    link_->send(bytes, false);
}

/// Whether the last byte has left and nothing was there to follow it.
bool mac::too_late() {
    const link::schedule& wire = link_->sending();
    const sim::picoseconds last = wire.time_of(wire.end() - 1);
    if (broken_ || last == sim::never || sim::now() <= last + link_->byte_time()) return broken_;
    broken_ = true;
    underruns.add();
    auto wrong = frame::fcs_of(frame_);
    for (std::uint8_t& b : wrong) b = static_cast<std::uint8_t>(~b);
    link_->send(wrong, true);
    return true;
}

bool mac::more(std::span<const std::uint8_t> bytes) {
    if (too_late()) return false;
    frame_.insert(frame_.end(), bytes.begin(), bytes.end());
    link_->send(bytes, false);
    return true;
}

bool mac::end() {
    if (too_late()) return false;
    constexpr std::size_t least = frame::frame_min_bytes - frame::fcs_bytes;
    std::vector<std::uint8_t> rest(least - std::min(frame_.size(), least), 0);
    frame_.insert(frame_.end(), rest.begin(), rest.end());
    const auto fcs = frame::fcs_of(frame_);
    rest.insert(rest.end(), fcs.begin(), fcs.end());
    link_->send(rest, true);
    return true;
}

void mac::on_sent() {
    if (!broken_) frames_sent.add();
    on_sent_frame(!broken_);
}

void mac::on_tail(const link::reception& came) {
    if (!receiving_) return;
    if (!frame::is_whole(came.bytes)) return frames_damaged.add();
    const auto contents = frame::contents(came.bytes);
    const frame::address to = frame::destination_of(contents);
    if (to != address_ && to != frame::broadcast) return frames_for_others.add();
    frames_received.add();
    received_probe.report(sim::now(), contents);
    on_frame(contents);
}

}  // namespace vinic::nic::ethernet
