// SPDX-License-Identifier: Apache-2.0
#include "host_driver/vi_engine/vi_engine_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "firmware/abi/wire_format.h"
#include "hw/sim/error.h"

namespace vinic::driver {

namespace {

namespace card = abi::vi_engine;

constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

status from_card(std::uint32_t command_status) {
    switch (command_status) {
        case card::command_ok:
            return status::success;
        case card::command_no_resource:
            return status::error_resource;
        case card::command_wrong_state:
            return status::invalid_state;
        default:
            return status::invalid_parameter;
    }
}

std::uint32_t enables(bool write, bool read) { return (write ? 1u : 0u) | (read ? 2u : 0u); }

std::uint32_t route_length(const route& path) {
    return path.loopback ? card::route_loopback : low(path.bytes.size());
}

}  // namespace

vi_engine_driver::vi_engine_driver(const sc_core::sc_module_name& name, host::cpu& cpu,
                                   std::unique_ptr<card_window> window, std::uint64_t window_bytes,
                                   sim::picoseconds byte_time, const card_image* firmware)
    : vi_card_driver(name, {.command_poll_clocks = 200}),
      cpu_(cpu),
      window_(std::move(window)),
      window_bytes_(window_bytes),
      byte_time_(byte_time),
      firmware_(firmware ? std::optional(*firmware) : std::nullopt),
      command_lock_(this->name()) {
    static_assert(std::endian::native == std::endian::little, "the card is little-endian, as its hosts are");
}

vi_engine_driver::~vi_engine_driver() = default;

// --- Start ----------------------------------------------------------------------------------------------

void vi_engine_driver::start(host::process& on, card_events& sink) {
    sink_ = &sink;
    check_identity(on);
    if (firmware_) start_core(on, *firmware_);
    cpu_.on_interrupt([this](host::context& handler) { interrupt(handler); });
    read_limits(on);
    give_tables(on);
}

void vi_engine_driver::check_identity(host::process& on) {
    const std::uint32_t identity = window_->load_little(on, card::registers + card::identity);
    if (identity != (std::uint32_t{card::device_id} << 16 | card::vendor_id))
        throw sim::input_error("{}: expected a card {:04x}:{:04x}, found {:04x}:{:04x}", name(),
                               card::vendor_id, card::device_id, identity & 0xFFFF, identity >> 16);
}

/// Commands that are given before the firmware has started wait for it.
void vi_engine_driver::start_core(host::process& on, const card_image& image) {
    const std::uint32_t room = window_->load_little(on, card::registers + card::core_memory_bytes);
    if (image.end > room)
        throw sim::input_error("{}: {} needs {} bytes of memory, the card's core has {}", name(), image.name,
                               image.end, room);
    store(on, card::core_run, 0);
    for (const card_image::segment& segment : image.segments)
        window_->store_block(on, card::core_memory + segment.address, segment.bytes);
    window_->fence(on);
    store(on, card::core_run, 1);
}

void vi_engine_driver::store(host::context& on, std::uint32_t reg, std::uint64_t value) {
    window_->store_little(on, card::registers + reg, low(value));
}

void vi_engine_driver::give_tables(host::process& on) {
    event_ring_.emplace(cpu_.ram(), event_entries * sizeof(card::event_entry),
                        contiguous_memory::contents::zero);
    store(on, card::event_ring_high, event_ring_->begin() >> 32);
    store(on, card::event_ring_low, event_ring_->begin());
    store(on, card::event_entries, event_entries);
    if (page_table_) {
        store(on, card::table_high, page_table_->begin() >> 32);
        store(on, card::table_low, page_table_->begin());
        store(on, card::table_entries, page_table_entries);
    }
    const std::uint64_t needed_ns = retransmit_windows * window_bytes_ * byte_time_ / 1000;
    store(on, card::retransmit_ns,
          std::min<std::uint64_t>(std::max(retransmit_us * 1000, needed_ns),
                                  std::numeric_limits<std::uint32_t>::max()));
    store(on, card::retransmit_limit, retransmit_tries);
}

void vi_engine_driver::read_limits(host::process& on) {
    const std::uint32_t pages = window_->load_little(on, card::registers + card::limits_pages);
    if (pages == 0)
        page_table_.emplace(cpu_.ram(), page_table_entries * sizeof(card::page_entry),
                            contiguous_memory::contents::any);
    limits_ = {
        .vis = card::max_vis,
        .regions = card::max_regions,
        .completion_queues = card::max_queues,
        .completion_entries = low(queue_entries_max),
        .processes = card::max_processes,
        .segments = card::max_segments,
        .descriptors_per_queue = low(ring_slots),
        .pages = pages == 0 ? low(page_table_entries) : pages,
        .mtu_bytes = window_->load_little(on, card::registers + card::limits_packet),
        .transfer_bytes = card::max_transfer_bytes,
        .reliability_mask = abi::vi_unreliable | abi::vi_reliable_delivery | abi::vi_reliable_reception,
        .rdma_read_mask = 0,
        .hardware_version = 1};
}

// --- Commands -------------------------------------------------------------------------------------------

status vi_engine_driver::command(host::process& on, card::command_op op,
                                 std::span<const std::uint32_t> arguments) {
    const kernel_mutex::guard lock(command_lock_, on);
    commands.add();
    for (std::size_t i = 0; i < arguments.size(); ++i) store(on, low(card::arguments + 4 * i), arguments[i]);
    store(on, card::command, op);
    ++commands_given_;
    wait_for_command(on, op, [&] {
        return window_->load_little(on, card::registers + card::commands_done) == commands_given_;
    });
    return from_card(window_->load_little(on, card::registers + card::command_status));
}

template <typename Arguments>
status vi_engine_driver::command_with(host::process& on, card::command_op op, const Arguments& arguments) {
    static_assert(sizeof(Arguments) % 4 == 0);
    return command(on, op, std::bit_cast<std::array<std::uint32_t, sizeof(Arguments) / 4>>(arguments));
}

status vi_engine_driver::open_process(host::process&, std::uint32_t) { return status::success; }

void vi_engine_driver::close_process(host::process& on, std::uint32_t) {
    command(on, card::command_quiesce, {});
}

card::create_vi_arguments vi_engine_driver::arguments_of(const vi_setup& setup) const {
    const vi_attributes& a = setup.attributes;
    return {.vi = setup.vi,
            .protection_tag = a.tag,
            .reliability = a.reliability,
            .max_transfer_bytes = low(a.max_transfer_bytes),
            .rdma_enables = enables(a.rdma_write, a.rdma_read),
            .ring_slots = low(ring_slots),
            .send_queue = setup.send_queue.value_or(card::no_queue),
            .receive_queue = setup.receive_queue.value_or(card::no_queue)};
}

status vi_engine_driver::create_vi(host::process& on, const vi_setup& setup, vi_queues& queues) {
    const vi_engine_page page{*window_, card::vi_pages + setup.vi * card::doorbell_page_bytes};
    const auto slots = low(ring_slots);
    auto send = std::make_shared<vi_engine_work_queue>(cpu_.ram(), page, false, slots);
    auto receive = std::make_shared<vi_engine_work_queue>(cpu_.ram(), page, true, slots);
    card::create_vi_arguments a = arguments_of(setup);
    a.send_ring_high = high(send->ring());
    a.send_ring_low = low(send->ring());
    a.receive_ring_high = high(receive->ring());
    a.receive_ring_low = low(receive->ring());
    const status result = command_with(on, card::command_create_vi, a);
    if (result == status::success) queues = {.send = std::move(send), .receive = std::move(receive)};
    return result;
}

status vi_engine_driver::set_vi(host::process& on, const vi_setup& setup) {
    return command_with(on, card::command_set_vi, arguments_of(setup));
}

void vi_engine_driver::destroy_vi(host::process& on, std::uint32_t vi) {
    command(on, card::command_destroy_vi, std::array{vi});
}

status vi_engine_driver::connect_vi(host::process& on, const connection_setup& setup) {
    card::connect_vi_arguments a{.vi = setup.vi,
                                 .remote_vi = setup.remote_vi,
                                 .connection_key = setup.key,
                                 .route_length = route_length(setup.path),
                                 .route = {},
                                 .peer_max_transfer = low(setup.peer_max_transfer_bytes)};
    std::ranges::copy(setup.path.bytes, a.route);
    return command_with(on, card::command_connect_vi, a);
}

void vi_engine_driver::disconnect_vi(host::process& on, std::uint32_t vi, vi_state next, bool keep) {
    command(on, card::command_disconnect_vi,
            std::array{vi, std::uint32_t{next == vi_state::error ? card::vi_error : card::vi_idle},
                       std::uint32_t{keep ? 1u : 0u}});
}

// --- Memory ---------------------------------------------------------------------------------------------

/// A table on the card is written with the region that the page belongs to.
void vi_engine_driver::set_page(std::uint32_t page, host::physical_address frame) {
    if (!page_table_) {
        new_pages_[page] = frame;
        return;
    }
    const card::page_entry entry{.frame_low = low(frame), .frame_high = high(frame)};
    cpu_.ram().write(page_table_->begin() + std::uint64_t{page} * sizeof entry,
                     std::bit_cast<std::array<std::byte, sizeof entry>>(entry));
}

/// Consecutive entries go to the card in one block.
void vi_engine_driver::write_pages(host::process& on) {
    for (auto at = new_pages_.begin(); at != new_pages_.end();) {
        const std::uint32_t first = at->first;
        std::vector<std::byte> block;
        for (std::uint32_t page = first; at != new_pages_.end() && at->first == page; ++page, ++at) {
            const auto entry = std::bit_cast<std::array<std::byte, sizeof(card::page_entry)>>(
                card::page_entry{.frame_low = low(at->second), .frame_high = high(at->second)});
            block.insert(block.end(), entry.begin(), entry.end());
        }
        window_->store_block(on, card::page_table + first * std::uint32_t{sizeof(card::page_entry)}, block);
    }
    new_pages_.clear();
    window_->fence(on);
}

status vi_engine_driver::set_region(host::process& on, const region_setup& setup) {
    if (!new_pages_.empty()) write_pages(on);
    const memory_attributes& a = setup.attributes;
    return command_with(on, card::command_set_region,
                        card::region_arguments{.region = setup.region,
                                               .handle = setup.handle,
                                               .address_high = high(setup.address),
                                               .address_low = low(setup.address),
                                               .length = low(setup.length),
                                               .first_page = setup.first_page,
                                               .protection_tag = a.tag,
                                               .rdma_enables = enables(a.rdma_write, a.rdma_read)});
}

void vi_engine_driver::clear_region(host::process& on, std::uint32_t region) {
    command(on, card::command_clear_region, std::array{region});
}

status vi_engine_driver::create_queue(host::process& on, std::uint32_t queue, std::uint32_t,
                                      std::uint32_t entries, std::shared_ptr<completion_queue>& ring) {
    const vi_engine_page page{*window_, card::queue_pages + queue * card::doorbell_page_bytes};
    auto made =
        std::make_shared<vi_engine_completion_queue>(cpu_.ram(), page, std::bit_ceil(std::max(entries, 2u)));
    const status result = command(on, card::command_create_queue,
                                  std::array{queue, high(made->ring()), low(made->ring()), made->capacity()});
    if (result == status::success) ring = std::move(made);
    return result;
}

status vi_engine_driver::resize_queue(host::process& on, std::uint32_t queue, std::uint32_t entries,
                                      std::shared_ptr<completion_queue>& ring) {
    return create_queue(on, queue, 0, entries, ring);
}

void vi_engine_driver::destroy_queue(host::process& on, std::uint32_t queue) {
    command(on, card::command_destroy_queue, std::array{queue});
}

void vi_engine_driver::send_control(host::process& on, const route& path,
                                    std::span<const std::byte> payload) {
    card::send_control_arguments a{
        .route_length = route_length(path), .route = {}, .bytes = low(payload.size()), .payload = {}};
    std::ranges::copy(path.bytes, a.route);
    std::memcpy(a.payload, payload.data(), payload.size());
    command_with(on, card::command_send_control, a);
}

// --- Events ---------------------------------------------------------------------------------------------

// An event stands in memory before the card interrupts. The register is cleared first; reading it back makes
// sure that it was, and pushes the card's writes into memory, so an event that is not seen below sets it
// anew.
void vi_engine_driver::interrupt(host::context& on) {
    if (window_->load_little(on, card::registers + card::interrupt) == 0) return;
    interrupts.add();
    store(on, card::interrupt, 1);
    window_->load_little(on, card::registers + card::interrupt);
    bool any = false;
    while (take_event(on)) any = true;
    if (any) store(on, card::event_taken, events_taken_);
}

bool vi_engine_driver::take_event(host::context& on) {
    const auto entries = low(event_entries);
    std::array<std::byte, sizeof(card::event_entry)> bytes;
    cpu_.ram().read(event_ring_->begin() + std::uint64_t{events_taken_ % entries} * bytes.size(), bytes);
    const auto entry = std::bit_cast<card::event_entry>(bytes);
    if (entry.valid != (events_taken_ / entries) % 2 + 1) return false;
    ++events_taken_;
    events.add();
    on.compute(event_clocks);
    dispatch(bytes);
    return true;
}

void vi_engine_driver::dispatch(std::span<const std::byte> bytes) {
    card::event_entry entry;
    std::memcpy(&entry, bytes.data(), sizeof entry);
    switch (entry.kind) {
        case card::event_control_packet:
            return sink_->on_control_packet(
                bytes.subspan(offsetof(card::event_entry, payload),
                              std::min<std::size_t>(entry.argument, sizeof entry.payload)));
        case card::event_completion_send:
            return sink_->on_completion(entry.vi, false);
        case card::event_completion_receive:
            return sink_->on_completion(entry.vi, true);
        case card::event_completion_queue:
            return sink_->on_queue_completion(entry.vi);
        case card::event_error:
            return sink_->on_error(entry.vi, static_cast<error_code>(entry.argument), 0);
        case card::event_transport_lost:
            return sink_->on_transport_lost(entry.vi);
        case card::event_vi_error:
            return sink_->on_vi_error(entry.vi);
        default:
            throw sim::model_error(name(),
                                   fmt::format("the card reported an event of unknown kind {}", entry.kind));
    }
}

}  // namespace vinic::driver
