// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/chain_walker.h"

#include <algorithm>

namespace vinic::nic {

chain_walker::chain_walker(surroundings& around, const card_clock& clock, sram_port& port)
    : around_(around),
      how_(around.how()),
      clock_(clock),
      port_(port),
      channels_{channel(*this, 0), channel(*this, 1), channel(*this, 2), channel(*this, 3)} {}

void chain_walker::set_base(unsigned number, std::uint32_t address) { channels_[number].set_base(address); }

void chain_walker::pulse(std::uint32_t channels) {
    for (unsigned n = 0; n < channel_count; ++n)
        if ((channels >> n & 1) != 0) channels_[n].pulse();
}

void chain_walker::start(unsigned number, const abi::dma_block& block) { channels_[number].start(block); }

void chain_walker::reset() {
    busy_.clear();
    for (channel& c : channels_) c.reset();
}

void chain_walker::fetched(unsigned number, const abi::dma_block& block) { channels_[number].fetched(block); }

void chain_walker::go(unsigned number) { channels_[number].go(); }

void chain_walker::bus_error(unsigned number) {
    channels_[number].stop(activity::failed);
    release_engine(channels_[number]);
}

// --- Engines

bool chain_walker::grantable(const channel& c) const {
    if (!c.wants_engine()) return false;
    if (how_.engines == 4) return true;
    if (how_.engines == 1) return busy_.empty();
    return std::ranges::none_of(busy_, [&](const channel* b) { return b->to_card() == c.to_card(); });
}

void chain_walker::arbitrate() {
    for (unsigned i = 0; i < channel_count; ++i) {
        const unsigned n = how_.fixed_priority ? i : (next_ + i) % channel_count;
        if (!grantable(channels_[n])) continue;
        busy_.push_back(&channels_[n]);
        next_ = n + 1;
        channels_[n].engine_granted();
        i = ~0u;  // from the start: maybe another one can go
    }
}

void chain_walker::request_engine() {
    arbitrate_.no_later_than(clock_.time_of(clock_.current(), phase::arbitrate));
    if (how_.engines == 1) port_.expect(clock_.current() + 1);  // who gets it fetches
}

void chain_walker::release_engine(const channel& by) {
    std::erase(busy_, &by);
    if (std::ranges::any_of(channels_, &channel::wants_engine)) request_engine();
}

// --- A channel

void chain_walker::channel::enter(activity next) {
    activity_ = next;
    walker_.around_.entered(number_, next);
}

void chain_walker::channel::after(std::uint64_t clocks, void (channel::*then)()) {
    then_ = then;
    timer_.no_later_than(walker_.clock_.time_of(walker_.clock_.current() + clocks));
}

void chain_walker::channel::set_base(std::uint32_t address) {
    base_ = at_ = address;
    if (activity_ == activity::failed) enter(activity::idle);
}

void chain_walker::channel::pulse() {
    if (activity_ == activity::failed) return;
    ++pulses_;
    if (activity_ != activity::idle) return;
    // A pulse at the instant at which the chain stops may come before or after the stop: as if before.
    if (idle_since_ == sim::now()) return next_block();
    enter(activity::wait);
    const cycle arbitration = walker_.how_.engines == 1 ? 1 : 0;
    walker_.port_.expect(walker_.clock_.current() + walker_.how_.trigger_clocks + arbitration);
    after(walker_.how_.trigger_clocks, &channel::next_block);
}

void chain_walker::channel::start(const abi::dma_block& block) {
    block_ = block;
    direct_ = known_ = true;
    enter(activity::wait);
    after(walker_.how_.trigger_clocks, &channel::ask_for_engine);
}

// With one engine, a channel has it from the fetch on; else it fetches first, to know which one it needs.
void chain_walker::channel::next_block() {
    known_ = false;
    enter(activity::wait);
    if (walker_.how_.engines == 1)
        ask_for_engine();
    else
        begin_fetch();
}

void chain_walker::channel::ask_for_engine() {
    wants_engine_ = true;
    walker_.request_engine();
}

void chain_walker::channel::engine_granted() {
    wants_engine_ = false;
    has_engine_ = true;
    if (known_)
        set_up();
    else
        begin_fetch();
}

void chain_walker::channel::begin_fetch() {
    enter(activity::fetch);
    // A channel works in the direction in which it did.
    if (!to_card()) walker_.port_.expect_after(walker_.how_.setup_clocks);
    walker_.around_.fetch(number_, at_);
}

void chain_walker::channel::fetched(const abi::dma_block& block) {
    block_ = block;
    known_ = true;
    if (has_engine_) {
        set_up();
    } else {
        enter(activity::wait);
        ask_for_engine();
    }
}

void chain_walker::channel::set_up() {
    enter(activity::setup);
    walker_.around_.check(number_);
    if (!to_card()) walker_.port_.expect(walker_.clock_.current() + walker_.how_.setup_clocks);
    after(walker_.how_.setup_clocks, &channel::begin_transfer);
}

void chain_walker::channel::begin_transfer() {
    enter(activity::transfer);
    walker_.around_.begin(number_);
}

void chain_walker::channel::go() {
    moved_ = ahead_ = 0;
    reading_ = false;
    for (half& h : halves_) h.free = true;
    if (block_.bytes == 0)
        moved();
    else if (to_card())
        walker_.around_.load(number_, host(), block_.local_address, block_.bytes);
    else
        read_ahead();
}

/// Fills a free half of the FIFO, up to where the next one would begin in host memory.
void chain_walker::channel::read_ahead() {
    const auto h = std::ranges::find(halves_, true, &half::free);
    if (reading_ || h == halves_.end() || ahead_ == block_.bytes) return;
    const std::uint32_t size = walker_.how_.fifo_bytes / static_cast<std::uint32_t>(halves_.size());
    h->free = false;
    h->offset = ahead_;
    h->bytes = std::min(block_.bytes - ahead_, size - (block_.host_low + ahead_) % size);
    ahead_ += h->bytes;
    reading_ = true;
    reading_half_ = static_cast<unsigned>(h - halves_.begin());
    if (ahead_ == block_.bytes) walker_.port_.expect_after(took_ + walker_.how_.finish_clocks);
    walker_.around_.read_piece(number_, reading_half_, block_.local_address + h->offset, h->bytes);
}

void chain_walker::channel::piece_read() {
    reading_ = false;
    read_at_ = walker_.clock_.current();
    walker_.around_.send_piece(number_, reading_half_, host() + halves_[reading_half_].offset);
    read_ahead();
}

void chain_walker::channel::piece_sent(unsigned number) {
    halves_[number].free = true;
    moved_ += halves_[number].bytes;
    if (moved_ == block_.bytes)
        moved();
    else
        read_ahead();
}

void chain_walker::channel::moved() {
    enter(activity::write_back);
    if (!to_card()) took_ = walker_.clock_.current() - read_at_;
    walker_.around_.moved(number_, direct_);
    if (direct_) after(walker_.how_.finish_clocks, &channel::finish);
}

void chain_walker::channel::finish() {
    walker_.around_.finished(number_, direct_);
    has_engine_ = false;
    walker_.release_engine(*this);
    if (direct_) {
        direct_ = known_ = false;
        return enter(activity::idle);
    }
    at_ = block_.next_and_flags & ~abi::dma_flags_mask;
    if ((block_.next_and_flags & abi::dma_flag_terminal) != 0) --pulses_;
    if (pulses_ != 0) return next_block();
    idle_since_ = sim::now();
    enter(activity::idle);
}

/// What bus and SRAM still do for the block at hand no longer counts.
void chain_walker::channel::stop(activity next) {
    pulses_ = 0;
    has_engine_ = wants_engine_ = direct_ = known_ = false;
    enter(next);
}

void chain_walker::channel::reset() {
    timer_.cancel();
    at_ = base_;
    stop(activity::idle);
}

}  // namespace vinic::nic
