// SPDX-License-Identifier: Apache-2.0

// M-VIA: packets out. Whoever brings something that a VI waited for (a descriptor, an acknowledgement, room
// on the ring) sends as much as can be sent; another one meanwhile leaves it to him.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "firmware/abi/vi_descriptor.h"
#include "firmware/abi/wire_format.h"
#include "host_driver/byte_order.h"
#include "host_driver/mvia/mvia_driver.h"
#include "hw/sim/duration.h"
#include "hw/sim/time.h"

namespace vinic::driver {

namespace {

std::uint32_t operation_of(const mvia_descriptor& d) {
    const unsigned op = d.control & abi::vi_op_mask;
    if (op == abi::vi_op_rdma_write) return abi::vi_status_op_rdma_write;
    return op == abi::vi_op_rdma_read ? abi::vi_status_op_rdma_read : abi::vi_status_op_send;
}

/// Sequence numbers wrap.
std::int32_t distance(std::uint32_t from, std::uint32_t to) { return static_cast<std::int32_t>(to - from); }

std::size_t pages_in(std::uint32_t bytes) { return bytes == 0 ? 0 : (bytes - 1) / host::page_bytes + 1; }

}  // namespace

void mvia_driver::pump(host::context& on, const vi_ptr& of) {
    if (of->pumping) return;
    of->pumping = true;
    while (send_next(on, of)) {
    }
    of->pumping = false;
    finish_sends(on, of);
    plan();
}

/// One packet; false when there is none to send, or something is missing.
bool mvia_driver::send_next(host::context& on, const vi_ptr& of) {
    if (of->state != vi_state::connected || of->wants_room) return false;
    if (std::exchange(of->go_back, false)) go_back(*of);
    if (of->unsent.empty()) return false;
    const send_ptr what = of->unsent.front();
    if (what->descriptor.error != 0) return fail_send(on, of, what);
    const bool closed = of->reliable() && of->next_sequence - of->unacknowledged >= window_packets;
    return !closed && send_packet(on, of, what);
}

/// A descriptor in error completes when those before it have. On an unreliable connection the next one
/// follows; a reliable one breaks.
bool mvia_driver::fail_send(host::context& on, const vi_ptr& of, const send_ptr& what) {
    if (!of->unfinished.empty()) return false;
    const std::uint32_t epoch = of->epoch;
    on.compute(complete_clocks);
    if (of->epoch != epoch) return true;
    of->unsent.pop_front();
    complete(*of, false, what->descriptor.error | operation_of(what->descriptor), what->descriptor.length);
    if (!of->reliable()) return true;
    leave(*of, vi_state::error, false);
    sink_->on_vi_error(of->setup.vi);
    return false;
}

/// What stands before the payload of the message's next packet.
std::vector<std::byte> mvia_driver::headers_of(const mvia_vi& of, const mvia_send& what, std::uint32_t offset,
                                               std::uint32_t bytes) const {
    const mvia_descriptor& d = what.descriptor;
    const bool last = what.handed + 1 == what.packets;
    const bool closes = of.reliable() && of.next_sequence + 1 - of.unacknowledged >= window_packets;
    const auto flags =
        static_cast<std::uint8_t>((offset == 0 ? abi::packet_first : 0) | (last ? abi::packet_last : 0) |
                                  ((d.control & abi::vi_control_immediate) != 0 ? abi::packet_immediate : 0) |
                                  (closes ? abi::packet_wants_acknowledge : 0));
    std::vector<std::byte> made = header_of(of, what.rdma ? abi::packet_rdma_write : abi::packet_send, flags,
                                            bytes, of.next_sequence, offset, d.immediate);
    if (!what.rdma) return made;
    const abi::rdma_header target{
        .address_high = big_endian(static_cast<std::uint32_t>(d.remote.address >> 32)),
        .address_low = big_endian(static_cast<std::uint32_t>(d.remote.address)),
        .handle = big_endian(d.remote.handle),
        .reserved = 0};
    const auto raw = std::as_bytes(std::span(&target, 1));
    made.insert(made.end(), raw.begin(), raw.end());
    return made;
}

bool mvia_driver::send_packet(host::context& on, const vi_ptr& of, const send_ptr& what) {
    const sim::picoseconds begin = sim::now();
    const mvia_descriptor& d = what->descriptor;
    const std::uint32_t offset = what->handed * what->payload;
    const std::uint32_t bytes = std::min(what->payload, d.length - offset);
    const std::uint32_t epoch = of->epoch;
    on.compute(packet_clocks + page_clocks * pages_in(bytes));
    if (of->epoch != epoch || of->go_back) return true;
    parts pages;
    if (!gather(*of, *what, offset, bytes, pages)) {
        what->descriptor.error = abi::vi_status_protection_error;
        return true;
    }
    const bool last = what->handed + 1 == what->packets;
    if (!std::exchange(what->started, true)) what->first_sequence = of->next_sequence;
    const std::vector<std::byte> linear = headers_of(*of, *what, offset, bytes);
    of->owed = 0;
    of->acknowledge_at = sim::never;
    send_probe.report(begin, sim::now(), "packet", {{"vi", of->setup.vi}, {"message", what->message}});
    ++what->on_ring;
    const auto number = put(on, of->link.path, linear, pages,
                            [this, of, what](host::context& handler) { frame_left(handler, of, what); });
    if (!number) {
        --what->on_ring;
        of->wants_room = true;
        return false;
    }
    send_probe.report(
        sim::now(), sim::now(), last ? "queued last" : "queued",
        {{"vi", of->setup.vi}, {"message", what->message}, {"number", *number}, {"bytes", d.length}});
    if (of->epoch != epoch) return true;
    ++of->next_sequence;
    if (distance(of->sequence_end, of->next_sequence) > 0)
        of->sequence_end = of->next_sequence;
    else
        packets_sent_again.add();
    if (of->reliable())
        of->retransmit_at = std::min(of->retransmit_at, sim::now() + retransmit_us * sim::microsecond);
    ++what->handed;
    if (last) {
        of->unsent.pop_front();
        of->unfinished.push_back(what);
    }
    return true;
}

/// The memory of a part of a message; false when it is not registered any more.
bool mvia_driver::gather(const mvia_vi& of, const mvia_send& what, std::uint32_t offset, std::uint32_t bytes,
                         parts& into) const {
    for (const auto& s : what.descriptor.segments) {
        if (offset >= s.length) {
            offset -= s.length;
            continue;
        }
        const std::uint32_t piece = std::min(bytes, s.length - offset);
        if (piece == 0) break;
        const region_setup* where = find_region(s.handle, of.setup.attributes.tag, s.address + offset, piece);
        if (!where) return false;
        add_pages(*where, s.address + offset, piece, into);
        bytes -= piece;
        offset = 0;
    }
    return bytes == 0;
}

std::vector<std::byte> mvia_driver::header_of(const mvia_vi& of, std::uint8_t kind, std::uint8_t flags,
                                              std::uint32_t length, std::uint32_t sequence,
                                              std::uint32_t offset, std::uint32_t immediate) const {
    const abi::packet_header header{
        .type = big_endian(abi::packet_type_vi),
        .kind = kind,
        .flags = flags,
        .length = big_endian(static_cast<std::uint16_t>(length)),
        .destination_vi = big_endian(static_cast<std::uint16_t>(of.link.remote_vi)),
        .source_vi = big_endian(static_cast<std::uint16_t>(of.setup.vi)),
        .connection_key = big_endian(of.link.key),
        .sequence = big_endian(sequence),
        .acknowledge = big_endian(of.expected),
        .offset = big_endian(offset),
        .immediate = big_endian(immediate)};
    const auto raw = std::as_bytes(std::span(&header, 1));
    return {raw.begin(), raw.end()};
}

/// On the ring, or, to a VI of the same node, to an interrupt of the kernel's own.
std::optional<std::uint32_t> mvia_driver::put(host::context& on, const route& path,
                                              std::span<const std::byte> linear, const parts& pages,
                                              ethernet_device::sent_handler sent) {
    if (path.loopback) {
        std::vector<std::byte> packet(linear.begin(), linear.end());
        for (const auto& p : pages) {
            packet.resize(packet.size() + p.bytes);
            cpu_.ram().dma_read(p.at, std::span(packet).last(p.bytes));
        }
        packets_sent.add();
        cpu_.post_interrupt(
            [this, packet = std::move(packet), sent = std::move(sent)](host::context& handler) {
                if (sent) sent(handler);
                receive(handler, {.number = 0, .payload = packet, .source = device.address()});
            });
        return 0;
    }
    const auto number = device.transmit(on, path.to, abi::ethertype_vi, linear, pages, std::move(sent));
    if (!number) return number;
    packets_sent.add();
    if (!pages.empty()) {
        last_frame_ = *number;
        any_frame_ = true;
    }
    return number;
}

void mvia_driver::frame_left(host::context& on, const vi_ptr& of, const send_ptr& what) {
    --what->on_ring;
    finish_sends(on, of);
}

bool mvia_driver::can_finish(const mvia_vi& of) const {
    if (of.state != vi_state::connected || of.unfinished.empty()) return false;
    const mvia_send& first = *of.unfinished.front();
    return first.on_ring == 0 && (!of.reliable() || distance(first.end_sequence(), of.unacknowledged) >= 0);
}

void mvia_driver::finish_sends(host::context& on, const vi_ptr& of) {
    bool any = false;
    while (can_finish(*of)) {
        on.compute(complete_clocks);
        if (!can_finish(*of)) break;
        const send_ptr done = of->unfinished.front();
        of->unfinished.pop_front();
        complete(*of, false, operation_of(done->descriptor), done->descriptor.length);
        any = true;
    }
    // One in error may have waited for those before it.
    if (any && !of->unsent.empty()) pump(on, of);
}

/// From the oldest packet that is not acknowledged.
void mvia_driver::go_back(mvia_vi& of) {
    while (!of.unfinished.empty() && distance(of.unacknowledged, of.unfinished.back()->end_sequence()) > 0) {
        of.unsent.push_front(of.unfinished.back());
        of.unfinished.pop_back();
    }
    of.next_sequence = of.unacknowledged;
    bool first = true;
    for (const send_ptr& s : of.unsent) {
        if (!s->started) break;
        s->handed = first ? of.unacknowledged - s->first_sequence : 0;
        first = false;
    }
}

void mvia_driver::acknowledged(host::context& on, const vi_ptr& of, std::uint32_t sequence) {
    const std::int32_t count = distance(of->unacknowledged, sequence);
    if (count <= 0 || distance(sequence, of->sequence_end) < 0) return;
    of->unacknowledged = sequence;
    of->tries = 0;
    const bool all = sequence == of->sequence_end;
    of->retransmit_at = all ? sim::never : sim::now() + retransmit_us * sim::microsecond;
    // What is being sent again has arrived after all.
    if (distance(of->next_sequence, sequence) > 0) of->go_back = true;
    finish_sends(on, of);
    pump(on, of);
}

/// The peer asks for packets again, or tells why the connection is broken.
void mvia_driver::not_acknowledged(host::context& on, const vi_ptr& of, std::uint32_t sequence,
                                   std::uint32_t status) {
    acknowledged(on, of, sequence);
    if (of->state != vi_state::connected) return;
    if (status == 0) {
        of->go_back = true;
        return pump(on, of);
    }
    if (of->setup.attributes.reliability == abi::vi_reliable_reception) {
        break_connection(*of, status & abi::vi_status_error_mask);
        return sink_->on_vi_error(of->setup.vi);
    }
    break_connection(*of, 0);
    sink_->on_error(of->setup.vi, error_code::connection_lost, 0);
}

/// The oldest send says why, the rest is flushed.
void mvia_driver::break_connection(mvia_vi& of, std::uint32_t status) {
    const send_ptr oldest = !of.unfinished.empty()                             ? of.unfinished.front()
                            : !of.unsent.empty() && of.unsent.front()->started ? of.unsent.front()
                                                                               : nullptr;
    if (status != 0 && oldest)
        complete(of, false, status | operation_of(oldest->descriptor), oldest->descriptor.length);
    leave(of, vi_state::error, false);
}

/// The ring has room again.
void mvia_driver::room(host::context& on) {
    left_.wake_all();
    std::vector<vi_ptr> waiting;
    for (const auto& [index, of] : vis_)
        if (of->wants_room) waiting.push_back(of);
    for (const vi_ptr& of : waiting) {
        of->wants_room = false;
        pump(on, of);
    }
}

// --- Time -----------------------------------------------------------------------------------------------

void mvia_driver::plan() {
    if (timer_posted_) return;  // it plans anew when it has been served
    sim::picoseconds next = sim::never;
    for (const auto& [index, of] : vis_) next = std::min({next, of->retransmit_at, of->acknowledge_at});
    if (next == sim::never)
        timer_.cancel();
    else
        timer_.set(std::max(next, sim::now() + 1));
}

void mvia_driver::expired(host::context& on) {
    timer_posted_ = false;
    std::vector<vi_ptr> all;
    for (const auto& [index, of] : vis_) all.push_back(of);
    for (const vi_ptr& of : all) {
        if (of->acknowledge_at <= sim::now()) acknowledge(on, of);
        if (of->retransmit_at <= sim::now()) retransmit(on, of);
    }
    plan();
}

void mvia_driver::retransmit(host::context& on, const vi_ptr& of) {
    timeouts.add();
    of->retransmit_at = sim::never;
    if (of->state != vi_state::connected) return;
    if (++of->tries > retransmit_tries) {
        break_connection(*of, abi::vi_status_transport_error);
        return sink_->on_transport_lost(of->setup.vi);
    }
    of->retransmit_at = sim::now() + retransmit_us * sim::microsecond;
    of->go_back = true;
    pump(on, of);
}

}  // namespace vinic::driver
