// SPDX-License-Identifier: Apache-2.0
#include "host_driver/ethernet_device.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "host_driver/byte_order.h"
#include "hw/sim/error.h"

namespace vinic::driver {

using namespace abi::ethernet;

namespace {

constexpr std::size_t header_bytes = 14;

using cost_spec = sim::parameter_spec<std::uint64_t>;

cost_spec cost(const char* name, std::uint64_t clocks, const char* help) {
    return {.name = name, .unit = "clocks", .value = clocks, .min = 0, .max = 1'000'000, .help = help};
}

cost_spec ring(const char* name, const char* help) {
    return {.name = name,
            .unit = "descriptors",
            .value = 256,
            .min = 16,
            .max = 4096,
            .choices = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096},
            .help = help};
}

cost_spec frames(const char* name, std::uint64_t value, const char* help) {
    return {.name = name, .unit = "frames", .value = value, .min = 1, .max = 256, .help = help};
}

cost_spec microseconds(const char* name, const char* help) {
    return {.name = name, .unit = "us", .value = 0, .min = 0, .max = 10'000, .help = help};
}

}  // namespace

ethernet_device::ethernet_device(const sc_core::sc_module_name& name, host::cpu& cpu,
                                 std::unique_ptr<card_window> window, const node_address& address)
    : sim::module(name),
      mtu_bytes(*this, {.name = "mtu_bytes",
                        .unit = "bytes",
                        .value = 1500,
                        .min = 576,
                        .max = 9000,
                        .help = "most payload of a frame",
                        .source = "IEEE 802.3: 1500; jumbo frames are no part of it"}),
      transmit_entries(*this, ring("transmit_entries", "length of the transmit ring")),
      receive_entries(*this, ring("receive_entries", "length of the receive ring, with a buffer for each")),
      transmit_clocks(*this, cost("transmit_clocks", 600, "driver: a frame onto the transmit ring")),
      part_clocks(*this, cost("part_clocks", 80, "driver: each descriptor of it")),
      handler_clocks(*this, cost("handler_clocks", 400, "driver: an interrupt, without its frames")),
      receive_clocks(*this, cost("receive_clocks", 800, "driver: a received frame, its new buffer included")),
      reap_clocks(*this, cost("reap_clocks", 200, "driver: a frame that was sent is given back")),
      refill_frames(*this, frames("refill_frames", 16,
                                  "received frames after which the card hears of new buffers, "
                                  "and when there are no more")),
      report_frames(*this, frames("report_frames", 8,
                                  "a frame for whose end nobody waits asks for a report only "
                                  "each so many times")),
      coalesce_sent_frames(*this,
                           frames("coalesce_sent_frames", 1, "reports of sent frames for an interrupt")),
      coalesce_sent_us(*this, microseconds("coalesce_sent_us", "the longest that a report waits for others")),
      coalesce_received_frames(*this,
                               frames("coalesce_received_frames", 1, "received frames for an interrupt")),
      coalesce_received_us(
          *this, microseconds("coalesce_received_us", "the longest that a received frame waits for others")),
      frames_sent(*this, "frames_sent", "frames put on the transmit ring"),
      frames_received(*this, "frames_received", "frames taken from the receive ring"),
      frames_unknown(*this, "frames_unknown", "received frames of a type that no protocol wants"),
      interrupts(*this, "interrupts", "interrupts that this card raised"),
      ring_full(*this, "ring_full", "frames that found no room on the transmit ring"),
      transmit_probe(*this, "transmit", "a frame goes onto the ring: from the driver's call to the doorbell"),
      receive_probe(*this, "receive", "a frame is taken from the ring"),
      handler_probe(*this, "handler", "an interrupt: up to the first frame"),
      cpu_(cpu),
      window_(std::move(window)),
      address_(address) {}

ethernet_device::~ethernet_device() = default;

std::uint64_t ethernet_device::slot_bytes() const { return std::bit_ceil(mtu_bytes + header_bytes); }

// --- Start ----------------------------------------------------------------------------------------------

void ethernet_device::start(host::process& on) {
    const std::uint32_t identity = window_->load_little(on, IDENTITY);
    if (identity != (device_id << 16 | vendor_id))
        throw sim::input_error("{}: expected a card {:04x}:{:04x}, found {:04x}:{:04x}", name(), vendor_id,
                               device_id, identity & 0xFFFF, identity >> 16);
    using contents = contiguous_memory::contents;
    host::memory& ram = cpu_.ram();
    transmit_ring_.emplace(ram, transmit_entries * sizeof(descriptor), contents::zero);
    receive_ring_.emplace(ram, receive_entries * sizeof(descriptor), contents::zero);
    linear_.emplace(ram, transmit_entries * slot_bytes(), contents::any);
    buffers_.emplace(ram, receive_entries * slot_bytes(), contents::any);
    for (std::uint32_t i = 0; i < receive_entries; ++i)
        write_descriptor(*receive_ring_, receive_entries, i,
                         {.address = buffers_->begin() + i * slot_bytes(),
                          .length = static_cast<std::uint16_t>(std::min<std::uint64_t>(slot_bytes(), 0xFFFF)),
                          .flags = 0,
                          .status = 0});
    const auto set = [&](register_offset at, std::uint64_t value) {
        window_->store_little(on, at, static_cast<std::uint32_t>(value));
    };
    set(ADDRESS_HIGH, std::uint32_t{address_[0]} << 8 | address_[1]);
    set(ADDRESS_LOW, std::uint32_t{address_[2]} << 24 | std::uint32_t{address_[3]} << 16 |
                         std::uint32_t{address_[4]} << 8 | address_[5]);
    set(TRANSMIT_RING_LOW, transmit_ring_->begin());
    set(TRANSMIT_RING_HIGH, transmit_ring_->begin() >> 32);
    set(TRANSMIT_ENTRIES, transmit_entries);
    set(RECEIVE_RING_LOW, receive_ring_->begin());
    set(RECEIVE_RING_HIGH, receive_ring_->begin() >> 32);
    set(RECEIVE_ENTRIES, receive_entries);
    set(COALESCE_SENT, coalesce(static_cast<std::uint32_t>(coalesce_sent_frames),
                                static_cast<std::uint32_t>(coalesce_sent_us)));
    set(COALESCE_RECEIVED, coalesce(static_cast<std::uint32_t>(coalesce_received_frames),
                                    static_cast<std::uint32_t>(coalesce_received_us)));
    cpu_.on_interrupt([this](host::context& handler) { interrupt(handler); });
    set(CONTROL, CONTROL_TRANSMIT | CONTROL_RECEIVE);
    refilled_ = static_cast<std::uint32_t>(receive_entries);
    set(RECEIVE_POSTED, refilled_);
    set(MASK, CAUSE_SENT | CAUSE_RECEIVED);
    started_ = true;
}

void ethernet_device::write_descriptor(const contiguous_memory& ring, std::uint64_t entries,
                                       std::uint32_t number, const descriptor& d) const {
    ring.ram().write(ring.begin() + (number & (entries - 1)) * sizeof d,
                     std::bit_cast<std::array<std::byte, sizeof d>>(
                         descriptor{little_endian(d.address), little_endian(d.length), little_endian(d.flags),
                                    little_endian(d.status)}));
}

std::uint32_t ethernet_device::status_of(const contiguous_memory& ring, std::uint64_t entries,
                                         std::uint32_t number) const {
    std::array<std::byte, 4> word;
    ring.ram().read(ring.begin() + (number & (entries - 1)) * sizeof(descriptor) + status_offset, word);
    return little_endian(std::bit_cast<std::uint32_t>(word));
}

// --- Sending --------------------------------------------------------------------------------------------

// What happens between two waits needs no lock. The doorbell may be overtaken by that of an interrupt, which
// counts more: the card ignores the lesser.
std::optional<std::uint32_t> ethernet_device::transmit(host::context& on, const node_address& to,
                                                       std::uint16_t type, std::span<const std::byte> linear,
                                                       std::span<const part> parts, sent_handler sent) {
    const sim::picoseconds begin = sim::now();
    const std::size_t count = 1 + parts.size();
    if (room(count)) on.compute(transmit_clocks + part_clocks * count);
    if (!room(count)) {
        ring_full.add();
        return std::nullopt;
    }
    std::vector<std::byte> head(header_bytes);
    std::memcpy(head.data(), to.data(), to.size());
    std::memcpy(head.data() + to.size(), address_.data(), address_.size());
    head[12] = static_cast<std::byte>(type >> 8);
    head[13] = static_cast<std::byte>(type);
    head.insert(head.end(), linear.begin(), linear.end());
    const host::physical_address slot = linear_->begin() + (posted_ & (transmit_entries - 1)) * slot_bytes();
    cpu_.ram().write(slot, head);

    const std::uint32_t last = posted_ + static_cast<std::uint32_t>(count) - 1;
    const bool report = sent || ++since_report_ >= report_frames;
    if (report) since_report_ = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const bool first = i == 0, end = i + 1 == count;
        const auto flags = static_cast<std::uint16_t>((end ? LAST : 0) | (end && report ? REPORT : 0));
        write_descriptor(*transmit_ring_, transmit_entries, posted_++,
                         {.address = first ? slot : parts[i - 1].at,
                          .length = static_cast<std::uint16_t>(first ? head.size() : parts[i - 1].bytes),
                          .flags = flags,
                          .status = 0});
    }
    sending_.push_back({last, static_cast<std::uint32_t>(count), report, std::move(sent)});
    frames_sent.add();
    window_->store_little(on, TRANSMIT_POSTED, posted_);
    transmit_probe.report(begin, sim::now(), "transmit", {{"number", last}});
    return last;
}

