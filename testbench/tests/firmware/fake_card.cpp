// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/firmware/fake_card.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace vinic::testbench {

namespace {

fake_card* card = nullptr;

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
}

}  // namespace

fake_card::fake_card(const fake_settings& settings) : fake_host(settings) {
    card = this;
    reset_firmware();
    myvia::initialise<doorbells>();
    for (unsigned i = 0; i != 4; ++i) channels_[i].block = card_interface.dma_chains[i];
    open_process(0);
}

const fake_host::chip& fake_card::bits() const {
    using namespace abi::lanai9;
    // The remainders of CRC-32 and CRC-8.
    static constexpr chip of_this{ISR_SEND, ISR_RECV, ISR_BUFF, 5};
    return of_this;
}

uint32_t fake_card::slots_max() const {
    return myvia::has_tokens ? myvia::token_places : fake_host::slots_max();
}

// --- Hardware

uint32_t fake_card::load_register(uint32_t offset) {
    using namespace abi::lanai9;
    if (offset == ISR) {
        if (!lazy()) leave();
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
        arm_receive(value);
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
        if (sram(crc32_start_) != std::find_if(first, first + 9, [](uint8_t b) { return b < 0x80; }))
            throw std::runtime_error("the CRC-32 of a packet does not start behind its route");
        start_send(send_start_, send_skip_, value);
    }
}

void fake_card::require_idle_send_engine() const {
    if (sending()) throw std::runtime_error("the send engine is written to while it runs");
}

void fake_card::run_dma(unsigned number) {
    channel& engine = channels_[number];
    if (engine.pulses == 0 || hold_dma[number]) return;
    auto* block = reinterpret_cast<abi::dma_block*>(sram(engine.block));
    const bool to_card = (block->next_and_flags & abi::dma_flag_host_to_lanai) != 0;
    transfer(uint64_t{block->host_high} << 32 | block->host_low, block->local_address, block->bytes, to_card,
             "channel " + std::to_string(number));
    if (to_card) ++dma_reads[number];
    block->checksum = 0xFFFF;
    engine.block = block->next_and_flags & ~abi::dma_flags_mask;
    if (block->next_and_flags & abi::dma_flag_terminal) --engine.pulses;
    constexpr uint32_t wakes[4] = {abi::lanai9::ISR_WAKE0, abi::lanai9::ISR_WAKE1, abi::lanai9::ISR_WAKE2, 0};
    if (block->next_and_flags & abi::dma_flag_wake) isr_ |= wakes[number];
}

void fake_card::tick() {
    for (unsigned i = 0; i != 2; ++i)
        if (timers_[i] != 0 && --timers_[i] == 0)
            isr_ |= i == 0 ? abi::lanai9::ISR_TIME0 : abi::lanai9::ISR_TIME1;
}

// --- Library

// A token stands in the card as the firmware reads it.
void fake_card::put_slot(library_vi& to, library_queue& queue, const bytes& slot) {
    if constexpr (myvia::has_tokens) {
        myvia::token_page& tokens = myvia::token_pages[to.index];
        auto& of = &queue == &to.send ? tokens.send : tokens.receive;
        std::memcpy(&of[queue.posted % myvia::token_places], slot.data(), slot.size());
    }
    fake_host::put_slot(to, queue, slot);
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
    if (!is_owner(page_number, process)) return;
    volatile auto& entry = myvia::fifo_ring[fifo_head_++ % myvia::fifo_entries];
    if (entry.address != abi::card_map::doorbell_entry_free)
        throw std::runtime_error("doorbell FIFO overrun by the test");
    entry.data = data;
    entry.address = page_number * abi::card_map::doorbell_page_bytes + 4 * op;
    isr_ |= abi::lanai9::ISR_WAKE0;
}

}  // namespace vinic::testbench

namespace vinic::myvia::hardware {

uint32_t load(register_offset offset) { return testbench::card->load_register(offset); }
void store(register_offset offset, uint32_t value) { testbench::card->store_register(offset, value); }
uint32_t sram_address(const volatile void* pointer) { return testbench::sram_address_of(pointer); }
void* at_sram_address(uint32_t address) { return testbench::sram(address); }

}  // namespace vinic::myvia::hardware
