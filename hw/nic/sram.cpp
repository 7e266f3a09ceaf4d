// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/sram.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "hw/nic/bytes.h"
#include "hw/sim/error.h"

namespace vinic::nic {

namespace {

constexpr std::uint64_t kilobyte = 1024;

const char* name_of(lanai::sram_port port) {
    constexpr const char* names[] = {"host access", "host DMA", "receive", "send"};
    return names[static_cast<std::size_t>(port)];
}

}  // namespace

sram_port::sram_port(const sc_core::sc_module_name& name, sram& memory, lanai::sram_port port)
    : module(name), memory_(memory), port_(port) {}

void sram_port::read(std::uint32_t address, std::span<std::uint8_t> data, finished done, unsigned rank,
                     pace speed, cycle first) {
    ask({.address = address,
         .bytes = data.size(),
         .into = data.data(),
         .done = std::move(done),
         .rank = rank,
         .speed = speed,
         .first = first});
}

void sram_port::write(std::uint32_t address, std::span<const std::uint8_t> data, finished done, unsigned rank,
                      pace speed, cycle first) {
    ask({.address = address,
         .bytes = data.size(),
         .from = data.data(),
         .done = std::move(done),
         .rank = rank,
         .speed = speed,
         .first = first});
}

void sram_port::write_last(std::uint32_t address, std::span<const std::uint8_t> data,
                           std::uint64_t last_slots, finished done) {
    ask({.address = address,
         .bytes = data.size(),
         .from = data.data(),
         .done = std::move(done),
         .first = memory_.clock_.seen(),
         .slots = last_slots});
}

void sram_port::ask(burst b) {
    memory_.require(b.address, b.bytes, name_of(port_));
    b.first = std::max(b.first, memory_.clock_.current());
    const cycle first = b.first;
    waiting_.push_back(std::move(b));
    if (!active_) arbitrate_in(first);
}

void sram_port::arbitrate_in(cycle at) {
    begin_at_ = std::min(begin_at_, at);
    arbitrate_.no_later_than(memory_.clock_.time_of(at, phase::arbitrate));
}

void sram_port::reserve(std::uint64_t count, pace speed, cycle first) {
    reservation_ = reservation{count, speed, first};
    if (!active_) arbitrate_in(memory_.clock_.current());
}

std::uint64_t sram_port::slots_of(const burst& b) const {
    if (b.slots != 0) return b.slots;
    const std::uint64_t width = memory_.slot_bytes;
    return (b.address + b.bytes + width - 1) / width - b.address / width;
}

void sram_port::arbitrate() {
    begin_at_ = lanai::never;
    if (active_) return;  // its end asks again
    const cycle at = memory_.clock_.domain().edge_at_or_before(sim::now());
    if (reservation_) begin_reservation(at);
    if (waiting_.empty()) return;
    if (const std::uint64_t n = pattern_.count; n != 0 && served(at) < n) {
        // What is left of a reservation comes before a burst.
        const cycle last = memory_.slots().served_at(port_, n - 1) / memory_.slots_per_cycle;
        arbitrate_in(std::max(last, at) + 1);
        return;
    }
    cycle next = lanai::never;
    auto best = waiting_.end();
    for (auto b = waiting_.begin(); b != waiting_.end(); ++b) {
        if (b->first > at)
            next = std::min(next, b->first);
        else if (best == waiting_.end() || b->rank < best->rank)
            best = b;
    }
    if (best != waiting_.end()) {
        current_ = std::move(*best);
        waiting_.erase(best);
        begin(at);
    } else if (next != lanai::never) {
        arbitrate_in(next);
    }
}

void sram_port::set_pattern(const lanai::slot_pattern& pattern, cycle at) {
    taken_before_ += served(at);
    pattern_ = pattern;
    memory_.set_slot_pattern(port_, pattern, at);
}

void sram_port::begin_reservation(cycle at) {
    const reservation r = *reservation_;
    reservation_.reset();
    if (r.count == 0 && pattern_.count == 0) return;
    const std::uint64_t per_cycle = memory_.slots_per_cycle;
    set_pattern({.first = std::max(r.first, at) * per_cycle,
                 .period_numerator = r.speed.numerator,
                 .period_denominator = r.speed.denominator,
                 .count = r.count},
                at);
}

void sram_port::begin(cycle at) {
    const std::uint64_t per_cycle = memory_.slots_per_cycle;
    active_ = true;
    began_ = at;
    if (const std::uint64_t count = slots_of(current_); count != 0)
        set_pattern({.first = at * per_cycle,
                     .period_numerator = current_.speed.numerator,
                     .period_denominator = current_.speed.denominator,
                     .count = count},
                    at);
    plan_commit();
}

/// The edge after the last slot, by what is reserved now; a burst without bytes ends on the next edge.
cycle sram_port::end_of_burst() const {
    if (pattern_.count == 0 || current_.bytes == 0) return began_ + 1;
    return memory_.slots().served_at(port_, pattern_.count - 1) / memory_.slots_per_cycle + 1;
}

void sram_port::plan_commit() {
    commit_at_ = end_of_burst();
    commit_.set(memory_.clock_.time_of(commit_at_));
}

void sram_port::commit() {
    const cycle planned = commit_at_;
    if (end_of_burst() > planned) return plan_commit();  // ports of higher priority came in between
    commit_at_ = lanai::never;
    if (const cycle after = std::exchange(expected_after_, lanai::never); after != lanai::never)
        expect(planned + after);
    burst b = std::move(current_);
    std::uint8_t* place = memory_.data_.get() + b.address;
    if (b.into) {
        memory_.sync_for_read(b.address, b.bytes);
        std::memcpy(b.into, place, b.bytes);
    } else if (b.bytes != 0) {
        memory_.sync_for_write(b.address, b.bytes);
        std::memcpy(place, b.from, b.bytes);
        memory_.written(b.address, b.bytes);
    }
    if (pattern_.count != 0)
        wait_clocks.add(planned - 1 -
                        std::min(planned - 1, pattern_.due(pattern_.count - 1) / memory_.slots_per_cycle) +
                        (began_ - b.first));
    grant.report(memory_.clock_.time_of(began_), memory_.clock_.time_of(planned), b.into ? "read" : "write",
                 {{"address", b.address}, {"bytes", b.bytes}});
    taken_before_ += pattern_.count;
    pattern_ = {};
    active_ = false;
    if (!waiting_.empty() || reservation_) arbitrate_in(planned);
    if (b.done) b.done();
}

cycle sram_port::next_access(cycle now) const {
    const auto later = [&](cycle at) { return at > now ? at : lanai::never; };
    if (!active_) return std::min(later(begin_at_), later(expected_at_));
    // The end of a read hardly ever touches what the core does.
    const bool only_ends_a_read = current_.into && waiting_.empty() && !reservation_;
    if (!only_ends_a_read) return later(commit_at_);
    return expected_after_ == lanai::never ? lanai::never : later(commit_at_ + expected_after_);
}

/// Accesses of the pattern in force that were served before cycle `at`.
std::uint64_t sram_port::served(cycle at) const {
    const lanai::slot limit = at * memory_.slots_per_cycle;
    std::uint64_t low = 0, high = pattern_.count;
    while (low < high) {
        const std::uint64_t middle = (low + high) / 2;
        if (memory_.slots().served_at(port_, middle) < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

std::uint64_t sram_port::slots_taken() const { return taken_before_ + served(memory_.clock_.current()); }

void sram_port::shorten(const std::uint8_t* data, std::size_t bytes) {
    for (burst& b : waiting_)
        if (b.data() == data) b.bytes = bytes;
    if (!active_ || current_.data() != data) return;
    current_.bytes = bytes;
    const cycle at = memory_.clock_.current();
    const std::uint64_t gone = served(at), count = slots_of(current_);
    if (count > gone)
        set_pattern({.first = pattern_.due(gone),
                     .period_numerator = pattern_.period_numerator,
                     .period_denominator = pattern_.period_denominator,
                     .count = count - gone},
                    at);
    else {
        set_pattern({}, at);
        began_ = at;
    }
    plan_commit();
}

void sram_port::reset() {
    waiting_.clear();
    reservation_.reset();
    active_ = false;
    begin_at_ = commit_at_ = lanai::never;
    commit_.cancel();
    arbitrate_.cancel();
    if (pattern_.count != 0) set_pattern({}, memory_.clock_.current());
}

sram::sram(const sc_core::sc_module_name& name, const card_clock& clock, const chip_traits& traits)
    : module(name),
      bytes(*this, {.name = "bytes",
                    .unit = "bytes",
                    .value = traits.sram_bytes,
                    .min = 256 * kilobyte,
                    .max = 8192 * kilobyte,
                    .help = "size of the SRAM",
                    .source = "facts/lanai_pcix.md B1: -2, -4, -8 boards; B5: window of 8 MB"}),
      slots_per_cycle(*this, {.name = "slots_per_cycle",
                              .unit = "slots",
                              .value = traits.slots_per_cycle,
                              .min = 1,
                              .max = 2,
                              .choices = {1, 2},
                              .help = "accesses to the SRAM in a cycle of the LANai clock",
                              .source = "facts/lanai_pcix.md B2"}),
      slot_bytes(*this, {.name = "slot_bytes",
                         .unit = "bytes",
                         .value = traits.slot_bytes,
                         .min = 4,
                         .max = 8,
                         .choices = {4, 8},
                         .help = "width of the local bus",
                         .source = "facts/lanai_pcix.md B1, B2"}),
      host_access("host_access", *this, lanai::sram_port::host_access),
      host_dma("host_dma", *this, lanai::sram_port::host_dma),
      receive("receive", *this, lanai::sram_port::receive),
      send("send", *this, lanai::sram_port::send),
      clock_(clock) {
    if (bytes % 8 != 0)
        throw sim::input_error("{}.bytes: {} is not a multiple of 8", this->name(), bytes.get());
    data_.reset(static_cast<std::uint8_t*>(std::calloc(bytes, 1)));
    if (!data_) throw std::bad_alloc();
}

void sram::require(std::uint64_t address, std::uint64_t length, const std::string& who) const {
    if (!holds(address, length))
        fail(fmt::format("{}: {} bytes at {:#x} leave the SRAM of {} bytes", who, length, address,
                         bytes.get()));
}

void sram::fail(const std::string& what) const {
    if (core_) core_->fail(what);
    throw sim::model_error(name(), what);
}

void sram::set_slot_pattern(lanai::sram_port port, const lanai::slot_pattern& pattern, cycle from) {
    if (core_) {
        core_->sync();
        core_->set_slot_pattern(port, pattern, from);
    } else {
        own_slots_.set(port, pattern, from * slots_per_cycle);
    }
}

cycle sram::next_access(cycle now) const {
    return std::min(std::min(host_access.next_access(now), host_dma.next_access(now)),
                    std::min(receive.next_access(now), send.next_access(now)));
}

void sram::peek(std::uint32_t address, std::span<std::uint8_t> into) {
    sync_for_read(address, into.size());
    std::copy_n(data_.get() + address, into.size(), into.begin());
}

void sram::poke(std::uint32_t address, std::span<const std::uint8_t> from) {
    sync_for_write(address, from.size());
    std::ranges::copy(from, data_.get() + address);
    written(address, from.size());
}

std::uint32_t sram::peek_word(std::uint32_t address) {
    std::uint8_t b[4];
    peek(address, b);
    return load_big(b);
}

}  // namespace vinic::nic