// --- Interrupts -----------------------------------------------------------------------------------------

void ethernet_device::interrupt(host::context& on) {
    const sim::picoseconds begin = sim::now();
    const std::uint32_t cause = window_->load_little(on, CAUSE);
    if (cause == 0) return;
    interrupts.add();
    on.compute(handler_clocks);
    handler_probe.report(begin, sim::now(), "handler");
    if ((cause & CAUSE_RECEIVED) != 0) receive(on);
    if ((cause & CAUSE_SENT) != 0) reap(on);
    for (const auto& what : after_) what(on);
}

void ethernet_device::reap(host::context& on) {
    bool any = false;
    for (;;) {
        const auto reported = std::ranges::find_if(sending_, &sending::reported);
        if (reported == sending_.end() ||
            (status_of(*transmit_ring_, transmit_entries, reported->last) & DONE) == 0)
            break;
        const std::uint32_t last = reported->last;
        bool more = true;
        while (more) {
            sending done = std::move(sending_.front());
            sending_.pop_front();
            more = done.last != last;
            reaped_ += done.descriptors;
            any = true;
            on.compute(reap_clocks);
            if (done.sent) done.sent(on);
        }
    }
    if (!any) return;
    for (const auto& what : on_room_) what(on);
}

void ethernet_device::receive(host::context& on) {
    while (take_frame(on))
        if (received_ + static_cast<std::uint32_t>(receive_entries) - refilled_ >= refill_frames) refill(on);
    refill(on);
}

