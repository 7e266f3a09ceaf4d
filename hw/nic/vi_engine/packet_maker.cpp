// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/packet_maker.h"

#include <algorithm>

namespace vinic::nic {

namespace card = abi::vi_engine;

namespace {

constexpr std::uint64_t turn_accesses = 2;                ///< the VI's context, its descriptor
constexpr std::uint32_t interrupted = ~std::uint32_t{0};  ///< the connection ended meanwhile

bool is_write(const card::slot& of) {
    return (of.control.control & abi::vi_op_mask) == abi::vi_op_rdma_write;
}

std::uint32_t operation_status(const card::slot& of) {
    const std::uint32_t operation = of.control.control & abi::vi_op_mask;
    if (operation == abi::vi_op_rdma_write) return abi::vi_status_op_rdma_write;
    return operation == abi::vi_op_rdma_read ? std::uint32_t{abi::vi_status_op_rdma_read}
                                             : std::uint32_t{abi::vi_status_op_send};
}

}  // namespace

packet_maker::packet_maker(const sc_core::sc_module_name& name, sequencer& order,
                           descriptor_fetch& descriptors, translation& pages, host_transfers& dma,
                           completion_writer& completions, reliability& reliable, framing& frames,
                           send_engine& out)
    : module(name),
      schedule_clocks(*this, {.name = "schedule_clocks",
                              .unit = "clocks",
                              .value = 3,
                              .max = 1000,
                              .help = "choosing a VI and checking its descriptor's form, engine clocks"}),
      header_clocks(*this, {.name = "header_clocks",
                            .unit = "clocks",
                            .value = 4,
                            .max = 1000,
                            .help = "making a packet's header, engine clocks; while its payload comes"}),
      buffers(*this, {.name = "buffers",
                      .unit = "packets",
                      .value = 4,
                      .min = 1,
                      .max = 1024,
                      .help = "packets that are made or wait for the wire"}),
      sequencer_(order),
      descriptors_(descriptors),
      pages_(pages),
      dma_(dma),
      completions_(completions),
      reliable_(reliable),
      framing_(frames),
      out_(out),
      segments_(order, dma, pages),
      free_(order, buffers),
      work_(order),
      machine_(order.start(rank::send, [this] { return run(); })) {}

void packet_maker::schedule(vi_context& of) {
    if (of.scheduled || !of.connected()) return;
    of.scheduled = true;
    scheduled_.push_back(&of);
    work_.notify();
}

machine packet_maker::run() {
    for (;;) {
        while (scheduled_.empty()) co_await work_.changed();
        vi_context& of = *scheduled_.front();
        scheduled_.pop_front();
        of.scheduled = false;
        if (co_await advance(of)) schedule(of);
    }
}

/// One packet of this VI. False: it waits for something that will schedule it again.
step<bool> packet_maker::advance(vi_context& of) {
    if (!of.connected()) co_return false;
    if (of.go_back && !reliable_.go_back(of)) co_return false;
    ring_context& ring = of.send;
    if (!of.sending.open) {
        if (ring.next == ring.posted) co_return false;
        if (ring.next == ring.fetched) {
            descriptors_.want(of, false);
            co_return false;
        }
        if (ring.next - ring.completed >= reliable_.window_packets) co_return false;
    }
    if (of.sending.error == 0 && of.reliable() && !reliable_.window_open(of)) co_return false;
    const card::slot from = ring.at(ring.next);
    if (!of.sending.open) {
        of.sending = {.open = true, .offset = of.resume_offset, .segment = is_write(from) ? 1u : 0u};
        of.resume_offset = 0;
        of.sending.error = check_format(of, from);
    }
    const std::uint64_t epoch = of.send_epoch;
    co_await sequencer_.clocks(schedule_clocks, turn_accesses);
    if (of.send_epoch != epoch || of.go_back) co_return true;
    if (of.sending.error != 0) co_return fail(of, from);
    co_return co_await make(of, from);
}

// --- Checks (facts vipl.md 3, 6.2)

/// Status bits for what can be seen in the slot itself.
std::uint32_t packet_maker::check_format(const vi_context& of, const card::slot& from) const {
    const abi::vi_control_segment& c = from.control;
    if ((c.control & abi::vi_control_reserved) != 0 || c.reserved != 0 ||
        c.segment_count > card::max_segments ||
        (c.control & abi::vi_op_rdma_read) != 0)  // of both: RDMA read and the reserved operation
        return abi::vi_status_format_error;
    if (is_write(from) && (c.segment_count == 0 || from.segments[0].length != 0))
        return abi::vi_status_format_error;
    return c.length > of.limit ? std::uint32_t{abi::vi_status_length_error} : 0;
}

/// All segments: handles, ranges, and that their lengths add up. Sets the cursor to where `offset` is.
step<std::uint32_t> packet_maker::check_segments(vi_context& of, const card::slot& from) {
    outgoing_message& message = of.sending;
    std::uint32_t sum = 0;
    segments_.begin();
    for (std::uint32_t i = is_write(from) ? 1 : 0; i < from.control.segment_count; ++i) {
        const segment_reader::found found = co_await segments_.find(from, of.tag, i);
        if (found.error != 0) co_return found.error;
        const abi::vi_data_segment& s = found.segment;
        if (s.length > from.control.length - sum) co_return abi::vi_status_format_error;
        if (s.length == 0) continue;
        co_await pages_.check();
        if (!pages_.allowed({.handle = s.handle, .tag = of.tag, .address = s.data, .length = s.length}))
            co_return abi::vi_status_protection_error;
        if (sum <= message.offset && message.offset - sum < s.length) {
            message.segment = i;
            message.segment_offset = message.offset - sum;
        }
        sum += s.length;
    }
    co_return sum != from.control.length ? std::uint32_t{abi::vi_status_format_error} : 0;
}

/// A descriptor in error completes when those before it have. On an unreliable connection the next one
/// follows; a reliable one breaks.
bool packet_maker::fail(vi_context& of, const card::slot& from) {
    ring_context& ring = of.send;
    if (ring.completed != ring.next) return false;
    const std::uint32_t status = of.sending.error | operation_status(from);
    of.sending = {};
    of.records.clear();
    ++ring.next;
    completions_.complete(of, false, from.control.length, status);
    if (!of.reliable()) return true;
    raise(of, abi::xuni::event_send_failed, 0);
    return false;
}

// --- Packets

step<bool> packet_maker::make(vi_context& of, const card::slot& from) {
    const std::uint64_t epoch = of.send_epoch;
    const sim::picoseconds began = sim::now();
    co_await free_.take();
    auto made = std::make_shared<outgoing_packet>();
    made->has_buffer = true;
    made->number = ++made_;
    made->owner = &of;
    made->epoch = epoch;
    std::uint32_t error = 0;
    if (!of.sending.checked && of.send_epoch == epoch) {
        error = co_await check_segments(of, from);
        if (error == 0 && of.send_epoch == epoch) {
            of.sending.checked = true;
            record(of, from);
        }
    } else {
        segments_.begin();
    }
    if (error == 0 && of.send_epoch == epoch) {
        made->head.header.length = static_cast<std::uint16_t>(
            std::min<std::uint64_t>(from.control.length - of.sending.offset, framing_.packet_payload_bytes));
        made->payload.resize(made->head.padded());
        error = co_await fetch_payload(of, from, *made);
        co_await sequencer_.clocks(header_clocks, 1);
    }
    if (error == 0 && of.send_epoch == epoch && !of.go_back) {
        making.report(began, sim::now(), "packet",
                      {{"vi", of.index}, {"address", made->number}, {"bytes", made->head.header.length}});
        co_return finish(of, from, std::move(made));
    }
    // What is on its way to the buffer still comes: it goes the way of all packets, void.
    made->epoch = 0;
    out_.put(std::move(made));
    if (of.send_epoch != epoch || of.go_back || error == interrupted) co_return true;
    of.sending.error = error;
    co_return fail(of, from);
}

/// Starts the reads of the payload, page by page, segment by segment.
step<std::uint32_t> packet_maker::fetch_payload(vi_context& of, const card::slot& from,
                                                outgoing_packet& into) {
    outgoing_message& message = of.sending;
    std::uint32_t done = 0;
    while (done != into.head.header.length) {
        if (message.segment >= from.control.segment_count) co_return abi::vi_status_format_error;
        const segment_reader::found found = co_await segments_.find(from, of.tag, message.segment);
        if (found.error != 0) co_return found.error;
        if (into.is_void()) co_return interrupted;
        const abi::vi_data_segment& s = found.segment;
        if (s.length <= message.segment_offset) {
            ++message.segment;
            message.segment_offset = 0;
            continue;
        }
        const abi::vi_data_segment piece{
            s.data + message.segment_offset, s.handle,
            std::min<std::uint32_t>(s.length - message.segment_offset, into.head.header.length - done)};
        const std::uint32_t before_piece = done;
        const std::uint32_t started = co_await read_piece(of, piece, into, done);
        if (started == interrupted) co_return interrupted;
        if (started == 0) co_return abi::vi_status_protection_error;
        done = before_piece + started;
        message.segment_offset += started;
    }
    co_return 0;
}

/// Bytes of which the read has been started, up to the end of a page; 0: not allowed.
step<std::uint32_t> packet_maker::read_piece(vi_context& of, const abi::vi_data_segment& piece,
                                             outgoing_packet& into, std::size_t offset) {
    const std::uint64_t ticket = co_await dma_.read_channel();
    const translation::result at = co_await pages_.translate(
        {.handle = piece.handle, .tag = of.tag, .address = piece.data, .length = piece.length});
    if (!at.allowed || into.is_void()) {
        dma_.give_back_read(ticket);
        co_return into.is_void() ? interrupted : 0;
    }
    co_await sequencer_.clocks(dma_.start_clocks);
    dma_.start_read(ticket, into.reads.emplace_back(dma_), at.physical,
                    std::span(into.payload).subspan(offset, at.bytes), "payload",
                    out_.cut_through_bytes != 0);
    co_return at.bytes;
}

void packet_maker::write_header(const vi_context& of, const card::slot& from, outgoing_packet& into) const {
    abi::packet_header& h = into.head.header;
    const std::uint32_t offset = of.sending.offset;
    unsigned flags = offset == 0 ? unsigned{abi::packet_first} : 0u;
    if (offset + h.length == from.control.length) flags |= abi::packet_last;
    if ((from.control.control & abi::vi_control_immediate) != 0) flags |= abi::packet_immediate;
    if (of.reliable() && reliable_.window_ends(of)) flags |= abi::packet_wants_acknowledge;
    h.kind = is_write(from) ? abi::packet_rdma_write : abi::packet_send;
    h.flags = static_cast<std::uint8_t>(flags);
    h.destination_vi = static_cast<std::uint16_t>(of.remote);
    h.source_vi = static_cast<std::uint16_t>(of.index);
    h.connection_key = of.key;
    h.sequence = of.next_sequence;
    h.acknowledge = of.placed;
    h.offset = offset;
    h.immediate = from.control.immediate_data;
    if (is_write(from)) {
        into.head.rdma_address = from.segments[0].data;
        into.head.rdma_handle = from.segments[0].handle;
    }
    into.route = of.route;
    into.loopback = of.loopback;
}

/// The payload is on its way: the rest of the packet, and its place in the queue for the wire.
bool packet_maker::finish(vi_context& of, const card::slot& from, std::shared_ptr<outgoing_packet> made) {
    write_header(of, from, *made);
    packets.add();
    of.sending.offset += made->head.header.length;
    ++of.next_sequence;
    const bool last = of.sending.offset == from.control.length;
    if (of.reliable()) {
        reliable_.note_sent(of);
    } else {
        of.unacknowledged = of.next_sequence;
        made->completes = last;
    }
    if (last) {
        messages.add();
        of.sending = {};
        ++of.send.next;
        if (of.send.fetched - of.send.next <= of.send.slots.size() / 2) descriptors_.want(of, false);
    }
    out_.put(std::move(made));
    return !last || of.send.next != of.send.posted;
}

/// What the message completes with; it is there already when the message is sent again.
void packet_maker::record(vi_context& of, const card::slot& from) {
    const auto payload = static_cast<std::uint32_t>(framing_.packet_payload_bytes);
    const std::uint32_t length = from.control.length;
    const std::uint32_t count = length == 0 ? 1 : (length + payload - 1) / payload;
    const std::uint32_t first = of.next_sequence - of.sending.offset / payload;
    const send_record made{length, operation_status(from), first, first + count};
    const std::uint32_t place = of.send.next - of.send.completed;
    if (place < of.records.size())
        of.records[place] = made;
    else
        of.records.push_back(made);
}

}  // namespace vinic::nic
