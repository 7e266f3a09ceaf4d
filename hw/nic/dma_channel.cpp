// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "hw/nic/bytes.h"
#include "hw/nic/host_dma.h"

namespace vinic::nic {

namespace {

constexpr const char* states[] = {"idle", "wait", "fetch", "setup", "transfer", "write_back", "failed"};
// Descriptors go before any burst of data that waits for the port.
constexpr unsigned data_rank = host_dma::channel_count;

}  // namespace

void block_checksum::add(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t b : bytes) {
        const std::uint64_t value = position_ % 2 == 0 ? std::uint64_t{b} << 8 : b;
        sums_[position_ / 2 % 2] += value;
        ++position_;
    }
}

std::uint32_t block_checksum::result() const {
    const auto fold = [](std::uint64_t sum) {
        while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
        return static_cast<std::uint32_t>(sum == 0 ? 0xFFFF : sum);
    };
    return fold(sums_[0]) << 16 | fold(sums_[1]);
}

dma_channel::dma_channel(const sc_core::sc_module_name& name, host_dma& dma, unsigned number)
    : module(name), state(*this, "state", 3, "what the channel does", states), dma_(dma), number_(number) {}

void dma_channel::enter(activity next) {
    activity_ = next;
    state.set(static_cast<std::uint64_t>(next));
}

void dma_channel::after(std::uint64_t clocks, void (dma_channel::*then)()) {
    then_ = then;
    const cycle at = dma_.clock_.current() + clocks;
    dma_.memory_.host_dma.expect(at);
    timer_.no_later_than(dma_.clock_.time_of(at));
}

void dma_channel::set_base(std::uint32_t address) {
    base_ = at_ = address;
    if (activity_ == activity::failed) enter(activity::idle);
}

void dma_channel::pulse() {
    if (activity_ == activity::failed) return;
    ++pulses_;
    pulse_probe.report(sim::now(), sim::now(), "pulse");
    if (activity_ != activity::idle) return;
    // A pulse at the instant at which the chain stops may come before or after the stop: as if before.
    if (idle_since_ == sim::now()) return next_block();
    enter(activity::wait);
    after(dma_.trigger_clocks, &dma_channel::next_block);
}

void dma_channel::start(std::uint32_t host, std::uint32_t local, std::uint32_t bytes, bool to_card) {
    if (busy())
        dma_.memory_.fail(
            fmt::format("host DMA started while it runs (host {:#x}, SRAM {:#x})", host, local));
    block_ = {.next_and_flags = to_card ? abi::dma_flag_host_to_lanai : 0,
              .bytes = bytes,
              .local_address = local,
              .host_low = host};
    direct_ = known_ = true;
    block_began_ = sim::now();
    enter(activity::wait);
    after(dma_.trigger_clocks, &dma_channel::ask_for_engine);
}

// With one engine, a channel has it from the fetch on; else it fetches first, to know which one it needs.
void dma_channel::next_block() {
    known_ = false;
    enter(activity::wait);
    if (dma_.engines == 1)
        ask_for_engine();
    else
        begin_fetch();
}

void dma_channel::ask_for_engine() {
    wants_engine_ = true;
    dma_.request_engine();
}

void dma_channel::engine_granted() {
    wants_engine_ = false;
    has_engine_ = true;
    if (known_)
        set_up();
    else
        begin_fetch();
}

void dma_channel::begin_fetch() {
    if (at_ % 8 != 0)
        dma_.memory_.fail(fmt::format("host DMA channel {}: block at {:#x} is not aligned", number_, at_));
    enter(activity::fetch);
    block_began_ = sim::now();
    dma_.memory_.host_dma.read(
        at_, raw_, [this] { fetched(); }, number_);
}

void dma_channel::fetched() {
    const std::uint8_t* p = raw_.data();
    block_ = {load_big(p),      load_big(p + 4),  load_big(p + 8),
              load_big(p + 12), load_big(p + 16), load_big(p + 20)};
    known_ = true;
    fetch.report(block_began_, sim::now(), "fetch",
                 {{"address", at_}, {"bytes", raw_.size()}, {"channel", number_}});
    if (has_engine_)
        set_up();
    else {
        enter(activity::wait);
        ask_for_engine();
    }
}

