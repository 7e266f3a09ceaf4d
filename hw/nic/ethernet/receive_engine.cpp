// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/ethernet/receive_engine.h"

#include "hw/nic/bytes.h"
#include "hw/sim/error.h"

namespace vinic::nic::ethernet {

using namespace abi::ethernet;

receive_engine::receive_engine(const sc_core::sc_module_name& name, steps& when, bus::master& master,
                               descriptor_ring& ring, mac& from)
    : sim::module(name),
      fifo_bytes(*this, {.name = "fifo_bytes",
                         .unit = "bytes",
                         .value = 32'768,
                         .min = 2'048,
                         .max = 1'048'576,
                         .help = "receive FIFO; a frame for which it has no room is lost"}),
      start_clocks(*this, {.name = "start_clocks",
                           .unit = "clocks",
                           .value = 8,
                           .min = 1,
                           .max = 1000,
                           .help = "from a whole frame in the FIFO to the request on the bus, bus clocks"}),
      bytes_written(*this, "bytes_written", "bytes of frames written into host memory"),
      overruns(*this, "overruns", "frames lost: no room in the FIFO"),
      too_long(*this, "too_long", "frames dropped: longer than the buffer of their descriptor"),
      fifo_probe(*this, "fifo", 24, "bytes of frames in the FIFO"),
      wait_probe(*this, "wait", "a frame in the FIFO: from its end on the wire to the request on the bus"),
      data_probe(*this, "data", "a frame into host memory: from the request to the last byte"),
      when_(when),
      master_(master),
      ring_(ring) {
    from.on_frame = [this](std::span<const std::uint8_t> bytes) { arrived(bytes); };
}

void receive_engine::arrived(std::span<const std::uint8_t> bytes) {
    if (used_.seen() + bytes.size() > fifo_bytes) return overruns.add();
    fifo_.push_back({{bytes.begin(), bytes.end()}, sim::now()});
    used_.add(bytes.size());
    fifo_probe.set(used_.held());
    when_.soon();
}

void receive_engine::step() {
    if (writing_) return;
    if (!starting_) {
        if (fifo_.empty() || !steps::before(fifo_.front().arrived) || !ring_.available()) return;
        starting_ = true;
        start_edge_ = when_.edge() + start_clocks;
        return when_.at(start_edge_);
    }
    if (start_edge_ <= when_.edge()) begin();
}

void receive_engine::begin() {
    frame& f = fifo_.front();
    const descriptor room = ring_.front();
    number_ = ring_.take();
    starting_ = false;
    const bool fits = f.bytes.size() <= room.length;
    wait_probe.report(f.arrived, sim::now(), "wait", {{"number", number_}, {"bytes", f.bytes.size()}});
    if (fits) {
        writing_ = true;
        began_ = sim::now();
        job_ = {.what = bus::job::kind::write, .address = room.address, .bytes = f.bytes, .client = this};
        master_.start(job_);
    } else {
        too_long.add();
    }
    std::vector<std::uint8_t> result(written_back_bytes);
    store_little(result.data(), static_cast<std::uint32_t>(f.bytes.size()));
    store_little(result.data() + (status_offset - written_back_offset), fits ? DONE : DONE | TOO_LONG);
    ring_.write_back(number_, written_back_offset, std::move(result), [this] { on_report(); });
    if (!fits) done_with_front();
}

void receive_engine::on_done(bus::job& what, bus::job_status status) {
    if (status != bus::job_status::done)
        throw sim::model_error(name(), fmt::format("no memory answers at {:#x}", what.address));
    bytes_written.add(what.bytes.size());
    data_probe.report(began_, sim::now(), "data", {{"number", number_}, {"bytes", what.bytes.size()}});
    writing_ = false;
    done_with_front();
}

void receive_engine::done_with_front() {
    used_.free(fifo_.front().bytes.size());
    fifo_probe.set(used_.held());
    fifo_.pop_front();
    when_.soon();
}

}  // namespace vinic::nic::ethernet
