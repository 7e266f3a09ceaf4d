// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/placement.h"

#include <algorithm>

namespace vinic::nic {

namespace card = abi::vi_engine;
using message_kind = incoming_message::kind;

namespace {

constexpr std::uint64_t match_accesses = 3;  ///< the VI's context, to and fro, and its descriptor
constexpr std::uint32_t interrupted = ~std::uint32_t{0};  ///< the connection ended meanwhile

bool is_data(const packet_head& head) {
    return head.header.kind == abi::packet_send || head.header.kind == abi::packet_rdma_write;
}

std::uint32_t check_receive_format(const card::slot& slot) {
    const abi::vi_control_segment& c = slot.control;
    const bool good = (c.control & (abi::vi_control_reserved | abi::vi_op_mask)) == 0 && c.reserved == 0 &&
                      c.segment_count <= card::max_segments;
    return good ? 0 : std::uint32_t{abi::vi_status_format_error};
}

}  // namespace

placement::placement(const sc_core::sc_module_name& name, sequencer& order, vi_table& vis,
                     descriptor_fetch& descriptors, translation& pages, host_transfers& dma,
                     completion_writer& completions, event_writer& events, reliability& reliable,
                     receive_engine& in)
    : module(name),
      match_clocks(*this, {.name = "match_clocks",
                           .unit = "clocks",
                           .value = 4,
                           .max = 1000,
                           .help = "VI, connection, sequence and descriptor of a packet, engine clocks"}),
      sequencer_(order),
      vis_(vis),
      descriptors_(descriptors),
      pages_(pages),
      dma_(dma),
      completions_(completions),
      events_(events),
      reliable_(reliable),
      in_(in),
      segments_(order, dma, pages),
      descriptors_changed_(order),
      machine_(order.start(rank::placement, [this] { return run(); })) {}

machine placement::run() {
    for (;;) {
        packet_ptr next = co_await in_.next();
        const sim::picoseconds began = sim::now();
        co_await sequencer_.clocks(match_clocks, match_accesses);
        co_await receive(next);
        placing.report(began, sim::now(), "packet",
                       {{"vi", next->head.header.destination_vi},
                        {"address", next->number},
                        {"bytes", next->head.header.length}});
        next->placed = true;
        settle(next);
    }
}

/// A write of this packet is done.
void placement::written(const packet_ptr& what) {
    --what->writing;
    settle(what);
}

/// When nothing reads the buffer any more, the packet has been placed and its buffer is free.
void placement::settle(const packet_ptr& what) {
    if (!what->placed || what->writing != 0) return;
    in_.released();
    if (!what->counts) return;
    vi_context& of = *what->receiver;
    if (of.connected() && of.epoch == what->epoch) reliable_.note_placed(of, what->head.header.sequence);
}

// --- Ends of packets and messages (facts vipl.md 6.2)

/// Completes the receive descriptor in turn.
void placement::complete_receive(vi_context& of, const arrived_packet& last, std::uint32_t length,
                                 std::uint32_t status) {
    of.receiving.what = message_kind::none;
    ++of.receive.next;
    if (last.head.has(abi::packet_immediate))
        completions_.complete_immediately(of, last.head.header.immediate, length, status);
    else
        completions_.complete(of, true, length, status);
    if (of.receive.fetched - of.receive.next <= of.receive.slots.size() / 2) descriptors_.want(of, true);
}

/// There is no receive descriptor. The message is dropped, and a reliable connection breaks.
void placement::queue_empty(vi_context& of) {
    of.receiving.what = message_kind::skipped;
    raise(of, abi::xuni::event_queue_empty, 0);
}

/// A message cannot be placed: `status` is for its receive descriptor, if it has one.
void placement::message_failed(vi_context& of, const arrived_packet& at, std::uint32_t status) {
    const bool has_descriptor = of.receiving.what == message_kind::send;
    const bool will_have_one = !has_descriptor && at.head.has(abi::packet_immediate);
    if (!of.reliable() || will_have_one) {
        of.receiving.status = status;
        if (!has_descriptor && !will_have_one) raise(of, abi::xuni::event_write_refused, 0);
        return;
    }
    if (!has_descriptor) return raise(of, abi::xuni::event_write_refused, 0);
    complete_receive(of, at, of.receiving.bytes, status | abi::vi_status_op_receive);
    raise(of, abi::xuni::event_receive_failed, 0);
}

/// The last packet of an RDMA write with immediate data that could not be placed: the receive descriptor says
/// it, and the reliable connection breaks.
void placement::write_failed(vi_context& of, const arrived_packet& last) {
    complete_receive(of, last, of.receiving.bytes, of.receiving.status | abi::vi_status_op_remote_rdma_write);
    raise(of, abi::xuni::event_write_failed, 0);
}

/// Packets were lost: what has come of an unfinished message is void, and its descriptor will serve the next.
void placement::message_lost(vi_context& of) {
    if (of.receiving.what == message_kind::rdma_write) raise(of, abi::xuni::event_write_aborted, 0);
    of.receiving.what = message_kind::none;
}

/// The last packet of a message has been placed, or has failed.
void placement::end_of_message(vi_context& of, const arrived_packet& last) {
    const incoming_message message = of.receiving;
    const std::uint32_t operation =
        message.what == message_kind::send ? abi::vi_status_op_receive : abi::vi_status_op_remote_rdma_write;
    if (message.what == message_kind::send || last.head.has(abi::packet_immediate))
        complete_receive(of, last, message.bytes, message.status | operation);
    of.receiving.what = message_kind::none;
}

// --- Acceptance

/// False: the packet is not the next one.
bool placement::accept_sequence(vi_context& of, std::uint32_t sequence) {
    if (sequence == of.expected) return true;
    const bool ahead = before(of.expected, sequence);
    if (!of.reliable()) {
        if (!ahead) return false;
        message_lost(of);
        of.expected = sequence;
        return true;
    }
    if (ahead && of.refuses != refusal::nothing) return false;
    if (ahead) of.refuses = refusal::gap;
    reliable_.acknowledge_now(of);
    return false;
}

/// The first packet of a message opens it; others must continue it. False: the packet is of no use.
bool placement::accept_message(vi_context& of, const arrived_packet& with) {
    incoming_message& message = of.receiving;
    const message_kind opens = with.head.is_write() ? message_kind::rdma_write : message_kind::send;
    if (!with.head.has(abi::packet_first))
        return message.what == opens && message.bytes == with.head.header.offset;
    if (message.what != message_kind::none && message.what != message_kind::skipped) message_lost(of);
    message = {.what = opens};
    return true;
}

/// Waits for the descriptor in turn, which has been posted.
step<bool> placement::descriptor_at_hand(vi_context& of, std::uint64_t epoch) {
    while (of.epoch == epoch && of.receive.next == of.receive.fetched) {
        descriptors_.want(of, true);
        co_await descriptors_changed_.changed();
    }
    co_return of.epoch == epoch;
}

step<bool> placement::receive(packet_ptr what) {
    const abi::packet_header& h = what->head.header;
    if (h.kind == abi::packet_control) {
        events_.post_control(what->payload);
        co_return true;
    }
    vi_context& of = vis_.at(h.destination_vi % vis_.size());
    const bool ours = h.destination_vi < vis_.size() && of.state >= card::vi_connected &&
                      of.remote == h.source_vi && of.key == h.connection_key;
    if (!ours) {
        ignored.add();
        co_return false;
    }
    if (!of.connected()) {
        if (of.refuses == refusal::all && is_data(what->head)) reliable_.acknowledge_now(of);
        co_return false;
    }
    if (is_data(what->head)) co_return co_await receive_data(of, what);
    if (!of.reliable()) co_return false;
    if (h.kind == abi::packet_acknowledge)
        reliable_.acknowledged(of, h.acknowledge);
    else if (h.kind == abi::packet_not_acknowledge)
        reliable_.not_acknowledged(of, h.acknowledge, h.immediate);
    co_return true;
}

step<bool> placement::receive_data(vi_context& of, packet_ptr what) {
    const packet_head& head = what->head;
    what->receiver = &of;
    what->epoch = of.epoch;
    if (of.reliable()) reliable_.acknowledged(of, head.header.acknowledge);
    if (!accept_sequence(of, head.header.sequence)) {
        ignored.add();
        co_return false;
    }
    const bool opens = head.has(abi::packet_first);
    const bool consumes =
        head.is_write() ? head.has(abi::packet_last) && head.has(abi::packet_immediate) : opens;
    if (consumes && of.receive.next != of.receive.posted && !co_await descriptor_at_hand(of, what->epoch))
        co_return false;
    if (!accept_message(of, *what)) {
        ++of.expected;
        co_return false;
    }
    if (consumes && of.receive.next == of.receive.posted) {
        if (!of.reliable()) ++of.expected;
        queue_empty(of);
        co_return false;
    }
    if (!head.is_write() && opens) {
        const std::uint32_t status = check_receive_format(of.receive.at(of.receive.next));
        if (status != 0) message_failed(of, *what, status);
        if (of.epoch != what->epoch) co_return false;
    }
    co_return co_await place(of, what);
}

step<bool> placement::place(vi_context& of, packet_ptr what) {
    const packet_head& head = what->head;
    if (of.receiving.status == 0) {
        const std::uint32_t error =
            head.is_write() ? co_await place_remotely(of, what) : co_await place_in_segments(of, what);
        if (of.epoch != what->epoch) co_return false;
        if (error != 0) message_failed(of, *what, error);
        if (of.epoch != what->epoch) co_return false;
    }
    if (of.receiving.status != 0 && of.reliable() && head.has(abi::packet_last)) {
        write_failed(of, *what);
        co_return false;
    }
    of.receiving.bytes += head.header.length;
    ++of.expected;
    of.refuses = refusal::nothing;
    placed.add();
    if (head.has(abi::packet_wants_acknowledge)) of.urgent = true;
    if (head.has(abi::packet_last)) end_of_message(of, *what);
    if (!of.reliable()) co_return true;
    what->counts = what->writing != 0;
    if (what->counts)
        ++of.placing;
    else
        reliable_.note_nothing_to_place(of);
    co_return true;
}

// --- Payload

/// Starts the write of a piece, up to the end of a page. Status bits, or 0 and `what` has one write more.
step<std::uint32_t> placement::write_piece(vi_context& of, packet_ptr what, translation::request piece,
                                           std::uint32_t offset, std::uint32_t refusal_status) {
    std::uint32_t done = 0;
    while (done != piece.length) {
        const std::uint64_t ticket = co_await dma_.write_channel();
        translation::request rest = piece;
        rest.address += done;
        rest.length -= done;
        const translation::result at = co_await pages_.translate(rest);
        if (!at.allowed || of.epoch != what->epoch) {
            dma_.give_back_write(ticket);
            co_return of.epoch != what->epoch ? interrupted : refusal_status;
        }
        co_await sequencer_.clocks(dma_.start_clocks);
        const auto from = what->payload.begin() + offset + done;
        ++what->writing;
        dma_.start_write(ticket, at.physical, {from, from + at.bytes}, "payload",
                         [this, what] { written(what); });
        done += at.bytes;
    }
    co_return 0;
}

step<std::uint32_t> placement::place_in_segments(vi_context& of, packet_ptr what) {
    const card::slot to = of.receive.at(of.receive.next);
    incoming_message& message = of.receiving;
    std::uint32_t done = 0;
    segments_.begin();
    while (done != what->head.header.length) {
        if (message.segment >= to.control.segment_count) co_return abi::vi_status_length_error;
        const segment_reader::found found = co_await segments_.find(to, of.tag, message.segment);
        if (of.epoch != what->epoch) co_return interrupted;
        if (found.error != 0) co_return found.error;
        const abi::vi_data_segment& s = found.segment;
        if (s.length <= message.segment_offset) {
            ++message.segment;
            message.segment_offset = 0;
            continue;
        }
        const std::uint32_t bytes =
            std::min(s.length - message.segment_offset, what->head.header.length - done);
        const std::uint32_t error = co_await write_piece(
            of, what,
            {.handle = s.handle, .tag = of.tag, .address = s.data + message.segment_offset, .length = bytes},
            done, abi::vi_status_protection_error);
        if (error != 0) co_return error;
        done += bytes;
        message.segment_offset += bytes;
    }
    co_return 0;
}

/// The region must allow it, and so must the VI; nothing of a packet is written when a part of it may not be.
step<std::uint32_t> placement::place_remotely(vi_context& of, packet_ptr what) {
    const packet_head& head = what->head;
    if (head.header.length == 0) co_return 0;
    const translation::request whole{.handle = head.rdma_handle,
                                     .tag = of.tag,
                                     .address = head.rdma_address + head.header.offset,
                                     .length = head.header.length,
                                     .rdma_enables = 1};
    if ((of.rdma_enables & 1) == 0 || !pages_.allowed(whole)) co_return abi::vi_status_rdma_protection_error;
    co_return co_await write_piece(of, what, whole, 0, abi::vi_status_rdma_protection_error);
}

}  // namespace vinic::nic