void dma_channel::set_up() {
    enter(activity::setup);
    if (!dma_.memory_.holds(block_.local_address, block_.bytes))
        dma_.memory_.fail(fmt::format("host DMA channel {}, block at {:#x}: {} bytes at {:#x} leave the SRAM",
                                      number_, at_, block_.bytes, block_.local_address));
    after(dma_.setup_clocks, &dma_channel::begin_transfer);
}

void dma_channel::begin_transfer() {
    enter(activity::transfer);
    if (dropping_) return;  // the buffers are not free yet
    payload_began_ = sim::now();
    host_address.set(std::uint64_t{block_.host_high} << 32 | block_.host_low);
    left.set(block_.bytes);
    moved_ = ahead_ = 0;
    checksum_ = {};
    if (block_.bytes == 0)
        transfer_done();
    else if (to_card())
        begin_read();
    else
        read_ahead();
}

// --- Host to LANai

void dma_channel::begin_read() {
    buffer_.resize(block_.bytes);
    read_job_ = bus::job{.what = bus::job::kind::read,
                         .address = std::uint64_t{block_.host_high} << 32 | block_.host_low,
                         .bytes = buffer_,
                         .client = this};
    ++jobs_;
    dma_.master_.start(read_job_);
}

/// The burst's slots follow its data phases, each one clock after the word that it stores: the only one, which
/// may hold bytes of two data phases, after the last.
void dma_channel::on_burst(bus::job& job, std::uint64_t offset, std::uint64_t count,
                           const bus::tenure_schedule& when) {
    if (&job != &read_job_ || dropping_) return;
    const sram& memory = dma_.memory_;
    const cycle first = dma_.clock_.domain().edge_after(when.first_data_at);
    const cycle last = dma_.clock_.domain().edge_after(when.done_at);
    const std::uint64_t start = block_.local_address + offset, width = memory.slot_bytes;
    const std::uint64_t slots = (start + count + width - 1) / width - start / width;
    pace speed;
    if (slots > 1) speed = {(last - first) * memory.slots_per_cycle, slots - 1};
    if (speed.numerator == 0) speed = {};
    ++storing_;
    dma_.memory_.host_dma.write(
        static_cast<std::uint32_t>(start), std::span(buffer_).subspan(offset, count),
        [this, block = epoch_] {
            if (block != epoch_) return;
            --storing_;
            if (jobs_ == 0 && storing_ == 0) transfer_done();
        },
        data_rank + number_, speed, slots > 1 ? first : last);
}

void dma_channel::on_cut(bus::job& job, std::uint64_t offset, std::uint64_t count,
                         const bus::tenure_schedule&) {
    if (&job == &read_job_ && !dropping_) dma_.memory_.host_dma.shorten(buffer_.data() + offset, count);
}

void dma_channel::on_arrival(bus::job&, std::uint64_t, std::uint64_t count) {
    moved_ += count;
    if (!dropping_) left.set(block_.bytes - moved_);
}

// --- LANai to host

/// Fills a free half of the FIFO, up to where the next one would begin in host memory.
void dma_channel::read_ahead() {
    const auto p = std::find_if(pieces_.begin(), pieces_.end(), [](const piece& x) { return x.free; });
    if (reading_ || p == pieces_.end() || ahead_ == block_.bytes) return;
    const std::uint64_t half = dma_.fifo_bytes / pieces_.size();
    const std::uint64_t bytes = std::min(block_.bytes - ahead_, half - (block_.host_low + ahead_) % half);
    p->free = false;
    p->offset = ahead_;
    p->bytes.resize(bytes);
    ahead_ += bytes;
    reading_ = true;
    dma_.memory_.host_dma.read(
        static_cast<std::uint32_t>(block_.local_address + p->offset), p->bytes,
        [this, &half_read = *p, block = epoch_] {
            if (block == epoch_) piece_read(half_read);
        },
        data_rank + number_);
}

