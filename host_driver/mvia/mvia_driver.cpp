// SPDX-License-Identifier: Apache-2.0

// M-VIA: parameters, objects, descriptors, completions. send.cpp and receive.cpp have the protocol.
#include "host_driver/mvia/mvia_driver.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "firmware/abi/wire_format.h"
#include "hw/sim/error.h"
#include "hw/sim/time.h"

namespace vinic::driver {

namespace {

using number_spec = sim::parameter_spec<std::uint64_t>;

number_spec cost(const char* name, std::uint64_t clocks, const char* help) {
    return {.name = name, .unit = "clocks", .value = clocks, .min = 0, .max = 1'000'000, .help = help};
}

number_spec most(const char* name, const char* unit, std::uint64_t value, const char* help) {
    return {.name = name, .unit = unit, .value = value, .min = 1, .max = 1'048'576, .help = help};
}

number_spec microseconds(const char* name, std::uint64_t value, const char* help) {
    return {.name = name, .unit = "us", .value = value, .min = 1, .max = 10'000'000, .help = help};
}

}  // namespace

mvia_driver::mvia_driver(const sc_core::sc_module_name& name, host::cpu& cpu,
                         std::unique_ptr<card_window> window, const node_address& address)
    : sim::module(name),
      vis_max(
          *this,
          {.name = "vis_max", .unit = "vis", .value = 1024, .min = 1, .max = 65536, .help = "VIs of a node"}),
      regions_max(*this, most("regions_max", "regions", 4096, "memory regions of a node")),
      queues_max(*this, most("queues_max", "queues", 1024, "completion queues of a node")),
      queue_entries_max(*this, most("queue_entries_max", "entries", 65536, "longest completion queue")),
      pages_max(*this, most("pages_max", "pages", 65536, "pages that may be registered")),
      ring_slots(*this, {.name = "ring_slots",
                         .unit = "descriptors",
                         .value = 1024,
                         .min = 2,
                         .max = 4096,
                         .choices = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096},
                         .help = "length of a send or receive queue",
                         .source = "facts vipl.md 8: programs of the time post up to 512"}),
      transfer_bytes(*this, most("transfer_bytes", "bytes", 1'048'576, "longest message")),
      gate_entry_clocks(*this, cost("gate_entry_clocks", 90,
                                    "fast trap: from the user's instruction to the kernel's, "
                                    "without a system call's saves and checks")),
      gate_exit_clocks(*this, cost("gate_exit_clocks", 70, "fast trap: back to user code")),
      descriptor_clocks(*this, cost("descriptor_clocks", 200, "reading and checking a posted descriptor")),
      segment_clocks(*this, cost("segment_clocks", 60, "each segment of it: handle, range, tag")),
      packet_clocks(*this,
                    cost("packet_clocks", 250, "making a packet: header, sequence, place in the message")),
      page_clocks(*this, cost("page_clocks", 40, "each page of it: translation")),
      receive_clocks(*this, cost("receive_clocks", 250, "a received packet: header, VI, sequence")),
      place_clocks(*this,
                   cost("place_clocks", 150, "where its payload goes: descriptor, segments, translation")),
      complete_clocks(*this, cost("complete_clocks", 120, "completing a descriptor")),
      acknowledge_clocks(*this, cost("acknowledge_clocks", 150, "making or reading an acknowledgement")),
      window_packets(*this,
                     most("window_packets", "packets", 64, "packets in flight on a reliable connection")),
      acknowledge_packets(*this,
                          most("acknowledge_packets", "packets", 8,
                               "received packets that are acknowledged at once, if nothing has carried an "
                               "acknowledgement before")),
      acknowledge_us(*this, microseconds("acknowledge_us", 200,
                                         "the longest that an acknowledgement waits for a "
                                         "packet that carries it")),
      retransmit_us(*this, microseconds("retransmit_us", 20'000,
                                        "time without progress before packets are sent again")),
      retransmit_tries(
          *this, most("retransmit_tries", "tries", 32, "tries without progress before a connection is lost")),
      packets_sent(*this, "packets_sent", "VI packets given to the device"),
      packets_received(*this, "packets_received", "VI packets taken from the device"),
      packets_dropped(*this, "packets_dropped", "received packets of no use"),
      packets_sent_again(*this, "packets_sent_again", "packets sent more than once"),
      acknowledgements_sent(*this, "acknowledgements_sent", "packets that only acknowledge"),
      timeouts(*this, "timeouts", "times that a connection made no progress for retransmit_us"),
      send_probe(*this, "send", "the kernel sends a message, step by step"),
      receive_probe(*this, "receive", "the kernel receives a packet, step by step"),
      device("device", cpu, std::move(window), address),
      cpu_(cpu),
      left_("frames of " + std::string(this->name())),
      timer_([this] {
          timer_posted_ = true;
          cpu_.post_interrupt([this](host::context& on) { expired(on); });
      }) {
    device.listen(abi::ethertype_vi,
                  [this](host::context& on, const ethernet_device::frame& f) { receive(on, f); });
    device.on_room([this](host::context& on) { room(on); });
}

