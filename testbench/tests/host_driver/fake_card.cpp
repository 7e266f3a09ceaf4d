// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/host_driver/fake_card.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "firmware/abi/card_map.h"
#include "firmware/abi/lanai_registers.h"
#include "firmware/abi/vi_descriptor.h"
#include "host_driver/byte_order.h"
#include "hw/sim/time.h"

namespace vinic::driver::test {

namespace {

namespace myvia = abi::myvia;
using block = myvia::card_interface_block;

constexpr sim::picoseconds microsecond = 1'000'000;
constexpr sim::picoseconds dma_time = microsecond;
constexpr sim::picoseconds wire_time = 5 * microsecond;

std::uint64_t join(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

void after(sim::picoseconds span, std::function<void()> what) {
    sc_core::sc_spawn([span, what = std::move(what)] {
        sc_core::wait(sim::to_sc_time(span));
        what();
    });
}

abi::connection_packet parsed(std::span<const std::byte> payload) {
    abi::connection_packet p{};
    std::memcpy(&p, payload.data(), std::min(payload.size(), sizeof p));
    p.vi = big_endian(p.vi);
    p.other_vi = big_endian(p.other_vi);
    p.attempt = big_endian(p.attempt);
    p.other_attempt = big_endian(p.other_attempt);
    p.key = big_endian(p.key);
    p.max_transfer_bytes = big_endian(p.max_transfer_bytes);
    return p;
}

}  // namespace

void fake_network::send_control(std::optional<unsigned> to, unsigned from, std::vector<std::byte> payload) {
    const abi::connection_packet packet = parsed(payload);
    control_packets.push_back(packet);
    const unsigned copies = filter(packet);
    fake_card& target = at(to.value_or(from));
    for (unsigned i = 0; i < copies; ++i)
        after(wire_time, [&target, payload] {
            target.event(myvia::event_control_packet, 0, static_cast<std::uint32_t>(payload.size()), payload);
        });
}

/// The card as its driver reaches it: each access takes a little of the processor's time.
class fake_card::fake_window : public card_window {
public:
    explicit fake_window(fake_card& card) : card_(card) {}
    void store(host::context& on, std::uint32_t offset, std::uint32_t word) override {
        on.compute(20);
        card_.store(offset, word);
    }
    std::uint32_t load(host::context& on, std::uint32_t offset) override {
        on.compute(200);
        return card_.load(offset);
    }
    void store_block(host::context& on, std::uint32_t offset, std::span<const std::byte> from) override {
        on.compute(from.size());
        for (std::size_t i = 0; i + 4 <= from.size(); i += 4) {
            std::uint32_t word;
            std::memcpy(&word, from.data() + i, 4);
            card_.store(offset + static_cast<std::uint32_t>(i), word);
        }
    }
    void fence(host::context& on) override { on.compute(10); }

private:
    fake_card& card_;
};

card_image fake_card::image() {
    card_image image{.name = "fake", .end = interface_at + sizeof(block), .interface_address = interface_at};
    image.segments.push_back({.address = 0x100, .bytes = std::vector<std::byte>(8, std::byte{0xA5})});
    return image;
}

std::unique_ptr<card_window> fake_card::window() { return std::make_unique<fake_window>(*this); }

// --- The window ----------------------------------------------------------------------------------------

std::uint32_t fake_card::load(std::uint32_t offset) {
    if (offset == abi::card_map::config_copy)
        return little_endian(std::uint32_t{abi::card_map::device_id} << 16 | abi::card_map::vendor_id);
    if (offset == abi::card_map::special_registers + abi::lanai9::ISR)
        return big_endian(host_signal_ ? std::uint32_t{abi::lanai9::ISR_HOST_SIG} : 0u);
    return big_endian(sram_[offset]);
}

void fake_card::store(std::uint32_t offset, std::uint32_t raw) {
    if (offset == abi::card_map::control) {
        if ((little_endian(raw) & abi::card_map::CONTROL_LANAI_RESET_REMOVE) != 0) start();
        return;
    }
    const std::uint32_t word = big_endian(raw);
    if (offset == abi::card_map::special_registers + abi::lanai9::ISR) {
        host_signal_ = false;
        cpu_.interrupt_level(false);
        return;
    }
    sram_[offset] = word;
    if (offset == interface_at + offsetof(block, command_number) && word != 0) {
        sram_[interface_at + offsetof(block, command_status)] = execute();
        sram_[interface_at + offsetof(block, command_done)] = word;
    }
    if (offset >= doorbells_at && offset < doorbells_at + max_processes * myvia::doorbell_page_bytes)
        take_doorbells();
}

void fake_card::start() {
    const auto set = [&](std::size_t offset, std::uint32_t value) { sram_[interface_at + offset] = value; };
    set(offsetof(block, magic), myvia::magic);
    set(offsetof(block, version), myvia::interface_version);
    set(offsetof(block, max_vis), max_vis);
    set(offsetof(block, max_regions), max_regions);
    set(offsetof(block, max_completion_queues), max_queues);
    set(offsetof(block, max_processes), max_processes);
    set(offsetof(block, max_segments), 252);
    set(offsetof(block, max_transfer_bytes), 65536);
    set(offsetof(block, reliability_mask), 7);
    set(offsetof(block, doorbell_pages), doorbells_at);
    after(30 * microsecond, [this] { sram_[interface_at + offsetof(block, ready)] = 1; });
}

// --- Host memory ----------------------------------------------------------------------------------------

void fake_card::write(host::physical_address at, std::span<const std::byte> bytes) {
    cpu_.ram().write_at(at, bytes, sim::now() + dma_time);
}

void fake_card::write_big(host::physical_address at, std::uint32_t word) {
    write(at, std::bit_cast<std::array<std::byte, 4>>(big_endian(word)));
}

host::physical_address fake_card::page_entry(std::uint32_t index) {
    const host::physical_address table = join(interface_word(offsetof(block, host_page_table_high)),
                                              interface_word(offsetof(block, host_page_table_low)));
    std::array<std::uint32_t, 2> entry;
    cpu_.ram().dma_read(table + std::uint64_t{index} * sizeof(myvia::page_entry),
                        std::as_writable_bytes(std::span(entry)));
    return join(big_endian(entry[0]), big_endian(entry[1]));
}

void fake_card::event(myvia::event_kind kind, std::uint32_t vi, std::uint32_t argument_word,
                      std::span<const std::byte> payload) {
    const std::uint32_t entries = interface_word(offsetof(block, host_event_entries));
    const host::physical_address ring = join(interface_word(offsetof(block, host_event_ring_high)),
                                             interface_word(offsetof(block, host_event_ring_low)));
    if (events_ - interface_word(offsetof(block, event_taken)) >= entries) return;
    myvia::event_entry entry{};
    entry.kind = big_endian(static_cast<std::uint16_t>(kind));
    entry.vi = big_endian(static_cast<std::uint16_t>(vi));
    entry.argument = big_endian(argument_word);
    if (!payload.empty()) std::memcpy(entry.payload, payload.data(), payload.size());
    entry.valid = big_endian(events_ / entries % 2 + 1);
    write(ring + events_ % entries * sizeof entry, std::as_bytes(std::span(&entry, 1)));
    ++events_;
    after(dma_time, [this] {
        host_signal_ = true;
        cpu_.interrupt_level(true);
    });
}

// --- Commands -------------------------------------------------------------------------------------------

std::uint32_t fake_card::argument(unsigned index) {
    return interface_word(offsetof(block, request) + offsetof(myvia::command, arguments) + 4 * index);
}

std::uint32_t fake_card::execute() {
    const std::uint32_t op = interface_word(offsetof(block, request) + offsetof(myvia::command, op));
    commands.push_back(op);
    const std::uint32_t first = argument(0);
    switch (op) {
        case myvia::command_create_vi:
        case myvia::command_set_vi: {
            vi_state& v = vis[first];
            for (unsigned i = 0; i < sizeof v.created / 4; ++i)
                std::memcpy(reinterpret_cast<char*>(&v.created) + 4 * i,
                            &sram_[interface_at + offsetof(block, request) +
                                   offsetof(myvia::command, arguments) + 4 * i],
                            4);
            if (op == myvia::command_set_vi) return myvia::command_ok;
            v.state = myvia::vi_idle;
            v.send = {.ring = join(v.created.send_ring_high, v.created.send_ring_low),
                      .queue = v.created.send_queue};
            v.receive = {.ring = join(v.created.receive_ring_high, v.created.receive_ring_low),
                         .queue = v.created.receive_queue};
            return myvia::command_ok;
        }
        case myvia::command_destroy_vi:
            vis[first].state = myvia::vi_unused;
            return myvia::command_ok;
        case myvia::command_connect_vi: {
            myvia::connect_vi_arguments& c = vis[first].connected;
            c = {.vi = first,
                 .remote_vi = argument(1),
                 .connection_key = argument(2),
                 .route_length = argument(3),
                 .peer_max_transfer = argument(6)};
            for (unsigned i = 0; i < 8; ++i)
                c.route[i] = static_cast<std::uint8_t>(argument(4 + i / 4) >> (24 - 8 * (i % 4)));
            if (vis[first].state != myvia::vi_idle) return myvia::command_wrong_state;
            vis[first].state = myvia::vi_connected;
            run_sends(first);
            return myvia::command_ok;
        }
        case myvia::command_disconnect_vi:
            return disconnect(first, argument(1), argument(2) == 1);
        case myvia::command_set_region:
            regions[first] = {.region = first,
                              .handle = argument(1),
                              .address_high = argument(2),
                              .address_low = argument(3),
                              .length = argument(4),
                              .first_page = argument(5),
                              .protection_tag = argument(6),
                              .rdma_enables = argument(7)};
            return myvia::command_ok;
        case myvia::command_clear_region:
            regions.erase(first);
            return myvia::command_ok;
        case myvia::command_open_process:
            open[first] = true;
            host_pages_[first] = join(argument(1), argument(2));
            doorbells_taken[first] = 0;
            return myvia::command_ok;
        case myvia::command_close_process:
            open[first] = false;
            return myvia::command_ok;
        case myvia::command_create_queue: {
            queue_state& q = queues[first];
            if (q.entries == 0) q.produced = 0;
            q.ring = join(argument(1), argument(2));
            q.entries = argument(3);
            q.index = 0;
            q.pass = 1;
            return myvia::command_ok;
        }
        case myvia::command_destroy_queue:
            queues[first].entries = 0;
            return myvia::command_ok;
        case myvia::command_send_control: {
            std::vector<std::byte> payload(argument(3));
            for (std::size_t i = 0; i < payload.size(); ++i)
                payload[i] =
                    static_cast<std::byte>(argument(static_cast<unsigned>(4 + i / 4)) >> (24 - 8 * (i % 4)));
            network_.send_control(
                first == myvia::route_loopback ? std::nullopt : std::optional(argument(1) >> 24), number_,
                std::move(payload));
            return myvia::command_ok;
        }
        default:
            return myvia::command_bad_argument;
    }
}

std::uint32_t fake_card::disconnect(std::uint32_t vi, std::uint32_t next, bool keep) {
    vis[vi].state = next;
    if (!keep) flush(vi);
    return myvia::command_ok;
}

void fake_card::flush(std::uint32_t vi) {
    for (const bool receive : {false, true}) {
        const ring_state& r = receive ? vis[vi].receive : vis[vi].send;
        while (r.completed != r.posted)
            complete(vi, receive, 0, 0,
                     abi::vi_status_flushed_error | (receive ? abi::vi_status_op_receive : 0u));
    }
}

// --- Doorbells and messages -----------------------------------------------------------------------------

void fake_card::take_doorbells() {
    for (std::uint32_t process = 0; process < max_processes; ++process)
        if (open[process]) take_doorbells(process);
}

void fake_card::take_doorbells(std::uint32_t process) {
    std::uint32_t& taken = doorbells_taken[process];
    while (takes_doorbells) {
        const std::uint32_t entry =
            doorbells_at + process * myvia::doorbell_page_bytes +
            taken % myvia::doorbells_per_page * static_cast<std::uint32_t>(sizeof(myvia::doorbell));
        const myvia::doorbell d{.what = sram_[entry], .data = sram_[entry + 4]};
        if ((d.what & myvia::doorbell_valid) == 0) return;
        sram_[entry] = 0;
        ++taken;
        if (taken % (myvia::doorbells_per_page / 4) == 0) write_big(host_pages_[process], taken);
        doorbell_log.push_back(d);
        ring(d);
    }
}

void fake_card::ring(const myvia::doorbell& d) {
    const std::uint32_t index = d.what & 0xFFFF;
    switch (d.what >> 16 & 0x7FFF) {
        case myvia::doorbell_send:
            vis[index].send.posted = d.data;
            if (vis[index].state == myvia::vi_connected) return run_sends(index);
            while (vis[index].send.completed != vis[index].send.posted)
                complete(index, false, 0, 0, abi::vi_status_flushed_error);
            return;
        case myvia::doorbell_receive:
            vis[index].receive.posted = d.data;
            if (vis[index].state == myvia::vi_error) flush(index);
            return;
        case myvia::doorbell_arm_send:
            return arm(vis[index].send, index, false, d.data);
        case myvia::doorbell_arm_receive:
            return arm(vis[index].receive, index, true, d.data);
        case myvia::doorbell_arm_queue:
            queues[index].armed = queues[index].produced == d.data;
            if (!queues[index].armed) event(myvia::event_completion_queue, index, 0);
            return;
    }
}

void fake_card::arm(ring_state& of, std::uint32_t vi, bool receive, std::uint32_t seen) {
    of.armed = of.completed == seen;
    if (!of.armed) event(receive ? myvia::event_completion_receive : myvia::event_completion_send, vi, 0);
}

// The slot, turned into this machine's byte order.
myvia::slot fake_card::read_slot(host::physical_address at) {
    using driver::big_endian;
    std::array<std::byte, myvia::slot_bytes> raw;
    cpu_.ram().dma_read(at, raw);
    auto s = std::bit_cast<myvia::slot>(raw);
    for (std::uint32_t* field :
         {&s.next_handle, &s.control_and_count, &s.reserved, &s.immediate, &s.length, &s.status})
        *field = big_endian(*field);
    s.next = big_endian(s.next);
    for (myvia::slot_segment& one : s.segments)
        one = {big_endian(one.address), big_endian(one.handle), big_endian(one.length)};
    return s;
}

// Gathers or scatters the payload of up to two segments, page by page; returns the bytes moved.
std::uint32_t fake_card::move(host::physical_address slot, std::vector<std::byte>& bytes, bool into_memory) {
    const myvia::slot from = read_slot(slot);
    std::uint32_t moved = 0;
    for (unsigned i = 0; i < std::min(from.control_and_count & 0xFFFF, myvia::slot_segments); ++i) {
        const myvia::slot_segment& s = from.segments[i];
        const myvia::region_arguments& r = regions.at((s.handle & 0xFFFF) - 1);
        const std::uint64_t base = join(r.address_high, r.address_low);
        for (std::uint32_t j = 0; j < s.length; ++j) {
            if (into_memory && moved == bytes.size()) return moved;
            const std::uint64_t at = s.address + j;
            const std::uint32_t page = r.first_page + static_cast<std::uint32_t>((at >> 12) - (base >> 12));
            const host::physical_address physical = page_entry(page) + at % host::page_bytes;
            if (into_memory) {
                write(physical, std::span(bytes).subspan(moved, 1));
            } else {
                std::byte b;
                cpu_.ram().dma_read(physical, std::span(&b, 1));
                bytes.push_back(b);
            }
            ++moved;
        }
    }
    return moved;
}

void fake_card::run_sends(std::uint32_t vi) {
    ring_state& r = vis[vi].send;
    while (r.completed != r.posted) {
        const host::physical_address slot =
            r.ring + (r.completed & (vis[vi].created.ring_slots - 1)) * myvia::slot_bytes;
        const myvia::slot from = read_slot(slot);
        std::vector<std::byte> payload;
        const std::uint32_t bytes = move(slot, payload, false);
        const myvia::connect_vi_arguments& c = vis[vi].connected;
        fake_card& peer = c.route_length == myvia::route_loopback ? *this : network_.at(c.route[0]);
        after(wire_time, [&peer, c, payload, from] {
            peer.deliver(c.remote_vi, c.connection_key, payload, from.immediate,
                         (from.control_and_count >> 16 & abi::vi_control_immediate) != 0);
        });
        complete(vi, false, from.immediate, bytes, abi::vi_status_op_send);
    }
}

void fake_card::deliver(std::uint32_t vi, std::uint32_t key, const std::vector<std::byte>& payload,
                        std::uint32_t immediate, bool has_immediate) {
    vi_state& v = vis[vi];
    if (v.state != myvia::vi_connected || v.connected.connection_key != key) return;
    if (v.receive.completed == v.receive.posted) {
        event(myvia::event_error, vi, 2);  // facts vipl.md 1.3: RECVQ_EMPTY
        return;
    }
    std::vector<std::byte> bytes = payload;
    const host::physical_address slot =
        v.receive.ring + (v.receive.completed & (v.created.ring_slots - 1)) * myvia::slot_bytes;
    const std::uint32_t moved = move(slot, bytes, true);
    complete(vi, true, immediate, moved,
             abi::vi_status_op_receive | (has_immediate ? abi::vi_status_immediate : 0u) |
                 (moved < payload.size() ? abi::vi_status_length_error : 0u));
}

void fake_card::complete(std::uint32_t vi, bool receive, std::uint32_t immediate, std::uint32_t length,
                         std::uint32_t status) {
    ring_state& r = receive ? vis[vi].receive : vis[vi].send;
    const std::array<std::uint32_t, 4> words{0, big_endian(immediate), big_endian(length),
                                             big_endian(status | abi::vi_status_done)};
    write(r.ring + (r.completed++ & (vis[vi].created.ring_slots - 1)) * myvia::slot_bytes +
              myvia::slot_completion_offset,
          std::as_bytes(std::span(words)));
    if (r.queue != myvia::no_queue) {
        queue_state& q = queues[r.queue];
        const std::array<std::uint32_t, 2> entry{big_endian(vi | (receive ? myvia::completion_receive : 0u)),
                                                 big_endian(q.pass)};
        write(q.ring + q.index * sizeof(myvia::completion_entry), std::as_bytes(std::span(entry)));
        ++q.produced;
        if (++q.index == q.entries) {
            q.index = 0;
            q.pass = 3 - q.pass;
        }
        if (std::exchange(q.armed, false)) event(myvia::event_completion_queue, r.queue, 0);
    }
    if (std::exchange(r.armed, false))
        event(receive ? myvia::event_completion_receive : myvia::event_completion_send, vi, 0);
}

}  // namespace vinic::driver::test