void dma_channel::piece_read(piece& p) {
    reading_ = false;
    checksum_.add(p.bytes);
    p.job = bus::job{.what = bus::job::kind::write,
                     .address = (std::uint64_t{block_.host_high} << 32 | block_.host_low) + p.offset,
                     .bytes = p.bytes,
                     .client = this};
    ++jobs_;
    dma_.master_.start(p.job);
    read_ahead();
}

// --- Both

void dma_channel::on_done(bus::job& job, bus::job_status status) {
    --jobs_;
    for (piece& p : pieces_)
        if (&p.job == &job) p.free = true;
    if (dropping_) {
        dropping_ = jobs_ != 0;
        if (dropping_) return;
        for (piece& p : pieces_) p.free = true;
        if (activity_ == activity::transfer) begin_transfer();
        return;
    }
    if (status != bus::job_status::done) return fail_bus(status);
    if (to_card()) {
        if (storing_ == 0) transfer_done();
        return;
    }
    moved_ += job.bytes.size();
    left.set(block_.bytes - moved_);
    if (moved_ == block_.bytes)
        transfer_done();
    else
        read_ahead();
}

void dma_channel::transfer_done() {
    if (to_card()) {
        checksum_.add(std::span(buffer_).first(block_.bytes));
        bytes_to_card.add(block_.bytes);
    } else {
        bytes_to_host.add(block_.bytes);
    }
    last_checksum_ = checksum_.result();
    payload.report(payload_began_, sim::now(), to_card() ? "to card" : "to host",
                   {{"host_address", std::uint64_t{block_.host_high} << 32 | block_.host_low},
                    {"bytes", block_.bytes},
                    {"local_address", block_.local_address},
                    {"channel", number_}});
    enter(activity::write_back);
    if (direct_) return after(dma_.finish_clocks, &dma_channel::finish_block);
    store_big(written_back_.data(), last_checksum_);
    dma_.memory_.host_dma.write(
        at_ + offsetof(abi::dma_block, checksum), written_back_, [this] { finish_block(); }, number_, {},
        dma_.clock_.current() + dma_.finish_clocks);
}

void dma_channel::finish_block() {
    blocks.add();
    block.report(block_began_, sim::now(), to_card() ? "to card" : "to host",
                 {{"host_address", std::uint64_t{block_.host_high} << 32 | block_.host_low},
                  {"bytes", block_.bytes},
                  {"local_address", block_.local_address},
                  {"channel", number_},
                  {"descriptor", at_},
                  {"terminal", (block_.next_and_flags & abi::dma_flag_terminal) != 0}});
    has_engine_ = false;
    dma_.release_engine(*this);
    if (direct_) {
        direct_ = known_ = false;
        enter(activity::idle);
        dma_.registers_.raise({isr_event::dma});
        return;
    }
    constexpr isr_event wakes[] = {isr_event::wake0, isr_event::wake1, isr_event::wake2, isr_event::wake0};
    if ((block_.next_and_flags & abi::dma_flag_wake) != 0) dma_.registers_.raise({wakes[number_]});
    at_ = block_.next_and_flags & ~abi::dma_flags_mask;
    if ((block_.next_and_flags & abi::dma_flag_terminal) != 0) --pulses_;
    if (pulses_ != 0) return next_block();
    idle_since_ = sim::now();
    enter(activity::idle);
}

void dma_channel::fail_bus(bus::job_status) {
    bus_errors.add();
    abandon();
    enter(activity::failed);
    dma_.release_engine(*this);
    dma_.registers_.raise({isr_event::par});
}

void dma_channel::reset() {
    timer_.cancel();
    abandon();
    at_ = base_;
    enter(activity::idle);
}

/// What bus and SRAM still do for the block at hand no longer counts.
void dma_channel::abandon() {
    ++epoch_;
    dropping_ = jobs_ != 0;
    pulses_ = 0;
    storing_ = 0;
    reading_ = has_engine_ = wants_engine_ = direct_ = known_ = false;
    for (piece& p : pieces_)
        if (!dropping_) p.free = true;
}

}  // namespace vinic::nic