mvia_driver::~mvia_driver() = default;

// --- Objects --------------------------------------------------------------------------------------------

void mvia_driver::start(host::process& on, card_events& sink) {
    sink_ = &sink;
    const auto number = [](const sim::parameter<std::uint64_t>& p) {
        return static_cast<std::uint32_t>(p.get());
    };
    limits_ = {
        .vis = number(vis_max),
        .regions = number(regions_max),
        .completion_queues = number(queues_max),
        .completion_entries = number(queue_entries_max),
        .processes = 1024,
        .segments = 252,
        .descriptors_per_queue = number(ring_slots),
        .pages = number(pages_max),
        .mtu_bytes = static_cast<std::uint32_t>(device.mtu_bytes - sizeof(abi::packet_header)),
        .transfer_bytes = transfer_bytes,
        .reliability_mask = abi::vi_unreliable | abi::vi_reliable_delivery | abi::vi_reliable_reception,
        .rdma_read_mask = 0,
        .hardware_version = 1};
    pages_.resize(pages_max);
    device.start(on);
}

status mvia_driver::open_process(host::process&, std::uint32_t) { return status::success; }
void mvia_driver::close_process(host::process&, std::uint32_t) {}

status mvia_driver::create_vi(host::process&, const vi_setup& setup, vi_queues& queues) {
    const auto slots = static_cast<std::uint32_t>(ring_slots);
    const auto fresh = std::make_shared<mvia_vi>();
    fresh->setup = setup;
    fresh->send = std::make_shared<mvia_work_queue>(*this, cpu_.ram(), setup.vi, false, slots);
    fresh->receive = std::make_shared<mvia_work_queue>(*this, cpu_.ram(), setup.vi, true, slots);
    queues = {.send = fresh->send, .receive = fresh->receive};
    vis_[setup.vi] = fresh;
    return status::success;
}

status mvia_driver::set_vi(host::process&, const vi_setup& setup) {
    vis_.at(setup.vi)->setup = setup;
    return status::success;
}

void mvia_driver::destroy_vi(host::process& on, std::uint32_t vi) {
    leave(*vis_.at(vi), vi_state::idle, false);
    vis_.erase(vi);
    wait_until_left(on);
}

status mvia_driver::connect_vi(host::process&, const connection_setup& setup) {
    mvia_vi& of = *vis_.at(setup.vi);
    of.link = setup;
    of.state = vi_state::connected;
    ++of.epoch;
    of.next_sequence = of.unacknowledged = of.sequence_end = of.expected = of.owed = of.tries = 0;
    of.retransmit_at = of.acknowledge_at = sim::never;
    of.go_back = of.gap_told = of.wants_room = false;
    of.final_status = 0;
    of.message = {};
    return status::success;
}

void mvia_driver::disconnect_vi(host::process& on, std::uint32_t vi, vi_state next, bool keep) {
    // Who leaves tells first what has come: the peer's sends of that are done, not flushed.
    const vi_ptr of = vis_.at(vi);
    if (of->owed != 0) acknowledge(on, of);
    leave(*of, next, keep);
    wait_until_left(on);
}

/// What the card may still read belongs to the program until it has been read.
void mvia_driver::wait_until_left(host::process& on) {
    const std::uint32_t last = last_frame_;
    while (any_frame_ && !device.left(last)) on.block(left_);
}

void mvia_driver::set_page(std::uint32_t page, host::physical_address frame) { pages_.at(page) = frame; }

status mvia_driver::set_region(host::process&, const region_setup& setup) {
    regions_[setup.region] = setup;
    return status::success;
}

void mvia_driver::clear_region(host::process& on, std::uint32_t region) {
    regions_.erase(region);
    wait_until_left(on);
}

status mvia_driver::create_queue(host::process&, std::uint32_t queue, std::uint32_t, std::uint32_t entries,
                                 std::shared_ptr<completion_queue>& ring) {
    const auto fresh =
        std::make_shared<mvia_completion_queue>(cpu_.ram(), std::bit_ceil(std::max(entries, 2u)));
    queues_[queue] = fresh;
    ring = fresh;
    return status::success;
}

status mvia_driver::resize_queue(host::process& on, std::uint32_t queue, std::uint32_t entries,
                                 std::shared_ptr<completion_queue>& ring) {
    return create_queue(on, queue, 0, entries, ring);
}

