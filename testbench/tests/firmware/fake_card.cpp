// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/firmware/fake_card.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

namespace vinic::testbench {

namespace {

fake_card* card = nullptr;
int anchor;  // SRAM addresses count from here

constexpr uint32_t anchor_address = 0x40000000;
constexpr uint64_t page = 4096;
constexpr uint64_t memory_bytes = 24u << 20;
constexpr uint32_t page_table_entries = 8189;  // not a multiple of a line: the last one is short
constexpr uint32_t event_ring_entries = 24;
constexpr std::size_t crc_bytes = 5;
constexpr unsigned steps_per_tick = 8;  // an idle turn of the main loop takes about 0.1 us, a tick 0.5 us

uint8_t* sram(uint32_t address) {
    const auto base = reinterpret_cast<uintptr_t>(&anchor);
    return reinterpret_cast<uint8_t*>(base +
                                      static_cast<intptr_t>(static_cast<int32_t>(address - anchor_address)));
}

template <typename type>
void clear(type& object) {
    std::memset(reinterpret_cast<void*>(&object), 0, sizeof(object));
}

// The firmware's variables as the loader leaves them.
void reset_firmware() {
    using namespace myvia;
    clear(work), clear(regions), clear(translation_lines), clear(translation_tags), clear(packets);
    clear(free_packets), clear(wire_queue), clear(arrival_queue), clear(dropped_packets), clear(vis);
    clear(send_records), clear(scheduled_vis), clear(timed_vis), clear(on_wire), clear(on_deck);
    clear(engine_done);
    clear(acknowledging_vis), clear(flushing_vis), clear(receive_window), clear(events), clear(epochs);
    clear(completion_queues), clear(acknowledge_timer), clear(retransmit_timer), clear(registrations);
    clear(processes), clear(open_processes), clear(bells), clear(open_count), clear(doorbell_page_of);
    clear(progress);
    clear(short_reads), clear(payload_reads), clear(writes), clear(credits);
    auto& interface = const_cast<abi::myvia::card_interface_block&>(card_interface);
    interface = {.magic = abi::myvia::magic, .version = abi::myvia::interface_version};
}

void append(bytes& to, uint64_t value, unsigned size) {
    for (unsigned i = 0; i != size; ++i) to.push_back(static_cast<uint8_t>(value >> 8 * i));
}

}  // namespace

fake_card::fake_card(const fake_settings& settings) : random(settings.seed), settings_(settings) {
    card = this;
    memory_.resize(memory_bytes);
    for (uint64_t frame = memory_bytes / 2; frame < memory_bytes; frame += page)
        free_frames_.push_back(frame);
    std::shuffle(free_frames_.begin(), free_frames_.end(), random);
    page_table_ = allocate(page_table_entries * 8);
    event_ring_ = allocate(event_ring_entries * 128);
    host_pages_ = allocate(page);
    reset_firmware();
    card_interface.host_event_ring_low = static_cast<uint32_t>(event_ring_);
    card_interface.host_event_entries = event_ring_entries;
    card_interface.host_page_table_low = static_cast<uint32_t>(page_table_);
    card_interface.host_page_table_entries = page_table_entries;
    card_interface.retransmit_ticks = 150;  // turns: long enough for a packet of 252 segments
    card_interface.retransmit_limit = 20;
    myvia::initialise<doorbells>();
    for (unsigned i = 0; i != 4; ++i) channels_[i].block = card_interface.dma_chains[i];
    open_process(0);
}

uint64_t fake_card::allocate(uint64_t length, bool) {
    const uint64_t at = next_free_;
    next_free_ += (length + page - 1) / page * page + page;  // a page that nobody may touch follows
    if (next_free_ > memory_bytes / 2) throw std::runtime_error("fake host is out of memory");
    allow(at, length);
    return at;
}

bool fake_card::is_allowed(uint64_t from, uint64_t length) const {
    auto after = allowed_.upper_bound(from);
    if (after == allowed_.begin()) return false;
    const auto& [start, size] = *std::prev(after);
    return from >= start && from + length <= start + size;
}

uint32_t fake_card::load_big(uint64_t at) const {
    return uint32_t{memory_.at(at)} << 24 | uint32_t{memory_.at(at + 1)} << 16 |
           uint32_t{memory_.at(at + 2)} << 8 | memory_.at(at + 3);
}

void fake_card::store_big(uint64_t at, uint32_t value) {
    for (unsigned i = 0; i != 4; ++i) memory_.at(at + i) = static_cast<uint8_t>(value >> (24 - 8 * i));
}

// --- Hardware

uint32_t fake_card::load_register(uint32_t offset) {
    using namespace abi::lanai9;
    if (offset == ISR) {
        if (random() % settings_.laziness == 0) leave();
        return isr_;
    }
    if (offset == RMP) return receive_pointer_;
    throw std::runtime_error("the firmware loads a register that it does not need");
}

void fake_card::store_register(uint32_t offset, uint32_t value) {
    using namespace abi::lanai9;
    if (offset == ISR) {
        isr_ &= ~(value & ~ISR_HOST_SIG);
        if (value & ISR_HOST_SIG) ++interrupts;
    } else if (offset == PULSE) {
        for (unsigned i = 0; i != 4; ++i) channels_[i].pulses += value >> i & 1;
    } else if (offset == IT0 || offset == IT1) {
        timers_[offset == IT1] = value;
    } else if (offset == MYRINET) {
        crc32_enabled_ = (value & MYRINET_CRC32_ENABLE) != 0;
    } else if (offset == RMC) {
        if (!crc32_enabled_) throw std::runtime_error("packets are received without CRC-32");
        receive_pointer_ = value;
    } else if (offset == RML) {
        receive_limit_ = value;
        armed_ = true;
    } else if (offset == SMP) {
        require_idle_send_engine();
        send_start_ = value;
    } else if (offset == SMC) {
        require_idle_send_engine();
        crc32_start_ = value;
    } else if (offset == SA) {
        send_skip_ = value;
    } else if (offset == SMLT) {
        require_idle_send_engine();
        const uint8_t* first = sram(send_start_) + send_skip_;
        sent.emplace_back(first, static_cast<const uint8_t*>(sram(value) + 4));
        if (sram(crc32_start_) != std::find_if(first, first + 9, [](uint8_t b) { return b < 0x80; }))
            throw std::runtime_error("the CRC-32 of a packet does not start behind its route");
        sending_ = true;
    }
}

void fake_card::require_idle_send_engine() const {
    if (sending_) throw std::runtime_error("the send engine is written to while it runs");
}

void fake_card::run_dma(unsigned number) {
    channel& engine = channels_[number];
    if (engine.pulses == 0 || hold_dma[number]) return;
    auto* block = reinterpret_cast<abi::dma_block*>(sram(engine.block));
    const uint64_t host = uint64_t{block->host_high} << 32 | block->host_low;
    const bool in_memory = host < memory_.size() && host + block->bytes <= memory_.size();
    if (!in_memory || !is_allowed(host, block->bytes) || block->bytes == 0)
        violations.push_back("channel " + std::to_string(number) + " host address " + std::to_string(host) +
                             " bytes " + std::to_string(block->bytes));
    else if (block->next_and_flags & abi::dma_flag_host_to_lanai)
        std::memcpy(sram(block->local_address), &memory_[host], block->bytes), ++dma_reads[number];
    else
        std::memcpy(&memory_[host], sram(block->local_address), block->bytes);
    block->checksum = 0xFFFF;
    engine.block = block->next_and_flags & ~abi::dma_flags_mask;
    if (block->next_and_flags & abi::dma_flag_terminal) --engine.pulses;
    constexpr uint32_t wakes[4] = {abi::lanai9::ISR_WAKE0, abi::lanai9::ISR_WAKE1, abi::lanai9::ISR_WAKE2, 0};
    if (block->next_and_flags & abi::dma_flag_wake) isr_ |= wakes[number];
}

// The packet that is being sent leaves the card.
void fake_card::leave() {
    if (!sending_ || hold_send) return;
    sending_ = false;
    isr_ |= abi::lanai9::ISR_SEND;
    bytes packet = sent.back();
    packet.erase(packet.begin(),
                 std::find_if(packet.begin(), packet.end(), [](uint8_t b) { return b < 0x80; }));
    if (watch) watch(packet);
    if (chance(settings_.loss_percent)) return;
    on_link.push_back(packet);
    if (chance(settings_.duplicate_percent)) on_link.push_back(packet);
}

void fake_card::arrive() {
    if (on_link.empty() || !armed_ || hold_link) return;
    deliver(on_link.front(), chance(settings_.corrupt_percent));
    on_link.pop_front();
}

void fake_card::deliver(const bytes& packet, bool corrupt) {
    const uint32_t room = receive_limit_ + 4 - receive_pointer_;
    armed_ = false;
    if (packet.size() + crc_bytes > room) {
        std::memcpy(sram(receive_pointer_), packet.data(), room);
        isr_ |= abi::lanai9::ISR_BUFF;
        on_link.insert(on_link.begin() + 1, bytes(packet.begin() + room, packet.end()));
        return;
    }
    bytes arrived = packet;
    if (corrupt) arrived[random() % arrived.size()] ^= 0x10;
    arrived.resize(packet.size() + crc_bytes);  // remainders of CRC-32 and CRC-8
    if (corrupt) arrived[packet.size() + random() % 4] = 0x5A;
    std::memcpy(sram(receive_pointer_), arrived.data(), arrived.size());
    receive_pointer_ += static_cast<uint32_t>((arrived.size() + 3) / 4 * 4);
    isr_ |= abi::lanai9::ISR_RECV;
}

void fake_card::step() {
    myvia::poll<doorbells>();
    unsigned order[6] = {0, 1, 2, 3, 4, 5};
    std::shuffle(order, order + 6, random);
    for (unsigned part : order) {
        if (random() % settings_.laziness != 0) continue;
        if (part < 4)
            run_dma(part);
        else if (part == 4)
            leave();
        else
            arrive();
    }
    if (++steps_ % steps_per_tick != 0) return;
    for (unsigned i = 0; i != 2; ++i)
        if (timers_[i] != 0 && --timers_[i] == 0)
            isr_ |= i == 0 ? abi::lanai9::ISR_TIME0 : abi::lanai9::ISR_TIME1;
}

void fake_card::run(unsigned steps) {
    for (unsigned i = 0; i != steps; ++i) step();
}

bool fake_card::run_until(const std::function<bool()>& reached, unsigned limit) {
    for (unsigned i = 0; i != limit; ++i) {
        if (reached()) return true;
        step();
    }
    return reached();
}

// --- Driver

uint32_t fake_card::command(abi::myvia::command_op op, const std::vector<uint32_t>& arguments) {
    card_interface.request.op = op;
    for (size_t i = 0; i != 31; ++i)
        card_interface.request.arguments[i] = i < arguments.size() ? arguments[i] : 0;
    const uint32_t number = card_interface.command_number + 1;
    card_interface.command_number = number;
    if (!run_until([&] { return card_interface.command_done == number; }))
        throw std::runtime_error("a command does not end");
    return card_interface.command_status;
}

void fake_card::open_process(uint32_t process) {
    command(abi::myvia::command_open_process,
            {process, 0, static_cast<uint32_t>(host_pages_ + 64 * process)});
    doorbell_heads_[process] = 0;
}

memory_region fake_card::register_memory(uint64_t address, uint32_t length, uint32_t tag, uint32_t rdma) {
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

library_vi fake_card::create_vi(uint32_t index, abi::vi_reliability reliability, uint32_t slots, uint32_t tag,
                                uint32_t send_queue, uint32_t receive_queue, uint32_t process, uint32_t rdma,
                                uint32_t max_transfer) {
    library_vi made;
    made.index = index;
    made.slots = slots;
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

void fake_card::connect(uint32_t one, uint32_t other, uint32_t route, uint32_t key) {
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

void fake_card::create_queue(uint32_t index, uint32_t entries, uint32_t process) {
    queue_ring made;
    made.ring = allocate(entries * 8);
    made.entries = entries;
    if (command(abi::myvia::command_create_queue,
                {index, 0, static_cast<uint32_t>(made.ring), entries, process}) != 0)
        throw std::runtime_error("create_queue failed");
    page_owners_[card_interface.max_vis + index] = process;
    queues_[index] = made;
}

std::vector<uint32_t> fake_card::queue_entries(uint32_t queue) {
    std::vector<uint32_t> found;
    queue_ring& of = queues_.at(queue);
    while (load_big(of.ring + 8 * of.index + 4) == of.pass) {
        found.push_back(load_big(of.ring + 8 * of.index));
        if (++of.index == of.entries) of.index = 0, of.pass = 3 - of.pass;
    }
    return found;
}

std::vector<event> fake_card::take_events() {
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

uint64_t fake_card::physical(const memory_region& of, uint64_t address) const {
    const uint64_t offset = address - of.address + of.address % page;
    return of.frames.at(offset / page) + offset % page;
}

void fake_card::write(const memory_region& to, uint64_t address, const bytes& data) {
    for (size_t i = 0; i != data.size(); ++i) memory_[physical(to, address + i)] = data[i];
}

bytes fake_card::read(const memory_region& from, uint64_t address, size_t length) {
    bytes data(length);
    for (size_t i = 0; i != length; ++i) data[i] = memory_[physical(from, address + i)];
    return data;
}

void fake_card::ring(abi::myvia::doorbell_op op, uint32_t index, uint32_t data, uint32_t process) {
    using namespace abi::myvia;
    if (doorbells_in_fifo) return ring_in_region(op, index, data, process);
    auto* page_of_process = reinterpret_cast<volatile doorbell*>(
        sram(card_interface.doorbell_pages + process * doorbell_page_bytes));
    volatile doorbell& entry = page_of_process[doorbell_heads_[process]++ % doorbells_per_page];
    if (entry.what != 0) throw std::runtime_error("doorbell queue overrun by the test");
    entry.data = data;
    entry.what = doorbell_valid | static_cast<uint32_t>(op) << 16 | index;
}

// Pages of others are not mapped.
void fake_card::ring_in_region(abi::myvia::doorbell_op op, uint32_t index, uint32_t data, uint32_t process) {
    using namespace abi::myvia;
    const uint32_t page_number = op == doorbell_arm_queue ? card_interface.max_vis + index : index;
    const auto owner = page_owners_.find(page_number);
    if (owner == page_owners_.end() || owner->second != process) return;
    volatile auto& entry = myvia::fifo_ring[fifo_head_++ % myvia::fifo_entries];
    if (entry.address != abi::card_map::doorbell_entry_free)
        throw std::runtime_error("doorbell FIFO overrun by the test");
    entry.data = data;
    entry.address = page_number * abi::card_map::doorbell_page_bytes + 4 * op;
    isr_ |= abi::lanai9::ISR_WAKE0;
}

// What the library makes of a descriptor: each field turned round (myvia_card.h).
static bytes in_card_order(const bytes& slot) {
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

void fake_card::put_slot(library_vi& to, library_queue& queue, const bytes& slot) {
    const bytes turned = in_card_order(slot);
    std::copy(turned.begin(), turned.end(), memory_.begin() + queue.ring + queue.posted % to.slots * 64);
    ++queue.posted;
}

void fake_card::post_send(library_vi& to, const bytes& slot) {
    put_slot(to, to.send, slot);
    ring(abi::myvia::doorbell_send, to.index, to.send.posted);
}

void fake_card::post_receive(library_vi& to, const bytes& slot) {
    put_slot(to, to.receive, slot);
    ring(abi::myvia::doorbell_receive, to.index, to.receive.posted);
}

bytes fake_card::slot_bytes(const library_vi& of, const library_queue& queue, uint32_t slot) const {
    const auto at = memory_.begin() + queue.ring + slot % of.slots * 64;
    return bytes(at, at + 64);
}

bytes fake_card::slot_of(const std::vector<data_segment>& segments, const memory_region& memory,
                         uint64_t descriptor, uint16_t control, uint32_t immediate) {
    slot_contents made = message(segments, control, immediate);
    made.next = descriptor;
    made.next_handle = memory.handle;
    if (segments.size() > 2)
        write(memory, descriptor + 64,
              encode(std::vector<data_segment>(segments.begin() + 2, segments.end())));
    return encode(made);
}

bool fake_card::completed(const library_vi& of, const library_queue& queue) const {
    return queue.seen != queue.posted && (load_big(queue.ring + queue.seen % of.slots * 64 + 28) & 1) != 0;
}

completion fake_card::take(const library_vi& of, library_queue& queue) {
    const uint64_t at = queue.ring + queue.seen++ % of.slots * 64;
    return {load_big(at + 28), load_big(at + 24), load_big(at + 20)};
}

completion fake_card::wait(const library_vi& of, library_queue& queue) {
    if (!run_until([&] { return completed(of, queue); }))
        throw std::runtime_error("a descriptor never completes");
    return take(of, queue);
}

uint32_t fake_card::doorbells_taken(uint32_t process) const { return load_big(host_pages_ + 64 * process); }

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

namespace vinic::myvia::hardware {

uint32_t load(register_offset offset) { return testbench::card->load_register(offset); }
void store(register_offset offset, uint32_t value) { testbench::card->store_register(offset, value); }
uint32_t sram_address(const volatile void* pointer) {
    const auto distance =
        reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(&testbench::anchor);
    return static_cast<uint32_t>(distance) + testbench::anchor_address;
}
void* at_sram_address(uint32_t address) {
    const auto distance = static_cast<int32_t>(address - testbench::anchor_address);
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(&testbench::anchor) + distance);
}

}  // namespace vinic::myvia::hardware