void ethernet_device::refill(host::context& on) {
    const std::uint32_t now = received_ + static_cast<std::uint32_t>(receive_entries);
    if (now == refilled_) return;
    refilled_ = now;
    window_->store_little(on, RECEIVE_POSTED, refilled_);
}

bool ethernet_device::take_frame(host::context& on) {
    const sim::picoseconds begin = sim::now();
    const host::clocks miss = cpu_.from_ns(cpu_.dma_line_miss_ns);
    const std::uint32_t number = received_;
    const std::uint32_t status = status_of(*receive_ring_, receive_entries, number);
    if ((status & DONE) == 0) return false;
    // Two lines that DMA has written: the descriptor's, and the first of the frame.
    on.compute(receive_clocks + 2 * miss);
    const std::uint64_t slot = number & (receive_entries - 1);
    std::array<std::byte, 2> length_word;
    cpu_.ram().read(receive_ring_->begin() + slot * sizeof(descriptor) + written_back_offset, length_word);
    const std::uint16_t length = little_endian(std::bit_cast<std::uint16_t>(length_word));
    const host::physical_address buffer = buffers_->begin() + slot * slot_bytes();
    std::vector<std::byte> bytes((status & TOO_LONG) != 0 ? 0 : length);
    cpu_.ram().read(buffer, bytes);
    write_descriptor(*receive_ring_, receive_entries, number,
                     {.address = buffer,
                      .length = static_cast<std::uint16_t>(std::min<std::uint64_t>(slot_bytes(), 0xFFFF)),
                      .flags = 0,
                      .status = 0});
    ++received_;
    frames_received.add();
    receive_probe.report(begin, sim::now(), "receive", {{"number", number}});
    if (bytes.size() < header_bytes) return true;
    const auto type = static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[12]) << 8 |
                                                 std::to_integer<unsigned>(bytes[13]));
    const auto protocol = protocols_.find(type);
    if (protocol == protocols_.end()) {
        frames_unknown.add();
        return true;
    }
    frame what{.number = number, .payload = std::span(bytes).subspan(header_bytes)};
    std::memcpy(what.source.data(), bytes.data() + 6, what.source.size());
    protocol->second(on, what);
    return true;
}

}  // namespace vinic::driver