void mvia_driver::destroy_queue(host::process&, std::uint32_t queue) { queues_.erase(queue); }

void mvia_driver::send_control(host::process& on, const route& path, std::span<const std::byte> payload) {
    mvia_vi nobody;
    std::vector<std::byte> packet =
        header_of(nobody, abi::packet_control, abi::packet_first | abi::packet_last,
                  static_cast<std::uint32_t>(payload.size()), 0, 0, 0);
    packet.insert(packet.end(), payload.begin(), payload.end());
    on.compute(packet_clocks);
    while (!put(on, path, packet, {}, nullptr)) on.block(left_);
}

// --- Descriptors and memory -----------------------------------------------------------------------------

/// Null when the handle names no region of that tag, or the range leaves it.
const region_setup* mvia_driver::find_region(std::uint32_t handle, protection_tag tag,
                                             host::virtual_address address, std::uint64_t bytes) const {
    const auto found =
        std::ranges::find_if(regions_, [&](const auto& r) { return r.second.handle == handle; });
    if (handle == 0 || found == regions_.end()) return nullptr;
    const region_setup& r = found->second;
    const bool inside = address >= r.address && bytes <= r.length && address - r.address <= r.length - bytes;
    return r.attributes.tag == tag && inside ? &r : nullptr;
}

/// Pieces that are contiguous in memory: pages that follow each other are one.
void mvia_driver::add_pages(const region_setup& where, host::virtual_address address, std::uint64_t bytes,
                            parts& to) const {
    while (bytes > 0) {
        const std::uint64_t offset = address - (where.address & ~host::page_mask);
        const std::uint64_t in_page = offset & host::page_mask;
        const std::uint64_t piece = std::min(bytes, host::page_bytes - in_page);
        const host::physical_address at = pages_.at(where.first_page + offset / host::page_bytes) + in_page;
        if (!to.empty() && to.back().at + to.back().bytes == at)
            to.back().bytes += static_cast<std::uint32_t>(piece);
        else
            to.push_back({at, static_cast<std::uint32_t>(piece)});
        address += piece;
        bytes -= piece;
    }
}

mvia_descriptor mvia_driver::read_descriptor(host::process& on,
                                             std::span<const std::byte, descriptor_bytes> bytes,
                                             host::virtual_address where, std::uint32_t handle,
                                             const mvia_vi& of) const {
    abi::vi_control_segment control;
    std::memcpy(&control, bytes.data(), sizeof control);
    mvia_descriptor d{.control = control.control,
                      .immediate = control.immediate_data,
                      .length = control.length,
                      .error = 0,
                      .has_remote = false,
                      .segments = {},
                      .remote = {}};
    if ((control.control & abi::vi_control_reserved) != 0 || control.reserved != 0 ||
        control.segment_count > limits_.segments) {
        d.error = abi::vi_status_format_error;
        return d;
    }
    constexpr std::size_t in_slot = (descriptor_bytes - sizeof control) / sizeof(abi::vi_data_segment);
    std::vector<std::byte> rest(bytes.begin() + sizeof control, bytes.end());
    const std::uint64_t more = control.segment_count > in_slot
                                   ? (control.segment_count - in_slot) * sizeof(abi::vi_data_segment)
                                   : 0;
    if (more != 0) {
        if (!find_region(handle, of.setup.attributes.tag, where + descriptor_bytes, more) ||
            !on.space().valid(where + descriptor_bytes, more)) {
            d.error = abi::vi_status_protection_error;
            return d;
        }
        rest.resize(rest.size() + more);
        on.space().read(where + descriptor_bytes, std::span(rest).last(more));
    }
    for (std::size_t i = 0; i < control.segment_count; ++i) {
        abi::vi_data_segment s;
        std::memcpy(&s, rest.data() + i * sizeof s, sizeof s);
        const mvia_descriptor::segment read{s.data, s.handle, s.length};
        d.has_remote = (control.control & abi::vi_op_mask) == abi::vi_op_rdma_write;
        if (i == 0 && d.has_remote)
            d.remote = read;
        else
            d.segments.push_back(read);
    }
    return d;
}

