// SPDX-License-Identifier: Apache-2.0

// M-VIA: packets in. All of it runs in the interrupt handler, one packet after the other.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "firmware/abi/vi_descriptor.h"
#include "host_driver/byte_order.h"
#include "host_driver/mvia/mvia_driver.h"
#include "hw/sim/duration.h"
#include "hw/sim/time.h"

namespace vinic::driver {

namespace {

bool has(const abi::packet_header& h, abi::packet_flag f) { return (h.flags & f) != 0; }

/// Whether the message has a receive descriptor, taken with the first or the last packet.
bool completes_receive(const abi::packet_header& h) {
    return h.kind == abi::packet_send || has(h, abi::packet_immediate);
}

abi::packet_header parse(std::span<const std::byte> packet) {
    abi::packet_header h;
    std::memcpy(&h, packet.data(), sizeof h);
    for (std::uint32_t* word :
         {&h.type, &h.connection_key, &h.sequence, &h.acknowledge, &h.offset, &h.immediate})
        *word = big_endian(*word);
    for (std::uint16_t* half : {&h.length, &h.destination_vi, &h.source_vi}) *half = big_endian(*half);
    return h;
}

}  // namespace

void mvia_driver::receive(host::context& on, const ethernet_device::frame& frame) {
    const sim::picoseconds begin = sim::now();
    packets_received.add();
    on.compute(receive_clocks);
    if (frame.payload.size() < sizeof(abi::packet_header)) return packets_dropped.add();
    const abi::packet_header h = parse(frame.payload);
    const std::span<const std::byte> body = frame.payload.subspan(sizeof h);
    if (h.type != abi::packet_type_vi || h.length > body.size()) return packets_dropped.add();
    if (h.kind == abi::packet_control) return sink_->on_control_packet(body.first(h.length));
    const auto found = vis_.find(h.destination_vi);
    if (found == vis_.end()) return packets_dropped.add();
    const vi_ptr of = found->second;
    const bool ours = of->link.key == h.connection_key && of->link.remote_vi == h.source_vi &&
                      (of->link.path.loopback || of->link.path.to == frame.source);
    if (!ours) return packets_dropped.add();
    if (of->state != vi_state::connected) {
        packets_dropped.add();
        if (of->state == vi_state::error && of->final_status != 0 && h.kind <= abi::packet_rdma_write)
            acknowledge(on, of);
        return;
    }
    receive_probe.report(begin, sim::now(), "packet", {{"number", frame.number}, {"vi", of->setup.vi}});
    if (h.kind == abi::packet_send || h.kind == abi::packet_rdma_write)
        return receive_data(on, of, h, body, frame.number);
    if (!of->reliable()) return;
    on.compute(acknowledge_clocks);
    if (h.kind == abi::packet_acknowledge) acknowledged(on, of, h.acknowledge);
    if (h.kind == abi::packet_not_acknowledge) not_acknowledged(on, of, h.acknowledge, h.immediate);
}

void mvia_driver::receive_data(host::context& on, const vi_ptr& of, const abi::packet_header& h,
                               std::span<const std::byte> body, std::uint32_t number) {
    if (of->reliable()) acknowledged(on, of, h.acknowledge);
    if (of->state != vi_state::connected || !accept_sequence(on, of, h.sequence))
        return packets_dropped.add();
    auto& message = of->message;
    const bool first = has(h, abi::packet_first), last = has(h, abi::packet_last);
    if (first) {
        if (message.kind != 0 && !message.skipped) message_lost(*of);
        message = {.kind = h.kind};
    } else if (message.kind != h.kind || message.skipped || message.bytes != h.offset) {
        ++of->expected;
        return packets_dropped.add();
    }
    const bool consumes = h.kind == abi::packet_send ? first : last && has(h, abi::packet_immediate);
    if (consumes && of->receives.empty()) {
        message.skipped = true;
        if (of->reliable())
            refuse(*of, abi::vi_status_remote_descriptor_error);
        else
            ++of->expected;
        if (of->final_status != 0) acknowledge(on, of);
        return sink_->on_error(of->setup.vi, error_code::receive_queue_empty, 0);
    }
    const std::uint32_t epoch = of->epoch;
    sim::picoseconds begin = sim::now();
    on.compute(place_clocks);
    if (of->epoch != epoch) return;
    if (h.kind == abi::packet_send && first && of->receives.front().error != 0)
        message_failed(*of, h, of->receives.front().error);
    parts pages;
    if (of->epoch == epoch && message.status == 0)
        if (const std::uint32_t error = find_place(*of, h, body, pages)) message_failed(*of, h, error);
    if (of->epoch != epoch) return void(acknowledge(on, of));
    receive_probe.report(begin, sim::now(), "place", {{"number", number}, {"vi", of->setup.vi}});
    begin = sim::now();
    if (message.status == 0 && h.length != 0) {
        on.copy(h.length);
        if (of->epoch != epoch) return;
        std::span<const std::byte> rest = body.first(h.length);
        for (const auto& p : pages) {
            cpu_.ram().write_at(p.at, rest.first(p.bytes), sim::now() + 1);
            rest = rest.subspan(p.bytes);
        }
        receive_probe.report(begin, sim::now(), "copy", {{"number", number}, {"bytes", h.length}});
        begin = sim::now();
    }
    if (message.status != 0 && of->reliable() && last) {
        // An RDMA write with immediate data that could not be placed: its receive descriptor says so.
        complete_receive(*of, h, message.status | abi::vi_status_op_remote_rdma_write, number);
        refuse(*of, abi::vi_status_rdma_protection_error);
        sink_->on_vi_error(of->setup.vi);
        return void(acknowledge(on, of));
    }
    message.bytes += h.length;
    ++of->expected;
    of->gap_told = false;
    if (last && completes_receive(h)) {
        on.compute(complete_clocks);
        if (of->epoch != epoch) return;
        const std::uint32_t operation =
            h.kind == abi::packet_send ? abi::vi_status_op_receive : abi::vi_status_op_remote_rdma_write;
        receive_probe.report(begin, sim::now(), "complete", {{"number", number}, {"vi", of->setup.vi}});
        complete_receive(*of, h, message.status | operation, number);
    }
    if (last) message.kind = 0;
    if (!of->reliable()) return;
    ++of->owed;
    if (has(h, abi::packet_wants_acknowledge) || of->owed >= acknowledge_packets)
        acknowledge(on, of);
    else
        owe(on, of);
}

/// False: the packet is not the next one.
bool mvia_driver::accept_sequence(host::context& on, const vi_ptr& of, std::uint32_t sequence) {
    const auto ahead = static_cast<std::int32_t>(sequence - of->expected);
    if (ahead == 0) return true;
    if (!of->reliable()) {
        if (ahead < 0) return false;
        message_lost(*of);
        of->expected = sequence;
        return true;
    }
    // Packets behind a gap bring one request for what is missing; an old one, whose acknowledgement was lost,
    // another acknowledgement.
    if (ahead > 0 && std::exchange(of->gap_told, true)) return false;
    acknowledge(on, of);
    return false;
}

/// Where the payload goes; a vi_status when it may not. `body` loses what stands before the payload.
std::uint32_t mvia_driver::find_place(const mvia_vi& of, const abi::packet_header& h,
                                      std::span<const std::byte>& body, parts& into) const {
    const protection_tag tag = of.setup.attributes.tag;
    if (h.kind == abi::packet_rdma_write) {
        abi::rdma_header target;
        if (body.size() < sizeof target + h.length) return abi::vi_status_rdma_protection_error;
        std::memcpy(&target, body.data(), sizeof target);
        body = body.subspan(sizeof target);
        if (h.length == 0) return 0;
        const std::uint64_t begin =
            (std::uint64_t{big_endian(target.address_high)} << 32 | big_endian(target.address_low)) +
            h.offset;
        const region_setup* where = find_region(big_endian(target.handle), tag, begin, h.length);
        if (!where || !where->attributes.rdma_write || !of.setup.attributes.rdma_write)
            return abi::vi_status_rdma_protection_error;
        add_pages(*where, begin, h.length, into);
        return 0;
    }
    std::uint32_t offset = of.message.bytes, left = h.length;
    for (const auto& s : of.receives.front().segments) {
        if (left == 0) break;
        if (offset >= s.length) {
            offset -= s.length;
            continue;
        }
        const std::uint32_t piece = std::min(left, s.length - offset);
        const region_setup* where = find_region(s.handle, tag, s.address + offset, piece);
        if (!where) return abi::vi_status_protection_error;
        add_pages(*where, s.address + offset, piece, into);
        left -= piece;
        offset = 0;
    }
    return left == 0 ? 0 : std::uint32_t{abi::vi_status_length_error};
}

/// `status` is for the message's receive descriptor, if it has one. A reliable connection breaks.
void mvia_driver::message_failed(mvia_vi& of, const abi::packet_header& h, std::uint32_t status) {
    const bool has_descriptor = h.kind == abi::packet_send;
    const bool will_have_one = !has_descriptor && has(h, abi::packet_immediate);
    of.message.status = status;
    if (!of.reliable() || will_have_one) {
        if (!has_descriptor && !will_have_one)
            sink_->on_error(of.setup.vi, error_code::rdma_write_protection, 0);
        return;
    }
    if (has_descriptor) {
        complete_receive(of, h, status | abi::vi_status_op_receive, 0);
        refuse(of, abi::vi_status_remote_descriptor_error);
        return sink_->on_vi_error(of.setup.vi);
    }
    refuse(of, abi::vi_status_rdma_protection_error);
    sink_->on_error(of.setup.vi, error_code::rdma_write_protection, 0);
}

/// Packets were lost: what has come of an unfinished message is void, its descriptor serves the next one.
void mvia_driver::message_lost(mvia_vi& of) {
    if (of.message.kind == abi::packet_rdma_write && !of.message.skipped)
        sink_->on_error(of.setup.vi, error_code::rdma_write_abort, 0);
    of.message = {};
}

void mvia_driver::complete_receive(mvia_vi& of, const abi::packet_header& last, std::uint32_t status,
                                   std::uint32_t number) {
    of.receives.pop_front();
    const bool immediate = has(last, abi::packet_immediate);
    const host::physical_address slot =
        complete(of, true, status | (immediate ? abi::vi_status_immediate : 0u), of.message.bytes,
                 immediate ? std::optional(last.immediate) : std::nullopt);
    receive_probe.report(sim::now(), sim::now(), "completed", {{"number", number}, {"slot", slot}});
}

/// The connection breaks on this side, and the peer is told why.
void mvia_driver::refuse(mvia_vi& of, std::uint32_t status) {
    leave(of, vi_state::error, false);
    of.final_status = status;
}

// --- Acknowledgements -----------------------------------------------------------------------------------

void mvia_driver::owe(host::context&, const vi_ptr& of) {
    of->acknowledge_at = std::min(of->acknowledge_at, sim::now() + acknowledge_us * sim::microsecond);
    plan();
}

/// Tells the peer what has come, and what is wrong if something is. Without room on the ring it is tried
/// again.
bool mvia_driver::acknowledge(host::context& on, const vi_ptr& of) {
    const bool broken = of->state == vi_state::error && of->final_status != 0;
    of->acknowledge_at = sim::never;
    if (of->state != vi_state::connected && !broken) return false;
    on.compute(acknowledge_clocks);
    const bool asks = broken || of->gap_told;
    const auto packet = header_of(*of, asks ? abi::packet_not_acknowledge : abi::packet_acknowledge, 0, 0,
                                  of->next_sequence, 0, broken ? of->final_status : 0);
    const bool sent = put(on, of->link.path, packet, {}, nullptr).has_value();
    if (sent) {
        acknowledgements_sent.add();
        of->owed = 0;
    } else if (!broken) {
        owe(on, of);
    }
    return sent;
}

}  // namespace vinic::driver
