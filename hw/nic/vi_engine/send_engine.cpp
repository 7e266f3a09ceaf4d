// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/send_engine.h"

#include <algorithm>

#include "hw/sim/error.h"

namespace vinic::nic {

send_engine::send_engine(const sc_core::sc_module_name& name, sequencer& order, framing& frames)
    : module(name),
      start_clocks(*this,
                   {.name = "start_clocks",
                    .unit = "clocks",
                    .value = 2,
                    .max = 1000,
                    .help = "from a packet that is ready to its first byte offered to the link, engine "
                            "clocks"}),
      loopback_clocks(*this,
                      {.name = "loopback_clocks",
                       .unit = "clocks",
                       .value = 8,
                       .max = 100'000,
                       .help = "a packet to the card itself, from send to receive buffer, engine clocks"}),
      cut_through_bytes(*this,
                        {.name = "cut_through_bytes",
                         .unit = "bytes",
                         .value = 0,
                         .max = 65536,
                         .help = "a packet starts when so much of its payload is on the card; 0: all of "
                                 "it (store and forward)"}),
      sequencer_(order),
      framing_(frames),
      added_(order),
      sent_(order),
      machine_(order.start(rank::transmit, [this] { return run(); })) {
    if (cut_through_bytes != 0 && frames.what() == framing::kind::ethernet)
        throw sim::input_error("{}: an Ethernet frame cannot wait on the wire: cut_through_bytes must be 0",
                               this->name());
}

void send_engine::put(std::shared_ptr<outgoing_packet> what) {
    queue_.push_back(std::move(what));
    added_.notify();
}

void send_engine::on_sent() {
    const on_wire first = std::move(on_wire_.front());
    on_wire_.pop_front();
    const sim::picoseconds over = sim::now() + framing_.gap_ps;
    not_before_ = sequencer_.domain().edge_at_or_after(over);
    part.report(first.began, sim::now(), "last part",
                {{"address", first.what->number}, {"bytes", first.bytes}});
    released(*first.what);
    sent_.notify();
}

/// Enough of the payload is here.
step<bool> send_engine::ready(outgoing_packet& what) {
    const std::size_t enough = cut_through_bytes == 0 || what.loopback || what.is_void()
                                   ? what.payload.size()
                                   : std::min<std::size_t>(cut_through_bytes, what.payload.size());
    for (host_read& one : what.reads)
        while (!one.done() && (enough == what.payload.size() || what.arrived() < enough))
            co_await one.progress.changed();
    co_return true;
}

/// One packet may wait behind the one on the wire, unless there must be a gap.
step<bool> send_engine::room() {
    const std::size_t at_once = framing_.gap_ps == 0 ? 2 : 1;
    while (on_wire_.size() >= at_once) co_await sent_.changed();
    if (sequencer_.now() < not_before_) co_await sequencer_.clocks(not_before_ - sequencer_.now());
    co_return true;
}

machine send_engine::run() {
    for (;;) {
        while (queue_.empty()) co_await added_.changed();
        const std::shared_ptr<outgoing_packet> next = queue_.front();
        queue_.pop_front();
        co_await ready(*next);
        co_await sequencer_.clocks(next->loopback ? loopback_clocks : start_clocks);
        if (!next->loopback && !next->is_void()) co_await room();
        if (next->is_void()) {
            co_await ready(*next);
            dropped.add();
            released(*next);
        } else if (next->loopback) {
            co_await loop(*next);
            left(*next);
            released(*next);
        } else {
            co_await transmit(next);
        }
    }
}

/// Once its first byte is out, a packet is sent to its end.
step<bool> send_engine::transmit(std::shared_ptr<outgoing_packet> what) {
    framing::writer frame = framing_.begin(what->head.header.destination_vi);
    std::vector<std::uint8_t> contents = what->head.encode();
    std::vector<std::uint8_t> first = what->route;
    const std::vector<std::uint8_t> prefix = framing_.prefix();
    first.insert(first.end(), prefix.begin(), prefix.end());
    on_wire_.push_back({what, sim::now(), 0});
    std::size_t sent = 0;
    for (bool begins = true; begins || sent < what->payload.size(); begins = false) {
        std::size_t here = what->arrived();
        while (!begins && here == sent) {
            for (host_read& one : what->reads)
                if (!one.done()) {
                    co_await one.progress.changed();
                    break;
                }
            here = what->arrived();
        }
        const bool last = here == what->payload.size();
        contents.insert(contents.end(), what->payload.begin() + static_cast<std::ptrdiff_t>(sent),
                        what->payload.begin() + static_cast<std::ptrdiff_t>(here));
        const std::vector<std::uint8_t> more = frame.put(contents, last);
        first.insert(first.end(), more.begin(), more.end());
        if (begins && packet.watched()) {
            std::vector<std::uint8_t> shown = what->route;
            shown.insert(shown.end(), contents.begin(), contents.end());
            packet.report(sim::now(), shown, last ? "last part" : "part",
                          {{"address", what->number}, {"bytes", shown.size()}});
        }
        on_wire_.back().bytes += first.size();
        bytes.add(first.size());
        if (last || !first.empty()) port_->send(first, last);
        first.clear();
        contents.clear();
        sent = here;
        if (last) break;
    }
    packets.add();
    framing_.framed.add(on_wire_.back().bytes - what->head.bytes() - what->payload.size());
    left(*what);
    co_return true;
}

}  // namespace vinic::nic