/// vipl.md 3, 6.2.
std::uint32_t mvia_driver::check_send(const mvia_vi& of, const mvia_descriptor& d) const {
    const bool rdma = (d.control & abi::vi_op_rdma_write) != 0;
    if ((d.control & abi::vi_op_rdma_read) != 0) return abi::vi_status_format_error;
    if (rdma && (!d.has_remote || d.remote.length != 0)) return abi::vi_status_format_error;
    const std::uint64_t limit =
        std::min<std::uint64_t>(of.setup.attributes.max_transfer_bytes, of.link.peer_max_transfer_bytes);
    if (d.length > limit) return abi::vi_status_length_error;
    std::uint64_t sum = 0;
    for (const auto& s : d.segments) {
        sum += s.length;
        if (sum > d.length) return abi::vi_status_format_error;
        if (s.length != 0 && !find_region(s.handle, of.setup.attributes.tag, s.address, s.length))
            return abi::vi_status_protection_error;
    }
    return sum == d.length ? 0 : std::uint32_t{abi::vi_status_format_error};
}

void mvia_driver::post(host::process& on, std::uint32_t vi, bool receive,
                       std::span<const std::byte, descriptor_bytes> descriptor, host::virtual_address where,
                       std::uint32_t handle) {
    const sim::picoseconds begin = sim::now();
    on.trap(host::process::gate{gate_entry_clocks, gate_exit_clocks}, [&] {
        const std::uint64_t message = receive ? 0 : ++messages_;
        if (!receive) send_probe.report(begin, sim::now(), "trap", {{"vi", vi}, {"message", message}});
        const sim::picoseconds entered = sim::now();
        abi::vi_control_segment control;
        std::memcpy(&control, descriptor.data(), sizeof control);
        on.compute(descriptor_clocks + segment_clocks * control.segment_count);
        const auto found = vis_.find(vi);
        if (found == vis_.end()) return;
        const vi_ptr of = found->second;
        (receive ? of->receive : of->send)->accept(where, control.immediate_data, control.length);
        if (receive) {
            if (of->state == vi_state::error) return flush(*of, false, true);
            of->receives.push_back(read_descriptor(on, descriptor, where, handle, *of));
            mvia_descriptor& d = of->receives.back();
            if (d.error == 0 && (d.control & abi::vi_op_mask) != 0) d.error = abi::vi_status_format_error;
            return;
        }
        const auto fresh = std::make_shared<mvia_send>();
        fresh->message = message;
        of->unsent.push_back(fresh);
        if (of->state != vi_state::connected) return flush(*of, true, false);
        fresh->descriptor = read_descriptor(on, descriptor, where, handle, *of);
        mvia_descriptor& d = fresh->descriptor;
        if (d.error == 0) d.error = check_send(*of, d);
        fresh->rdma = (d.control & abi::vi_op_mask) == abi::vi_op_rdma_write;
        fresh->payload = static_cast<std::uint32_t>(device.mtu_bytes - sizeof(abi::packet_header) -
                                                    (fresh->rdma ? sizeof(abi::rdma_header) : 0));
        fresh->packets = std::max(1u, (d.length + fresh->payload - 1) / fresh->payload);
        send_probe.report(entered, sim::now(), "descriptor", {{"vi", vi}, {"message", message}});
        pump(on, of);
    });
}

/// A flag in memory that the process shares with the kernel.
void mvia_driver::arm(host::process&, const mvia_work_queue&, bool& armed) { armed = true; }

// --- Completion -----------------------------------------------------------------------------------------

host::physical_address mvia_driver::complete(const mvia_vi& of, bool receive, std::uint32_t status,
                                             std::optional<std::uint32_t> length,
                                             std::optional<std::uint32_t> immediate) {
    mvia_work_queue& queue = receive ? *of.receive : *of.send;
    const host::physical_address slot = queue.complete(status, length, immediate);
    const auto& to = receive ? of.setup.receive_queue : of.setup.send_queue;
    if (to) {
        const auto known = queues_.find(*to);
        if (known != queues_.end() && known->second->write(of.setup.vi, receive))
            sink_->on_queue_completion(*to);
    }
    if (queue.disarm()) sink_->on_completion(of.setup.vi, receive);
    return slot;
}

void mvia_driver::flush(mvia_vi& of, bool sends, bool receives) {
    if (sends) {
        of.unfinished.clear();
        of.unsent.clear();
        for (std::uint32_t left = of.send->uncompleted(); left > 0; --left)
            complete(of, false, abi::vi_status_flushed_error | abi::vi_status_op_send);
    }
    if (!receives) return;
    of.receives.clear();
    for (std::uint32_t left = of.receive->uncompleted(); left > 0; --left)
        complete(of, true, abi::vi_status_flushed_error | abi::vi_status_op_receive);
}

void mvia_driver::leave(mvia_vi& of, vi_state next, bool keep) {
    ++of.epoch;
    of.state = next;
    of.message = {};
    of.retransmit_at = of.acknowledge_at = sim::never;
    if (next == vi_state::idle) of.final_status = 0;
    if (!keep) flush(of, true, true);
}

}  // namespace vinic::driver
