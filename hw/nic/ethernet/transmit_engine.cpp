// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/ethernet/transmit_engine.h"

#include "hw/sim/error.h"

namespace vinic::nic::ethernet {

using namespace abi::ethernet;

transmit_engine::transmit_engine(const sc_core::sc_module_name& name, steps& when, bus::master& master,
                                 descriptor_ring& ring, mac& to)
    : sim::module(name),
      fifo_bytes(*this, {.name = "fifo_bytes",
                         .unit = "bytes",
                         .value = 16'384,
                         .min = 2'048,
                         .max = 1'048'576,
                         .help = "transmit FIFO"}),
      threshold_bytes(*this, {.name = "threshold_bytes",
                              .unit = "bytes",
                              .value = 0,
                              .min = 0,
                              .max = 16'384,
                              .help = "a frame goes on the wire when so many bytes of it are in the FIFO; 0: "
                                      "when it is there as a whole (store and forward)"}),
      descriptor_clocks(*this,
                        {.name = "descriptor_clocks",
                         .unit = "clocks",
                         .value = 4,
                         .min = 1,
                         .max = 1000,
                         .help = "from a descriptor on the card to the request for its bytes, bus clocks"}),
      start_clocks(*this, {.name = "start_clocks",
                           .unit = "clocks",
                           .value = 8,
                           .min = 1,
                           .max = 1000,
                           .help = "from the FIFO's readiness to the preamble, bus clocks"}),
      bytes_read(*this, "bytes_read", "bytes of frames read from host memory"),
      fifo_probe(*this, "fifo", 24, "bytes of the FIFO that are used or reserved"),
      part_probe(*this, "part", "the bytes of a descriptor: from the request to the last one in the FIFO"),
      frame_probe(*this, "frame", "a frame on the wire: from the preamble to the gap"),
      when_(when),
      master_(master),
      ring_(ring),
      mac_(to) {
    mac_.on_sent_frame = [this](bool whole) {
        left_at_ = sim::now();
        whole_ = whole;
        const frame& f = fifo_.front();
        frame_probe.report(began_, sim::now(), whole ? "frame" : "underrun",
                           {{"number", f.last}, {"bytes", f.bytes.size()}});
        when_.soon();
    };
}

void transmit_engine::step() {
    gather();
    feed();
}

void transmit_engine::gather() {
    if (taking_ && !reading_ && part_edge_ <= when_.edge()) start_part();
    if (taking_ || !ring_.available()) return;
    const std::uint64_t needed = ring_.front().length;
    const bool alone = fifo_.empty() || (fifo_.size() == 1 && !fifo_.front().complete);
    if (used_ + needed > fifo_bytes && !alone) return;
    part_ = ring_.front();
    part_number_ = ring_.take();
    taking_ = true;
    used_ += needed;
    fifo_probe.set(used_);
    part_edge_ = when_.edge() + descriptor_clocks;
    when_.at(part_edge_);
}

void transmit_engine::start_part() {
    if (part_.length == 0) throw sim::model_error(name(), "a descriptor without bytes");
    if (fifo_.empty() || fifo_.back().complete) fifo_.push_back({});
    part_bytes_.assign(part_.length, 0);
    part_job_ = {
        .what = bus::job::kind::read, .address = part_.address, .bytes = part_bytes_, .client = this};
    reading_ = true;
    part_began_ = sim::now();
    master_.start(part_job_);
}

/// Bursts of one descriptor come in order: one read is under way at a time.
void transmit_engine::on_arrival(bus::job&, std::uint64_t offset, std::uint64_t count) {
    frame& f = fifo_.back();
    const auto from = part_bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
    f.bytes.insert(f.bytes.end(), from, from + static_cast<std::ptrdiff_t>(count));
    bytes_read.add(count);
    when_.soon();
}

void transmit_engine::on_done(bus::job&, bus::job_status status) {
    if (status != bus::job_status::done)
        throw sim::model_error(name(), fmt::format("no memory answers at {:#x}", part_.address));
    frame& f = fifo_.back();
    f.last = part_number_;
    f.report = (part_.flags & REPORT) != 0;
    f.complete = (part_.flags & LAST) != 0;
    part_probe.report(part_began_, sim::now(), "part", {{"number", part_number_}, {"bytes", part_.length}});
    taking_ = reading_ = false;
    when_.soon();
}

bool transmit_engine::can_begin(const frame& f) const {
    if (f.complete) return true;
    return threshold_bytes != 0 && !f.only_whole && f.bytes.size() >= threshold_bytes;
}

void transmit_engine::feed() {
    if (left_at_ != sim::never && steps::before(left_at_)) finish_frame();
    if (fifo_.empty()) return;
    frame& f = fifo_.front();
    if (state_ == sending::idle && can_begin(f)) {
        state_ = sending::starting;
        start_edge_ = when_.edge() + start_clocks;
        return when_.at(start_edge_);
    }
    if (state_ == sending::starting && start_edge_ <= when_.edge()) {
        state_ = sending::under_way;
        began_ = sim::now();
        mac_.begin(f.bytes, f.last);
        f.handed = f.bytes.size();
    }
    if (state_ != sending::under_way) return;
    const std::span<const std::uint8_t> fresh = std::span(f.bytes).subspan(f.handed);
    bool in_time = fresh.empty() || mac_.more(fresh);
    f.handed = f.bytes.size();
    if (in_time && f.complete) {
        in_time = mac_.end();
        state_ = sending::ended;
    }
    if (!in_time) state_ = sending::ended;
}

/// The frame has left. One that was broken off stays at the front.
void transmit_engine::finish_frame() {
    left_at_ = sim::never;
    state_ = sending::idle;
    frame& f = fifo_.front();
    if (!whole_) {
        f.only_whole = true;
        f.handed = 0;
        return;
    }
    used_ -= f.bytes.size();
    fifo_probe.set(used_);
    if (f.report) ring_.write_back(f.last, status_offset, {DONE, 0, 0, 0}, [this] { on_report(); });
    fifo_.pop_front();
    when_.soon();
}

}  // namespace vinic::nic::ethernet
