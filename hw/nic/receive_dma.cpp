// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "firmware/abi/lanai_registers.h"
#include "hw/link/crc.h"
#include "hw/nic/packet_engines.h"

namespace vinic::nic {

namespace {

constexpr const char* states[] = {"idle", "armed", "receiving", "storing"};
constexpr std::uint32_t word_bytes = 4;  // RML holds the address of a word of 4 bytes (B4)

}  // namespace

receive_dma::receive_dma(const sc_core::sc_module_name& name, const card_clock& clock,
                         const chip_traits& traits, sram& memory, special_registers& registers)
    : module(name),
      pointer_bytes(*this, {.name = "pointer_bytes",
                            .unit = "bytes",
                            .value = traits.kind == chip::lanai4 ? std::uint64_t{4} : std::uint64_t{8},
                            .min = 4,
                            .max = 8,
                            .choices = {4, 8},
                            .help = "step of the receive pointer: the ORUN bits count to one less",
                            .source = "facts/lanai_pcix.md B3, B4: ORUN1 and 2; from LANai 7 on ORUN4 too"}),
      state(*this, "state", 2, "idle, armed, receiving, storing the last word", states),
      clock_(clock),
      memory_(memory),
      registers_(registers) {
    for (const chip_register which : {chip_register::rmp, chip_register::rmw, chip_register::rmc})
        registers.connect(which, {[this](cycle at) { return pointer(at); },
                                  [this, starts_crc32 = which == chip_register::rmc](std::uint32_t v, cycle) {
                                      set_pointer(v, starts_crc32);
                                  }});
    registers.connect(chip_register::rml, {nullptr, [this](std::uint32_t v, cycle at) { arm(v, at); }});
}

void receive_dma::show() { state.set(storing_ ? 3 : taking_ ? 2 : armed_ ? 1 : 0); }

std::uint32_t receive_dma::pointer(cycle at) const {
    if (!taking_ || storing_) return rmp_;
    const std::uint64_t came = port_->taken(clock_.time_of(at)) - taken_before_;
    return rmp_ + static_cast<std::uint32_t>(std::min(came, room_));
}

void receive_dma::set_pointer(std::uint32_t value, bool starts_crc32) {
    if (taking_) memory_.fail("RMP written while a packet comes in");
    rmp_ = value;
    starts_crc32_ =
        starts_crc32 && (registers_.stored(chip_register::myrinet) & abi::lanai9::MYRINET_CRC32_ENABLE) != 0;
}

void receive_dma::arm(std::uint32_t last_word, cycle) {
    if (taking_) memory_.fail("RML written while a packet comes in");
    if (last_word % word_bytes != 0 || std::uint64_t{last_word} + word_bytes <= rmp_)
        memory_.fail(fmt::format("receive limit {:#x} for a buffer that starts at {:#x}", last_word, rmp_));
    room_ = std::uint64_t{last_word} + word_bytes - rmp_;
    memory_.require(rmp_, room_, "receive DMA");
    armed_ = true;
    show();
    if (head_) react_.no_later_than(clock_.time_of(clock_.current()));
}

/// A head that arrives is seen on the next edge.
void receive_dma::on_head() {
    head_ = true;
    told_ = false;
    react_.no_later_than(clock_.time_of(clock_.seen()));
}

void receive_dma::react() {
    if (!head_ || taking_) return;
    if (armed_) return begin_taking();
    if (told_) return;
    told_ = true;
    heads_waited.add();
    registers_.raise({isr_event::head});
}

void receive_dma::begin_taking() {
    taking_ = true;
    head_ = false;
    std::optional<std::uint64_t> covered;
    if (std::exchange(starts_crc32_, false)) crc32_from_ = covered = taken_before_;
    began_ = sim::now();
    show();
    // Out of the slack buffer no faster than the SRAM takes it.
    const sim::picoseconds fastest = clock_.time_of(1) / (memory_.slots_per_cycle * memory_.slot_bytes);
    port_->take(taken_before_ + room_, fastest, covered);
    if (taking_ && !storing_) reserve_slots();
}

std::uint64_t receive_dma::slots_of(std::uint64_t from, std::uint64_t to) const {
    const std::uint64_t width = memory_.slot_bytes;
    return to > from ? (to + width - 1) / width - from / width : 0;
}

/// Slots for the words that are going to be full before the last one, as evenly as their bytes come.
void receive_dma::reserve_slots() {
    const link::schedule& stream = port_->taking();
    if (!stream.empty()) memory_.receive.expect(clock_.domain().edge_after(stream.time_of(stream.end() - 1)));
    const std::uint64_t base = port_->front_base() + taken_before_;
    const std::uint64_t end = std::min(stream.end(), base + room_);
    const std::uint64_t next = std::max(stream.passed(sim::now()), base);
    const std::uint64_t slots = next < end ? slots_of(rmp_ + (next - base), rmp_ + (end - base)) - 1 : 0;
    if (slots == 0) return memory_.receive.reserve(0, {}, 0);
    const cycle first = clock_.domain().edge_after(stream.time_of(next));
    const cycle last = clock_.domain().edge_after(stream.time_of(end - 1));
    pace speed;
    if (last > first) speed = {(last - first) * memory_.slots_per_cycle, slots + 1};
    if (speed.numerator < speed.denominator) speed = {};
    // A word can be stored when its last byte is there.
    memory_.receive.reserve(slots, speed, first + (last - first) / (slots + 1));
}

void receive_dma::on_taking_changed() {
    if (taking_ && !storing_) reserve_slots();
}

void receive_dma::store(std::span<const std::uint8_t> characters) {
    data_.assign(characters.begin(), characters.end());
    storing_ = true;
    show();
}

void receive_dma::on_take_limit() {
    if (!taking_ || storing_) return;
    store(port_->taken_bytes(taken_before_, room_));
    memory_.receive.write_last(rmp_, data_, 1, [this] { stored_limit(); });
}

void receive_dma::stored_limit() {
    limits_hit.add();
    rmp_ += static_cast<std::uint32_t>(room_);
    taken_before_ += room_;
    taking_ = storing_ = armed_ = false;
    head_ = told_ = true;  // the rest of the packet waits; it has had its head
    show();
    registers_.raise({isr_event::buff});
}

void receive_dma::on_tail(const link::reception& came) {
    if (!taking_ || storing_) return;
    packet_bytes_ = came.bytes.size();
    store(came.bytes.subspan(std::min(packet_bytes_, taken_before_)));
    leave_crc32_remainder(came);
    data_.push_back(came.remainder);
    remainder_ = came.remainder;
    memory_.receive.write_last(rmp_, data_, 1, [this] { stored_tail(); });
}

/// Puts the remainder of the CRC-32 in its place, as far as that is in this buffer. A packet that is too
/// short to have one is bad.
void receive_dma::leave_crc32_remainder(const link::reception& came) {
    crc32_remainder_ = crc32_from_ ? came.crc32_remainder : 0;
    if (!crc32_from_) return;
    if (packet_bytes_ >= *crc32_from_ + link::crc32_bytes) packet_bytes_ -= link::crc32_bytes;
    std::uint32_t left = crc32_remainder_;
    for (std::uint64_t i = 1; i <= std::min<std::uint64_t>(link::crc32_bytes, data_.size()); ++i, left >>= 8)
        data_[data_.size() - i] = static_cast<std::uint8_t>(left);
}

void receive_dma::stored_tail() {
    packets.add();
    bytes.add(packet_bytes_);
    if (remainder_ != 0) bad_crc.add();
    if (crc32_remainder_ != 0) bad_crc32.add();
    const char* what = remainder_ == 0 && crc32_remainder_ == 0 ? "packet" : "bad packet";
    reception.report(began_, sim::now(), what,
                     {{"address", rmp_},
                      {"bytes", packet_bytes_},
                      {"remainder", remainder_},
                      {"crc32_remainder", crc32_remainder_}});
    const std::uint64_t crcs = link::crc_characters + (crc32_from_ ? link::crc32_bytes : 0);
    packet.report(sim::now(), std::span(data_).first(data_.size() - std::min(data_.size(), crcs)), what,
                  {{"address", rmp_}});
    crc32_from_.reset();
    const std::uint64_t end = rmp_ + data_.size(), step = pointer_bytes;
    rmp_ = static_cast<std::uint32_t>((end + step - 1) / step * step);
    const std::uint64_t over = rmp_ - end;
    taking_ = storing_ = armed_ = false;
    taken_before_ = 0;
    show();
    registers_.raise({isr_event::recv});
    if ((over & 1) != 0) registers_.raise({isr_event::orun1});
    if ((over & 2) != 0) registers_.raise({isr_event::orun2});
    if ((over & 4) != 0) registers_.raise({isr_event::orun4});
    react();  // the next packet may stand there already
}

void receive_dma::reset() {
    rmp_ = 0;
    armed_ = starts_crc32_ = false;
    crc32_from_.reset();
    memory_.receive.reset();
    show();
}

}  // namespace vinic::nic
