// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "firmware/abi/lanai_registers.h"
#include "hw/nic/packet_engines.h"

namespace vinic::nic {

namespace {

constexpr const char* states[] = {"idle", "part", "last_part"};
constexpr std::uint32_t word_bytes = 4;  // SML and SMLT hold the address of a word of 4 bytes (B4)

}  // namespace

send_dma::send_dma(const sc_core::sc_module_name& name, const card_clock& clock, sram& memory,
                   special_registers& registers)
    : module(name),
      start_clocks(
          *this, {.name = "start_clocks",
                  .unit = "clocks",
                  .value = 2,
                  .max = 1000,
                  .help = "from the store to SML or SMLT to the first byte offered to the link: one slot to "
                          "read the word, one clock to the link",
                  .source = "assumed"}),
      state(*this, "state", 2, "idle, sending a part, sending the last part", states),
      clock_(clock),
      memory_(memory),
      registers_(registers) {
    registers.connect(chip_register::smp, {[this](cycle) { return smp_; },
                                           [this](std::uint32_t v, cycle at) { set_pointer(v, at); }});
    registers.connect(chip_register::sa, {[this](cycle) { return sa_; },
                                          [this](std::uint32_t v, cycle) { sa_ = v % word_bytes; }});
    registers.connect(chip_register::smc, {[this](cycle) { return smc_.value_or(0); },
                                           [this](std::uint32_t v, cycle at) {
                                               require_ready("SMC", at);
                                               smc_ = v;
                                           }});
    registers.connect(chip_register::sml, {[this](cycle) { return limit_; },
                                           [this](std::uint32_t v, cycle at) { start(v, false, at); }});
    registers.connect(chip_register::smlt, {[this](cycle) { return limit_; },
                                            [this](std::uint32_t v, cycle at) { start(v, true, at); }});
}

/// The engine is seen to be ready where SEND is: from the edge after its last part has left.
void send_dma::require_ready(const char* what, cycle at) const {
    if (busy_ || at < ready_from_)
        memory_.fail(fmt::format("{} written while the send engine is busy (SEND not set)", what));
}

void send_dma::set_pointer(std::uint32_t value, cycle at) {
    require_ready("SMP", at);
    smp_ = value;
}

void send_dma::start(std::uint32_t last_word, bool last, cycle at) {
    require_ready(last ? "SMLT" : "SML", at);
    limit_ = last_word;
    address_ = smp_ + sa_;
    if (last_word % word_bytes != 0 || std::uint64_t{last_word} + word_bytes <= address_)
        memory_.fail(fmt::format("send limit {:#x} for a part that starts at {:#x}", last_word, address_));
    length_ = std::uint64_t{last_word} + word_bytes - address_;
    memory_.require(address_, length_, "send DMA");
    data_.resize(length_);
    memory_.peek(address_, data_);
    last_ = last;
    note_crc32();
    busy_ = true;
    sa_ = 0;
    began_ = sim::now();
    state.set(last ? 2 : 1);
    memory_.send.expect(at + start_clocks);
    launch_.no_later_than(clock_.time_of(at + start_clocks));
}

/// Whether the part holds the byte from which on the link is to cover the packet.
void send_dma::note_crc32() {
    crc32_from_.reset();
    const bool enabled = (registers_.stored(chip_register::myrinet) & abi::lanai9::MYRINET_CRC32_ENABLE) != 0;
    if (enabled && smc_ && *smc_ >= address_ && *smc_ - address_ < length_) {
        crc32_from_ = *smc_ - address_;
        smc_.reset();
    }
    if (last_) smc_.reset();
}

void send_dma::launch() {
    wire_base_ = port_->sending().end();
    bytes.add(length_);
    packet.report(sim::now(), data_, last_ ? "last part" : "part", {{"address", address_}});
    port_->send(data_, last_, 0, crc32_from_);
    if (busy_) reserve_slots();
}

/// Slots for what has not left yet, as evenly as it is going to leave.
void send_dma::reserve_slots() {
    const link::schedule& wire = port_->sending();
    memory_.send.expect(clock_.domain().edge_at_or_after(wire.time_of(wire.end() - 1)));
    const std::uint64_t end = std::min(wire.end(), wire_base_ + length_);
    const std::uint64_t next = std::max(wire.passed(sim::now()), wire_base_);
    if (next >= end) return memory_.send.reserve(0, {}, 0);
    const std::uint64_t width = memory_.slot_bytes;
    const std::uint64_t from = address_ + (next - wire_base_), to = address_ + (end - wire_base_);
    const std::uint64_t slots = (to + width - 1) / width - from / width;
    const cycle first = clock_.domain().edge_at_or_after(wire.time_of(next));
    const cycle last = clock_.domain().edge_at_or_after(wire.time_of(end - 1));
    pace speed;
    if (slots > 1 && last > first) speed = {(last - first) * memory_.slots_per_cycle, slots};
    memory_.send.reserve(slots, speed, first);
}

void send_dma::on_sending_changed() {
    if (busy_ && port_->sending().end() > wire_base_) reserve_slots();
}

void send_dma::on_part_sent() {
    if (busy_ && !last_) part_left();
}

void send_dma::on_sent() {
    if (!busy_ || !last_) return;
    packets.add();
    part_left();
}

void send_dma::part_left() {
    busy_ = false;
    ready_from_ = clock_.seen();
    state.set(0);
    part.report(began_, sim::now(), last_ ? "last part" : "part",
                {{"address", address_}, {"bytes", length_}});
    registers_.raise({isr_event::send});
}

void send_dma::reset() {
    busy_ = false;
    smp_ = sa_ = limit_ = 0;
    smc_.reset();
    ready_from_ = 0;
    launch_.cancel();
    memory_.send.reset();
    state.set(0);
}

}  // namespace vinic::nic
