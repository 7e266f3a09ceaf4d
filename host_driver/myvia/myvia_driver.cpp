// SPDX-License-Identifier: Apache-2.0
#include "host_driver/myvia/myvia_driver.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "firmware/abi/card_map.h"
#include "firmware/abi/chips.h"
#include "firmware/abi/lanai_registers.h"
#include "firmware/abi/wire_format.h"
#include "host_driver/byte_order.h"
#include "hw/sim/duration.h"
#include "hw/sim/error.h"
#include "hw/sim/time.h"

namespace vinic::driver {

namespace {

namespace myvia = abi::myvia;
namespace card_map = abi::card_map;

constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

/// On the wire, with its CRC-32.
constexpr std::uint64_t packet_bytes_max = abi::route_bytes_max + sizeof(abi::packet_header) +
                                           sizeof(abi::rdma_header) + abi::packet_payload_max + 4;

static_assert(std::uint32_t{abi::lanai4::ISR_HOST_SIG} == abi::lanai9::ISR_HOST_SIG);

status from_card(std::uint32_t command_status) {
    switch (command_status) {
        case myvia::command_ok:
            return status::success;
        case myvia::command_no_resource:
            return status::error_resource;
        case myvia::command_wrong_state:
            return status::invalid_state;
        default:
            return status::invalid_parameter;
    }
}

std::uint32_t enables(bool write, bool read) { return (write ? 1u : 0u) | (read ? 2u : 0u); }

/// Length, then two words of route bytes, left-aligned (myvia_card.h).
std::array<std::uint32_t, 3> route_arguments(const route& path) {
    std::array<std::uint32_t, 3> arguments{path.loopback ? myvia::route_loopback : low(path.bytes.size())};
    for (std::size_t i = 0; i < path.bytes.size(); ++i)
        arguments[1 + i / 4] |= std::uint32_t{path.bytes[i]} << (24 - 8 * (i % 4));
    return arguments;
}

}  // namespace

myvia_driver::myvia_driver(const sc_core::sc_module_name& name, host::cpu& cpu,
                           std::unique_ptr<card_window> window, card_image image, const card_facts& facts)
    : vi_card_driver(name, {.command_poll_clocks = 500}),
      credit_poll_clocks(*this, {.name = "credit_poll_clocks",
                                 .unit = "clocks",
                                 .value = 20,
                                 .min = 1,
                                 .max = 100'000,
                                 .help = "a look at the doorbell credits when the page is full"}),
      swap_clocks(*this, {.name = "swap_clocks",
                          .unit = "clocks",
                          .value = 1,
                          .min = 0,
                          .max = 1000,
                          .help = "turning one field of a descriptor into the card's byte order"}),
      transfer_mode(*this,
                    {.name = "transfer_mode",
                     .value = "zero_copy",
                     .choices = {"zero_copy", "copy", "pio", "write_combined", "automatic"},
                     .help = "how the payload of a message of one segment gets to the card: fetched from "
                             "the program's memory; copied into pinned memory and fetched from there; "
                             "stored into the card by the processor; by size"}),
      automatic_push_bytes(*this,
                           {.name = "automatic_push_bytes",
                            .unit = "bytes",
                            .value = 256,
                            .min = 0,
                            .max = myvia::push_bytes,
                            .help = "transfer_mode automatic: messages up to so long are stored into the "
                                    "card, write-combined",
                            .source = "study transfer_modes"}),
      automatic_copy_bytes(*this, {.name = "automatic_copy_bytes",
                                   .unit = "bytes",
                                   .value = 0,
                                   .min = 0,
                                   .max = 65536,
                                   .help = "transfer_mode automatic: longer ones up to so long are copied",
                                   .source = "study transfer_modes"}),
      copy_place_bytes(*this, {.name = "copy_place_bytes",
                               .unit = "bytes",
                               .value = 65536,
                               .choices = {4096, 8192, 16384, 32768, 65536},
                               .help = "longest message that is copied into pinned memory"}),
      copy_places(*this, {.name = "copy_places",
                          .unit = "messages",
                          .value = 8,
                          .min = 1,
                          .max = 256,
                          .help = "messages of a VI that lie in pinned memory at a time"}),
      transfer_check_clocks(*this,
                            {.name = "transfer_check_clocks",
                             .unit = "clocks",
                             .value = 20,
                             .min = 0,
                             .max = 100'000,
                             .help = "the library finds the memory of a segment that it reads itself"}),
      boot_poll_us(*this, {.name = "boot_poll_us",
                           .unit = "us",
                           .value = 100,
                           .min = 1,
                           .max = 1'000'000,
                           .help = "pause between looks whether the firmware has started"}),
      boot_limit_us(*this, {.name = "boot_limit_us",
                            .unit = "us",
                            .value = 1'000'000,
                            .min = 1,
                            .max = 1'000'000'000,
                            .help = "firmware that has not started by then is broken"}),
      cpu_(cpu),
      window_(std::move(window)),
      image_(std::move(image)),
      facts_(facts),
      command_lock_(this->name()) {}

myvia_driver::~myvia_driver() = default;

// --- Start ----------------------------------------------------------------------------------------------

void myvia_driver::start(host::process& on, card_events& sink) {
    sink_ = &sink;
    const std::uint32_t identity = window_->load_little(on, card_map::config_copy);
    if (identity != (std::uint32_t{card_map::device_id} << 16 | card_map::vendor_id))
        throw sim::input_error("{}: expected a card {:04x}:{:04x}, found {:04x}:{:04x}", name(),
                               card_map::vendor_id, card_map::device_id, identity & 0xFFFF, identity >> 16);
    window_->store_little(
        on, card_map::control,
        card_map::CONTROL_LANAI_RESET_ASSERT | std::uint32_t{card_map::CONTROL_INTERRUPT_DISABLE});
    load_image(on);
    fill_interface(on);
    cpu_.on_interrupt([this](host::context& handler) { interrupt(handler); });
    window_->store_little(
        on, card_map::control,
        card_map::CONTROL_LANAI_RESET_REMOVE | std::uint32_t{card_map::CONTROL_INTERRUPT_ENABLE});
    wait_until_ready(on);
    if (image_.doorbells.kind == myvia::doorbells_in_fifo) set_doorbell_fifo(on);
    set_dma_chains(on);
    window_->store_big(on, interrupt_mask(), abi::lanai9::ISR_HOST_SIG);
    read_limits(on);
}

/// Special registers stand elsewhere on the LANai 4.
std::uint32_t myvia_driver::isr() const {
    return card_map::special_registers +
           (image_.chips == abi::chip_lanai4 ? std::uint32_t{abi::lanai4::ISR} : abi::lanai9::ISR);
}

std::uint32_t myvia_driver::interrupt_mask() const {
    return card_map::special_registers +
           (image_.chips == abi::chip_lanai4 ? std::uint32_t{abi::lanai4::EIMR} : abi::lanai9::EIMR);
}

void myvia_driver::load_image(host::process& on) {
    if (image_.end > facts_.sram_bytes)
        throw sim::input_error("{}: {} needs {} bytes of SRAM, the card has {}", name(), image_.name,
                               image_.end, facts_.sram_bytes);
    for (const card_image::segment& segment : image_.segments)
        window_->store_block(on, card_map::sram + segment.address, segment.bytes);
    window_->fence(on);
}

void myvia_driver::fill_interface(host::process& on) {
    event_ring_.emplace(cpu_.ram(), event_entries * sizeof(myvia::event_entry),
                        contiguous_memory::contents::zero);
    page_table_.emplace(cpu_.ram(), page_table_entries * sizeof(myvia::page_entry),
                        contiguous_memory::contents::any);
    if (facts_.table_stands)
        facts_.table_stands(page_table_->begin(), page_table_entries * sizeof(myvia::page_entry));
    const auto set = [&](std::size_t offset, std::uint64_t value) {
        window_->store_big(on, interface_word(offset), low(value));
    };
    set(offsetof(interface_block, ready), 0);
    set(offsetof(interface_block, go), 0);
    set(offsetof(interface_block, sram_bytes), facts_.sram_bytes);
    set(offsetof(interface_block, host_event_ring_high), event_ring_->begin() >> 32);
    set(offsetof(interface_block, host_event_ring_low), event_ring_->begin());
    set(offsetof(interface_block, host_event_entries), event_entries);
    set(offsetof(interface_block, host_page_table_high), page_table_->begin() >> 32);
    set(offsetof(interface_block, host_page_table_low), page_table_->begin());
    set(offsetof(interface_block, host_page_table_entries), page_table_entries);
    set(offsetof(interface_block, retransmit_ticks), retransmit_ticks());
    set(offsetof(interface_block, retransmit_limit), retransmit_tries);
    set(offsetof(interface_block, command_number), 0);
    set(offsetof(interface_block, event_taken), 0);
}

std::uint64_t myvia_driver::retransmit_ticks() const {
    constexpr std::uint64_t window = myvia::send_window * packet_bytes_max;
    const std::uint64_t needed_ns = retransmit_windows * window * facts_.byte_time / 1000;
    return std::max(retransmit_us * 1000, needed_ns) / abi::lanai9::tick_ns;
}

void myvia_driver::wait_until_ready(host::process& on) {
    const sim::picoseconds limit = sim::now() + boot_limit_us * sim::microsecond;
    while (window_->load_big(on, interface_word(offsetof(interface_block, ready))) != 1) {
        if (sim::now() >= limit)
            throw sim::input_error("{}: {} has not started within {} us", name(), image_.name,
                                   boot_limit_us.get());
        on.sleep_for(boot_poll_us * sim::microsecond);
    }
    const std::uint32_t magic = window_->load_big(on, interface_word(offsetof(interface_block, magic)));
    const std::uint32_t version = window_->load_big(on, interface_word(offsetof(interface_block, version)));
    if (magic != myvia::magic || version != myvia::interface_version)
        throw sim::input_error("{}: {} has interface {:#x} version {}, expected {:#x} version {}", name(),
                               image_.name, magic, version, myvia::magic, myvia::interface_version);
}

void myvia_driver::set_dma_chains(host::process& on) {
    constexpr std::uint32_t word = sizeof(std::uint32_t);
    for (std::uint32_t channel = 0; channel < std::size(interface_block{}.dma_chains); ++channel) {
        const std::uint32_t offset = channel * word;
        window_->store_little(
            on, card_map::pointers + offset,
            window_->load_big(on, interface_word(offsetof(interface_block, dma_chains) + offset)));
    }
    window_->store_big(on, interface_word(offsetof(interface_block, go)), 1);
}

void myvia_driver::set_doorbell_fifo(host::process& on) {
    constexpr std::uint32_t fifo_base = card_map::pointers + 4 * std::uint32_t{sizeof(std::uint32_t)};
    window_->store_little(on, card_map::control, image_.doorbells.size & card_map::CONTROL_FIFO_SIZE_MASK);
    window_->store_little(on, fifo_base, image_.doorbells.sram);
}

void myvia_driver::read_limits(host::process& on) {
    const auto get = [&](std::size_t offset) { return window_->load_big(on, interface_word(offset)); };
    limits_.vis = get(offsetof(interface_block, max_vis));
    limits_.regions = get(offsetof(interface_block, max_regions));
    limits_.completion_queues = get(offsetof(interface_block, max_completion_queues));
    limits_.completion_entries = low(queue_entries_max);
    limits_.processes = get(offsetof(interface_block, max_processes));
    limits_.segments = get(offsetof(interface_block, max_segments));
    limits_.transfer_bytes = get(offsetof(interface_block, max_transfer_bytes));
    limits_.reliability_mask = static_cast<std::uint16_t>(get(offsetof(interface_block, reliability_mask)));
    limits_.rdma_read_mask = 0;
    limits_.descriptors_per_queue = slots();
    limits_.pages = low(page_table_entries);
    limits_.mtu_bytes = abi::packet_payload_max;
    limits_.hardware_version = myvia::interface_version;
    doorbell_pages_ = get(offsetof(interface_block, doorbell_pages));
    if (transfers()) read_transfer_limits(on);
}

// --- Commands -------------------------------------------------------------------------------------------

status myvia_driver::command(host::process& on, myvia::command_op op,
                             std::span<const std::uint32_t> arguments) {
    const kernel_mutex::guard lock(command_lock_, on);
    commands.add();
    constexpr std::size_t request = offsetof(interface_block, request);
    window_->store_big(on, interface_word(request + offsetof(myvia::command, op)), op);
    for (std::size_t i = 0; i < arguments.size(); ++i)
        window_->store_big(on, interface_word(request + offsetof(myvia::command, arguments) + 4 * i),
                           arguments[i]);
    window_->store_big(on, interface_word(offsetof(interface_block, command_number)), ++command_number_);
    wait_for_command(on, op, [&] {
        return window_->load_big(on, interface_word(offsetof(interface_block, command_done))) ==
               command_number_;
    });
    return from_card(window_->load_big(on, interface_word(offsetof(interface_block, command_status))));
}

std::shared_ptr<myvia_doorbells> myvia_driver::make_doorbells(std::uint32_t process) {
    if (image_.doorbells.kind == myvia::doorbells_in_fifo)
        return std::make_shared<myvia_doorbell_region>(*window_, cpu_.ram(), low(limits_.vis),
                                                       credit_poll_clocks);
    if (image_.doorbells.kind == myvia::doorbells_in_vi_pages)
        return std::make_shared<myvia_vi_pages>(*window_, card_map::sram + image_.doorbells.sram,
                                                low(limits_.vis));
    return std::make_shared<myvia_doorbell_page>(
        *window_, cpu_.ram(), card_map::sram + doorbell_pages_ + process * myvia::doorbell_page_bytes,
        credit_poll_clocks);
}

status myvia_driver::open_process(host::process& on, std::uint32_t process) {
    auto doorbells = make_doorbells(process);
    const status result =
        command(on, myvia::command_open_process,
                std::array{process, high(doorbells->host_page()), low(doorbells->host_page())});
    if (result == status::success) processes_[process] = std::move(doorbells);
    return result;
}

void myvia_driver::close_process(host::process& on, std::uint32_t process) {
    command(on, myvia::command_close_process, std::array{process});
    processes_.erase(process);
    pushes_.erase(process);
}

status myvia_driver::vi_command(host::process& on, myvia::command_op op, const vi_setup& setup,
                                host::physical_address send_ring, host::physical_address receive_ring) {
    const vi_attributes& a = setup.attributes;
    return command(
        on, op,
        std::array{setup.vi, setup.process, a.tag, std::uint32_t{a.reliability}, low(a.max_transfer_bytes),
                   enables(a.rdma_write, a.rdma_read), high(send_ring), low(send_ring), high(receive_ring),
                   low(receive_ring), slots(), setup.send_queue.value_or(myvia::no_queue),
                   setup.receive_queue.value_or(myvia::no_queue)});
}

std::uint32_t myvia_driver::slots() const {
    const std::uint32_t tokens = image_.doorbells.token_slots;
    return tokens == 0 ? low(ring_slots) : std::min(low(ring_slots), tokens);
}

std::optional<myvia_tokens> myvia_driver::tokens_of(std::uint32_t vi, bool receive) const {
    const auto& doorbells = image_.doorbells;
    if (doorbells.token_slots == 0) return std::nullopt;
    const std::uint32_t queue_bytes = doorbells.token_slots * myvia::slot_bytes;
    return myvia_tokens{*window_,
                        card_map::sram + doorbells.tokens + (2 * vi + (receive ? 1 : 0)) * queue_bytes,
                        doorbells.token_slots};
}

std::shared_ptr<myvia_work_queue> myvia_driver::make_queue(const vi_setup& of, bool receive) {
    return std::make_shared<myvia_work_queue>(cpu_.ram(), processes_.at(of.process), of.vi, receive, slots(),
                                              swap_clocks, tokens_of(of.vi, receive));
}

status myvia_driver::create_vi(host::process& on, const vi_setup& setup, vi_queues& queues) {
    auto send = make_send_queue(on, setup);
    if (!send) return status::error_resource;
    auto receive = make_queue(setup, true);
    const status result = vi_command(on, myvia::command_create_vi, setup, send->ring(), receive->ring());
    if (result != status::success) {
        end_transfers(on, setup.vi);
        return result;
    }
    vis_[setup.vi] = {.send = send->ring(), .receive = receive->ring()};
    queues = {.send = std::move(send), .receive = std::move(receive)};
    return status::success;
}

status myvia_driver::set_vi(host::process& on, const vi_setup& setup) {
    const rings at = vis_.at(setup.vi);
    if (const auto queue = send_queues_.find(setup.vi); queue != send_queues_.end()) {
        queue->second->set_tag(setup.attributes.tag);
        if (const auto& copies = queue->second->copies()) register_copies(on, setup, *copies);
    }
    return vi_command(on, myvia::command_set_vi, setup, at.send, at.receive);
}

void myvia_driver::destroy_vi(host::process& on, std::uint32_t vi) {
    command(on, myvia::command_destroy_vi, std::array{vi});
    vis_.erase(vi);
    end_transfers(on, vi);
}

status myvia_driver::connect_vi(host::process& on, const connection_setup& setup) {
    const std::array<std::uint32_t, 3> path = route_arguments(setup.path);
    return command(on, myvia::command_connect_vi,
                   std::array{setup.vi, setup.remote_vi, setup.key, path[0], path[1], path[2],
                              low(setup.peer_max_transfer_bytes)});
}

void myvia_driver::disconnect_vi(host::process& on, std::uint32_t vi, vi_state next, bool keep) {
    command(on, myvia::command_disconnect_vi,
            std::array{vi, std::uint32_t{next == vi_state::error ? myvia::vi_error : myvia::vi_idle},
                       std::uint32_t{keep ? 1u : 0u}});
}

void myvia_driver::set_page(std::uint32_t page, host::physical_address frame) {
    const std::uint64_t entry = std::uint64_t{page} * sizeof(myvia::page_entry);
    page_table_->write_big(entry + offsetof(myvia::page_entry, frame_high), high(frame));
    page_table_->write_big(entry + offsetof(myvia::page_entry, frame_low), low(frame));
}

status myvia_driver::set_region(host::process& on, const region_setup& setup) {
    const memory_attributes& a = setup.attributes;
    if (transfers()) regions_->insert_or_assign(setup.handle, setup);
    return command(
        on, myvia::command_set_region,
        std::array{setup.region, setup.handle, high(setup.address), low(setup.address), low(setup.length),
                   setup.first_page, a.tag, enables(a.rdma_write, a.rdma_read)});
}

void myvia_driver::clear_region(host::process& on, std::uint32_t region) {
    if (transfers()) std::erase_if(*regions_, [&](const auto& one) { return one.second.region == region; });
    command(on, myvia::command_clear_region, std::array{region});
}

status myvia_driver::create_queue(host::process& on, std::uint32_t queue, std::uint32_t process,
                                  std::uint32_t entries, std::shared_ptr<completion_queue>& ring) {
    auto made = std::make_shared<myvia_completion_queue>(cpu_.ram(), processes_.at(process), queue,
                                                         std::bit_ceil(std::max(entries, 2u)));
    const status result =
        command(on, myvia::command_create_queue,
                std::array{queue, high(made->ring()), low(made->ring()), made->capacity(), process});
    if (result != status::success) return result;
    queue_owners_[queue] = process;
    ring = std::move(made);
    return result;
}

status myvia_driver::resize_queue(host::process& on, std::uint32_t queue, std::uint32_t entries,
                                  std::shared_ptr<completion_queue>& ring) {
    return create_queue(on, queue, queue_owners_.at(queue), entries, ring);
}

void myvia_driver::destroy_queue(host::process& on, std::uint32_t queue) {
    command(on, myvia::command_destroy_queue, std::array{queue});
    queue_owners_.erase(queue);
}

void myvia_driver::send_control(host::process& on, const route& path, std::span<const std::byte> payload) {
    std::vector<std::uint32_t> arguments(4 + (payload.size() + 3) / 4);
    std::ranges::copy(route_arguments(path), arguments.begin());
    arguments[3] = static_cast<std::uint32_t>(payload.size());
    for (std::size_t i = 0; i < payload.size(); ++i)
        arguments[4 + i / 4] |= std::to_integer<std::uint32_t>(payload[i]) << (24 - 8 * (i % 4));
    command(on, myvia::command_send_control, arguments);
}

// --- Events ---------------------------------------------------------------------------------------------

// An event stands in memory before the card sets HOST_SIG. The bit is cleared first; reading it back makes
// sure that it was, and pushes the card's writes into memory, so an event that is not seen below sets it
// anew.
void myvia_driver::interrupt(host::context& on) {
    if ((window_->load_big(on, isr()) & abi::lanai9::ISR_HOST_SIG) == 0) return;
    interrupts.add();
    window_->store_big(on, isr(), abi::lanai9::ISR_HOST_SIG);
    window_->load_big(on, isr());
    bool any = false;
    while (take_event(on)) any = true;
    if (any) window_->store_big(on, interface_word(offsetof(interface_block, event_taken)), events_taken_);
}

bool myvia_driver::take_event(host::context& on) {
    const auto entries = low(event_entries);
    const std::uint64_t at = std::uint64_t{events_taken_ % entries} * sizeof(myvia::event_entry);
    const std::uint32_t pass = (events_taken_ / entries) % 2 + 1;
    if (event_ring_->read_big(at + offsetof(myvia::event_entry, valid)) != pass) return false;
    std::array<std::byte, sizeof(myvia::event_entry)> entry;
    cpu_.ram().read(event_ring_->begin() + at, entry);
    ++events_taken_;
    events.add();
    on.compute(event_clocks);
    dispatch(entry);
    return true;
}

void myvia_driver::dispatch(std::span<const std::byte> bytes) {
    myvia::event_entry entry;
    std::memcpy(&entry, bytes.data(), sizeof entry);
    const std::uint32_t number = big_endian(entry.vi);
    const std::uint32_t argument = big_endian(entry.argument);
    switch (big_endian(entry.kind)) {
        case myvia::event_control_packet:
            sink_->on_control_packet(bytes.subspan(offsetof(myvia::event_entry, payload),
                                                   std::min<std::size_t>(argument, sizeof entry.payload)));
            break;
        case myvia::event_completion_send:
            sink_->on_completion(number, false);
            break;
        case myvia::event_completion_receive:
            sink_->on_completion(number, true);
            break;
        case myvia::event_completion_queue:
            sink_->on_queue_completion(number);
            break;
        case myvia::event_error:
            sink_->on_error(number, static_cast<error_code>(argument), 0);
            break;
        case myvia::event_transport_lost:
            sink_->on_transport_lost(number);
            break;
        case myvia::event_vi_error:
            sink_->on_vi_error(number);
            break;
        default:
            throw sim::model_error(
                name(), fmt::format("the card reported an event of unknown kind {}", big_endian(entry.kind)));
    }
}

}  // namespace vinic::driver
