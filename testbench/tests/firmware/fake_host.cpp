// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/firmware/fake_host.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "firmware/abi/wire_format.h"

extern "C" volatile vinic::abi::myvia::card_interface_block card_interface;

namespace vinic::testbench {

namespace {

int anchor;  // SRAM addresses count from here

constexpr uint32_t anchor_address = 0x40000000;
constexpr uint64_t page = 4096;
constexpr uint64_t memory_bytes = 24u << 20;
constexpr uint32_t page_table_entries = 8189;  // not a multiple of a line: the last one is short
constexpr uint32_t event_ring_entries = 24;
constexpr unsigned steps_per_tick = 8;  // an idle turn of the main loop takes about 0.1 us, a tick 0.5 us

void append(bytes& to, uint64_t value, unsigned size) {
    for (unsigned i = 0; i != size; ++i) to.push_back(static_cast<uint8_t>(value >> 8 * i));
}

}  // namespace

uint8_t* sram(uint32_t address) {
    const auto base = reinterpret_cast<uintptr_t>(&anchor);
    return reinterpret_cast<uint8_t*>(base +
                                      static_cast<intptr_t>(static_cast<int32_t>(address - anchor_address)));
}

uint32_t sram_address_of(const volatile void* pointer) {
    const auto distance = reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(&anchor);
    return static_cast<uint32_t>(distance) + anchor_address;
}

fake_host::fake_host(const fake_settings& settings) : random(settings.seed), settings_(settings) {
    memory_.resize(memory_bytes);
    for (uint64_t frame = memory_bytes / 2; frame < memory_bytes; frame += page)
        free_frames_.push_back(frame);
    std::shuffle(free_frames_.begin(), free_frames_.end(), random);
    page_table_ = allocate(page_table_entries * 8);
    event_ring_ = allocate(event_ring_entries * 128);
    host_pages_ = allocate(page);
    card_interface.command_number = 0;
    card_interface.command_done = 0;
    card_interface.event_taken = 0;
    card_interface.host_event_ring_high = 0;
    card_interface.host_page_table_high = 0;
    card_interface.host_event_ring_low = static_cast<uint32_t>(event_ring_);
    card_interface.host_event_entries = event_ring_entries;
    card_interface.host_page_table_low = static_cast<uint32_t>(page_table_);
    card_interface.host_page_table_entries = page_table_entries;
    card_interface.retransmit_ticks = 150;  // turns: long enough for a packet of 252 segments
    card_interface.retransmit_limit = 20;
}

uint64_t fake_host::allocate(uint64_t length) {
    const uint64_t at = next_free_;
    next_free_ += (length + page - 1) / page * page + page;  // a page that nobody may touch follows
    if (next_free_ > memory_bytes / 2) throw std::runtime_error("fake host is out of memory");
    allow(at, length);
    return at;
}

bool fake_host::is_allowed(uint64_t from, uint64_t length) const {
    auto after = allowed_.upper_bound(from);
    if (after == allowed_.begin()) return false;
    const auto& [start, size] = *std::prev(after);
    return from >= start && from + length <= start + size;
}

uint32_t fake_host::load_big(uint64_t at) const {
    return uint32_t{memory_.at(at)} << 24 | uint32_t{memory_.at(at + 1)} << 16 |
           uint32_t{memory_.at(at + 2)} << 8 | memory_.at(at + 3);
}

void fake_host::store_big(uint64_t at, uint32_t value) {
    for (unsigned i = 0; i != 4; ++i) memory_.at(at + i) = static_cast<uint8_t>(value >> (24 - 8 * i));
}

// --- Hardware

void fake_host::transfer(uint64_t host, uint32_t local, uint32_t count, bool to_card,
                         const std::string& who) {
    const bool in_memory = host < memory_.size() && host + count <= memory_.size();
    if (!in_memory || !is_allowed(host, count) || count == 0)
        violations.push_back(who + " host address " + std::to_string(host) + " bytes " +
                             std::to_string(count));
    else if (to_card)
        std::memcpy(sram(local), &memory_[host], count);
    else
        std::memcpy(&memory_[host], sram(local), count);
}

void fake_host::start_send(uint32_t first_word, uint32_t skip, uint32_t last_word) {
    sent.emplace_back(sram(first_word) + skip, sram(last_word) + 4);
    sending_ = true;
}

void fake_host::arm_receive(uint32_t limit) {
    receive_limit_ = limit;
    armed_ = true;
}

// The packet that is being sent leaves the card.
void fake_host::leave() {
    if (!sending_ || hold_send) return;
    sending_ = false;
    isr_ |= bits().sent;
    bytes packet = sent.back();
    packet.erase(packet.begin(),
                 std::find_if(packet.begin(), packet.end(), [](uint8_t b) { return b < 0x80; }));
    if (watch) watch(packet);
    if (chance(settings_.loss_percent)) return;
    on_link.push_back(packet);
    if (chance(settings_.duplicate_percent)) on_link.push_back(packet);
}

void fake_host::arrive() {
    if (on_link.empty() || !armed_ || hold_link) return;
    deliver(on_link.front(), chance(settings_.corrupt_percent));
    on_link.pop_front();
}

void fake_host::deliver(const bytes& packet, bool corrupt) {
    const uint32_t room = receive_limit_ + 4 - receive_pointer_;
    const size_t crc_bytes = bits().crc_bytes;
    armed_ = false;
    if (packet.size() + crc_bytes > room) {
        std::memcpy(sram(receive_pointer_), packet.data(), room);
        isr_ |= bits().full;
        on_link.insert(on_link.begin() + 1, bytes(packet.begin() + room, packet.end()));
        return;
    }
    bytes arrived = packet;
    if (corrupt) arrived[random() % arrived.size()] ^= 0x10;
    arrived.resize(packet.size() + crc_bytes);  // remainders of the CRCs, that of the CRC-8 last
    if (corrupt) arrived[packet.size() + random() % std::max<size_t>(crc_bytes - 1, 1)] = 0x5A;
    std::memcpy(sram(receive_pointer_), arrived.data(), arrived.size());
    receive_pointer_ += static_cast<uint32_t>((arrived.size() + 3) / 4 * 4);
    isr_ |= bits().received;
}

void fake_host::step() {
    turn();
    std::vector<unsigned> order(parts() + 2);
    for (unsigned i = 0; i != order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    for (unsigned part : order) {
        if (lazy()) continue;
        if (part < parts())
            move(part);
        else if (part == parts())
            leave();
        else
            arrive();
    }
    if (++steps_ % steps_per_tick == 0) tick();
}

void fake_host::run(unsigned steps) {
    for (unsigned i = 0; i != steps; ++i) step();
}

bool fake_host::run_until(const std::function<bool()>& reached, unsigned limit) {
    for (unsigned i = 0; i != limit; ++i) {
        if (reached()) return true;
        step();
    }
    return reached();
}

// --- Driver

uint32_t fake_host::command(abi::myvia::command_op op, const std::vector<uint32_t>& arguments) {
    card_interface.request.op = op;
    for (size_t i = 0; i != 31; ++i)
        card_interface.request.arguments[i] = i < arguments.size() ? arguments[i] : 0;
    const uint32_t number = card_interface.command_number + 1;
    card_interface.command_number = number;
    if (!run_until([&] { return card_interface.command_done == number; }))
        throw std::runtime_error("a command does not end");
    return card_interface.command_status;
}

void fake_host::open_process(uint32_t process) {
    command(abi::myvia::command_open_process,
            {process, 0, static_cast<uint32_t>(host_pages_ + 64 * process)});
}

memory_region fake_host::register_memory(uint64_t address, uint32_t length, uint32_t tag, uint32_t rdma) {
    memory_region made{address, length, 0, next_region_, {}};
    made.handle = (0x0501u + next_region_) << 16 | (next_region_ + 1);
    const auto pages = static_cast<uint32_t>((address % page + length + page - 1) / page);
    for (uint32_t i = 0; i != pages; ++i) {
        made.frames.push_back(free_frames_.back());
        free_frames_.pop_back();
        store_big(page_table_ + 8 * (next_page_ + i), 0);
        store_big(page_table_ + 8 * (next_page_ + i) + 4, static_cast<uint32_t>(made.frames.back()));
        const uint64_t first = i == 0 ? address % page : 0;
        const uint64_t end = std::min(page, address % page + length - page * i);
        allow(made.frames.back() + first, end - first);
    }
    const uint32_t status = command(abi::myvia::command_set_region,
                                    {next_region_, made.handle, static_cast<uint32_t>(address >> 32),
                                     static_cast<uint32_t>(address), length, next_page_, tag, rdma});
    if (status != 0) throw std::runtime_error("set_region failed");
    ++next_region_;
    next_page_ += pages;
    return made;
}

void fake_host::reuse_pages(const memory_region& ended) {
    next_page_ -= static_cast<uint32_t>(ended.frames.size());
    next_region_ = ended.index;
    for (const uint64_t frame : ended.frames)
        std::erase_if(allowed_, [&](const auto& one) { return one.first / page * page == frame; });
}

memory_region fake_host::register_physical(uint32_t length, uint32_t tag) {
    memory_region made{allocate(length), length, 0, next_region_, {}};
    made.handle = (0x0501u + next_region_) << 16 | (next_region_ + 1);
    for (uint64_t frame = made.address / page * page; frame < made.address + length; frame += page)
        made.frames.push_back(frame);
    if (command(abi::myvia::command_set_region,
                {next_region_, made.handle, 0, static_cast<uint32_t>(made.address), length, 0, tag,
                 abi::myvia::region_physical}) != 0)
        throw std::runtime_error("set_region failed");
    ++next_region_;
    return made;
}

library_vi fake_host::create_vi(uint32_t index, abi::vi_reliability reliability, uint32_t slots, uint32_t tag,
                                uint32_t send_queue, uint32_t receive_queue, uint32_t process, uint32_t rdma,
                                uint32_t max_transfer) {
    library_vi made;
    made.index = index;
    made.slots = slots = std::min(slots, slots_max());
    made.send.ring = allocate(slots * 64);
    made.receive.ring = allocate(slots * 64);
    const uint32_t status = command(
        abi::myvia::command_create_vi,
        {index, process, tag, reliability, max_transfer, rdma, 0, static_cast<uint32_t>(made.send.ring), 0,
         static_cast<uint32_t>(made.receive.ring), slots, send_queue, receive_queue});
    if (status != 0) throw std::runtime_error("create_vi failed");
    page_owners_[index] = process;
    return made;
}

void fake_host::connect(uint32_t one, uint32_t other, uint32_t route, uint32_t key) {
    // Route bytes 0x81, 0x82, ...: each with bit 7 set (facts B6).
    uint8_t hops[8] = {};
    const uint32_t hop_count = route == abi::myvia::route_loopback ? 0 : route;
    for (uint32_t i = 0; i != hop_count; ++i) hops[i] = static_cast<uint8_t>(0x81 + i);
    uint32_t words[2];
    std::memcpy(words, hops, 8);
    for (auto [from, to] : {std::pair{one, other}, std::pair{other, one}})
        if (command(abi::myvia::command_connect_vi, {from, to, key, route, words[0], words[1], 65536}) != 0)
            throw std::runtime_error("connect_vi failed");
}

void fake_host::create_queue(uint32_t index, uint32_t entries, uint32_t process) {
    queue_ring made;
    made.ring = allocate(entries * 8);
    made.entries = entries;
    if (command(abi::myvia::command_create_queue,
                {index, 0, static_cast<uint32_t>(made.ring), entries, process}) != 0)
        throw std::runtime_error("create_queue failed");
    page_owners_[card_interface.max_vis + index] = process;
    queues_[index] = made;
}

std::vector<uint32_t> fake_host::queue_entries(uint32_t queue) {
    std::vector<uint32_t> found;
    queue_ring& of = queues_.at(queue);
    while (load_big(of.ring + 8 * of.index + 4) == of.pass) {
        found.push_back(load_big(of.ring + 8 * of.index));
        if (++of.index == of.entries) of.index = 0, of.pass = 3 - of.pass;
    }
    return found;
}

std::vector<event> fake_host::take_events() {
    std::vector<event> found;
    for (;;) {
        const uint64_t at = event_ring_ + 128 * event_index_;
        if (load_big(at + 124) != event_pass_) break;
        event one{static_cast<uint16_t>(load_big(at) >> 16),
                  static_cast<uint16_t>(load_big(at)),
                  load_big(at + 4),
                  load_big(at + 8),
                  {}};
        if (one.kind == abi::myvia::event_control_packet)
            one.payload.assign(&memory_[at + 12], &memory_[at + 12 + one.argument]);
        found.push_back(one);
        if (++event_index_ == event_ring_entries) event_index_ = 0, event_pass_ = 3 - event_pass_;
        card_interface.event_taken = ++events_taken_;
    }
    return found;
}

// --- Program

uint64_t fake_host::physical(const memory_region& of, uint64_t address) const {
    const uint64_t offset = address - of.address + of.address % page;
    return of.frames.at(offset / page) + offset % page;
}

void fake_host::write(const memory_region& to, uint64_t address, const bytes& data) {
    for (size_t i = 0; i != data.size(); ++i) memory_[physical(to, address + i)] = data[i];
}

bytes fake_host::read(const memory_region& from, uint64_t address, size_t length) {
    bytes data(length);
    for (size_t i = 0; i != length; ++i) data[i] = memory_[physical(from, address + i)];
    return data;
}

// What the library makes of a descriptor: each field turned round (myvia_card.h).
bytes fake_host::in_card_order(const bytes& slot) {
    bytes turned = slot;
    constexpr std::array<std::pair<int, int>, 13> fields = {{{0, 8},
                                                             {8, 4},
                                                             {12, 4},
                                                             {16, 4},
                                                             {20, 4},
                                                             {24, 4},
                                                             {28, 4},
                                                             {32, 8},
                                                             {40, 4},
                                                             {44, 4},
                                                             {48, 8},
                                                             {56, 4},
                                                             {60, 4}}};
    for (const auto& [from, length] : fields)
        std::reverse(turned.begin() + from, turned.begin() + from + length);
    return turned;
}

bool fake_host::is_owner(uint32_t page_number, uint32_t process) const {
    const auto owner = page_owners_.find(page_number);
    return owner != page_owners_.end() && owner->second == process;
}

void fake_host::put_slot(library_vi& to, library_queue& queue, const bytes& slot) {
    const bytes turned = in_card_order(slot);
    std::copy(turned.begin(), turned.end(), memory_.begin() + queue.ring + queue.posted % to.slots * 64);
    ++queue.posted;
}

void fake_host::post_send(library_vi& to, const bytes& slot) {
    put_slot(to, to.send, slot);
    ring(abi::myvia::doorbell_send, to.index, to.send.posted);
}

void fake_host::post_receive(library_vi& to, const bytes& slot) {
    put_slot(to, to.receive, slot);
    ring(abi::myvia::doorbell_receive, to.index, to.receive.posted);
}

void fake_host::push_send(library_vi& to, uint32_t entry, const bytes& slot, const bytes& payload) {
    auto* area = reinterpret_cast<abi::myvia::pushed_message*>(sram(card_interface.push_areas));
    const bytes turned = in_card_order(slot);
    std::memcpy(&area[entry].slot, turned.data(), turned.size());
    std::memcpy(area[entry].payload, payload.data(), payload.size());
    put_slot(to, to.send, slot);
    ring(static_cast<abi::myvia::doorbell_op>(abi::myvia::doorbell_send_pushed + entry), to.index,
         to.send.posted);
}

bytes fake_host::slot_bytes(const library_vi& of, const library_queue& queue, uint32_t slot) const {
    const auto at = memory_.begin() + queue.ring + slot % of.slots * 64;
    return bytes(at, at + 64);
}

bytes fake_host::slot_of(const std::vector<data_segment>& segments, const memory_region& memory,
                         uint64_t descriptor, uint16_t control, uint32_t immediate) {
    slot_contents made = message(segments, control, immediate);
    made.next = descriptor;
    made.next_handle = memory.handle;
    if (segments.size() > 2)
        write(memory, descriptor + 64,
              encode(std::vector<data_segment>(segments.begin() + 2, segments.end())));
    return encode(made);
}

bool fake_host::completed(const library_vi& of, const library_queue& queue) const {
    return queue.seen != queue.posted && (load_big(queue.ring + queue.seen % of.slots * 64 + 28) & 1) != 0;
}

completion fake_host::take(const library_vi& of, library_queue& queue) {
    const uint64_t at = queue.ring + queue.seen++ % of.slots * 64;
    return {load_big(at + 28), load_big(at + 24), load_big(at + 20)};
}

completion fake_host::wait(const library_vi& of, library_queue& queue) {
    if (!run_until([&] { return completed(of, queue); }))
        throw std::runtime_error("a descriptor never completes");
    return take(of, queue);
}

uint32_t fake_host::doorbells_taken(uint32_t process) const { return load_big(host_pages_ + 64 * process); }

// --- Descriptors

bytes encode(const std::vector<data_segment>& segments) {
    bytes made;
    for (const data_segment& one : segments) {
        append(made, one.address, 8);
        append(made, one.handle, 4);
        append(made, one.length, 4);
    }
    return made;
}

bytes encode(const slot_contents& contents) {
    bytes made;
    append(made, contents.next, 8);
    append(made, contents.next_handle, 4);
    append(made, contents.segment_count, 2);
    append(made, contents.control, 2);
    append(made, contents.reserved, 4);
    append(made, contents.immediate, 4);
    append(made, contents.length, 4);
    append(made, 0, 4);
    const bytes segments = encode(std::vector<data_segment>{contents.segments[0], contents.segments[1]});
    made.insert(made.end(), segments.begin(), segments.end());
    return made;
}

bytes random_bytes(std::mt19937& random, size_t length) {
    bytes made(length);
    for (uint8_t& one : made) one = static_cast<uint8_t>(random());
    return made;
}

std::vector<data_segment> cut(std::mt19937& random, const memory_region& in, uint64_t address,
                              uint32_t length, size_t count) {
    std::vector<uint32_t> cuts = {0, length};
    while (cuts.size() < count + 1) cuts.push_back(length == 0 ? 0 : random() % (length + 1));
    std::sort(cuts.begin(), cuts.end());
    std::vector<data_segment> made;
    for (size_t i = 0; i != count; ++i) made.push_back({address + cuts[i], in.handle, cuts[i + 1] - cuts[i]});
    return made;
}

slot_contents message(const std::vector<data_segment>& segments, uint16_t control, uint32_t immediate) {
    slot_contents made;
    made.control = control;
    made.immediate = immediate;
    made.segment_count = static_cast<uint16_t>(segments.size());
    for (size_t i = 0; i != segments.size(); ++i) {
        if ((control & abi::vi_op_mask) == abi::vi_op_send_receive || i != 0)
            made.length += segments[i].length;
        if (i < 2) made.segments[i] = segments[i];
    }
    return made;
}

}  // namespace vinic::testbench
