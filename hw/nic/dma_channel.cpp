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
    if (position_ % 4 == 0) {
        std::uint64_t upper = 0, lower = 0;
        const std::size_t whole = bytes.size() / 4 * 4;
        for (std::size_t at = 0; at < whole; at += 4) {
            const std::uint32_t word = load_big(bytes.data() + at);
            upper += word >> 16;
            lower += word & 0xFFFF;
        }
        sums_[0] += upper;
        sums_[1] += lower;
        position_ += whole;
        bytes = bytes.subspan(whole);
    }
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

// --- Registers

void dma_channel::set_base(std::uint32_t address) {
    base_ = address;
    dma_.controller_->set_base(number_, address);
}

void dma_channel::pulse() {
    if (activity_ == activity::failed) return;
    pulse_probe.report(sim::now(), sim::now(), "pulse");
    dma_.controller_->pulse(1u << number_);
}

void dma_channel::start(std::uint32_t host, std::uint32_t local, std::uint32_t bytes, bool to_card) {
    if (busy())
        dma_.memory_.fail(
            fmt::format("host DMA started while it runs (host {:#x}, SRAM {:#x})", host, local));
    block_ = {.next_and_flags = to_card ? abi::dma_flag_host_to_lanai : 0,
              .bytes = bytes,
              .local_address = local,
              .host_low = host};
    block_began_ = sim::now();
    dma_.controller_->start(number_, block_);
}

// --- A block begins

void dma_channel::entered(activity next) {
    activity_ = next;
    state.set(static_cast<std::uint64_t>(next));
}

void dma_channel::fetch_block(std::uint32_t address) {
    if (address % 8 != 0)
        dma_.memory_.fail(
            fmt::format("host DMA channel {}: block at {:#x} is not aligned", number_, address));
    at_ = address;
    block_began_ = sim::now();
    dma_.memory_.host_dma.read(
        at_, raw_, [this] { fetched(); }, number_);
}

void dma_channel::fetched() {
    const std::uint8_t* p = raw_.data();
    block_ = {load_big(p),      load_big(p + 4),  load_big(p + 8),
              load_big(p + 12), load_big(p + 16), load_big(p + 20)};
    fetch.report(block_began_, sim::now(), "fetch",
                 {{"address", at_}, {"bytes", raw_.size()}, {"channel", number_}});
    dma_.controller_->fetched(number_, block_);
}

void dma_channel::check_block() const {
    if (!dma_.memory_.holds(block_.local_address, block_.bytes))
        dma_.memory_.fail(fmt::format("host DMA channel {}, block at {:#x}: {} bytes at {:#x} leave the SRAM",
                                      number_, at_, block_.bytes, block_.local_address));
}

void dma_channel::begin_transfer() {
    waiting_ = dropping_;  // the buffers may not be free yet
    if (waiting_) return;
    payload_began_ = sim::now();
    host_address.set(std::uint64_t{block_.host_high} << 32 | block_.host_low);
    left.set(block_.bytes);
    moved_ = 0;
    checksum_ = {};
    dma_.controller_->go(number_);
}

// --- Host to LANai

void dma_channel::load(std::uint64_t host, std::uint32_t local, std::uint32_t bytes) {
    local_ = local;
    buffer_.resize(bytes);
    if (dma_.reads_for_free(host, bytes)) return load_for_free(host);
    read_job_ = bus::job{
        .what = bus::job::kind::read, .address = host, .bytes = buffer_, .client = this, .rank = number_};
    ++jobs_;
    dma_.master_.start(read_job_);
}

/// The bytes are here at once, and have only their slots to wait for.
void dma_channel::load_for_free(std::uint64_t host) {
    dma_.master_.debug_read(host, buffer_);
    count_moved(buffer_.size());
    ++storing_;
    dma_.memory_.host_dma.write(
        local_, buffer_,
        [this, block = epoch_] {
            if (block != epoch_) return;
            --storing_;
            dma_.controller_->loaded(number_);
        },
        data_rank + number_);
}

/// The burst's slots follow its data phases, each one clock after the word that it stores: the only one,
/// which may hold bytes of two data phases, after the last.
void dma_channel::on_burst(bus::job& job, std::uint64_t offset, std::uint64_t count,
                           const bus::tenure_schedule& when) {
    if (&job != &read_job_ || dropping_) return;
    const sram& memory = dma_.memory_;
    const cycle first = dma_.clock_.domain().edge_after(when.first_data_at);
    const cycle last = dma_.clock_.domain().edge_after(when.done_at);
    const std::uint64_t start = local_ + offset, width = memory.slot_bytes;
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
            if (jobs_ == 0 && storing_ == 0) dma_.controller_->loaded(number_);
        },
        data_rank + number_, speed, slots > 1 ? first : last);
}

void dma_channel::on_cut(bus::job& job, std::uint64_t offset, std::uint64_t count,
                         const bus::tenure_schedule&) {
    if (&job == &read_job_ && !dropping_) dma_.memory_.host_dma.shorten(buffer_.data() + offset, count);
}

void dma_channel::on_arrival(bus::job&, std::uint64_t, std::uint64_t count) { count_moved(count); }

void dma_channel::count_moved(std::uint64_t count) {
    moved_ += count;
    if (!dropping_) left.set(block_.bytes - moved_);
}

// --- LANai to host

void dma_channel::read_piece(unsigned half, std::uint32_t local, std::uint32_t bytes) {
    piece& p = pieces_[half];
    p.bytes.resize(bytes);
    dma_.memory_.host_dma.read(
        local, p.bytes,
        [this, block = epoch_] {
            if (block == epoch_) dma_.controller_->piece_read(number_);
        },
        data_rank + number_);
}

void dma_channel::send_piece(unsigned half, std::uint64_t host) {
    piece& p = pieces_[half];
    checksum_.add(p.bytes);
    p.job = bus::job{
        .what = bus::job::kind::write, .address = host, .bytes = p.bytes, .client = this, .rank = number_};
    ++jobs_;
    dma_.master_.start(p.job);
}

// --- Both

void dma_channel::on_done(bus::job& job, bus::job_status status) {
    --jobs_;
    if (dropping_) {
        dropping_ = jobs_ != 0;
        if (!dropping_ && waiting_) begin_transfer();
        return;
    }
    if (status != bus::job_status::done) return fail_bus();
    if (to_card()) {
        if (storing_ == 0) dma_.controller_->loaded(number_);
        return;
    }
    count_moved(job.bytes.size());
    dma_.controller_->piece_sent(number_, &job == &pieces_[0].job ? 0 : 1);
}

void dma_channel::transferred(bool by_registers) {
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
    if (by_registers) return;
    store_big(written_back_.data(), last_checksum_);
    dma_.memory_.host_dma.write(
        at_ + offsetof(abi::dma_block, checksum), written_back_,
        [this] { dma_.controller_->written_back(number_); }, number_, {},
        dma_.clock_.current() + dma_.finish_clocks);
}

void dma_channel::finished(bool by_registers) {
    blocks.add();
    block.report(block_began_, sim::now(), to_card() ? "to card" : "to host",
                 {{"host_address", std::uint64_t{block_.host_high} << 32 | block_.host_low},
                  {"bytes", block_.bytes},
                  {"local_address", block_.local_address},
                  {"channel", number_},
                  {"descriptor", at_},
                  {"terminal", (block_.next_and_flags & abi::dma_flag_terminal) != 0}});
    if (by_registers) return dma_.registers_.raise({isr_event::dma});
    constexpr isr_event wakes[] = {isr_event::wake0, isr_event::wake1, isr_event::wake2, isr_event::wake0};
    if ((block_.next_and_flags & abi::dma_flag_wake) != 0) dma_.registers_.raise({wakes[number_]});
}

void dma_channel::fail_bus() {
    bus_errors.add();
    abandon();
    dma_.controller_->bus_error(number_);
    dma_.registers_.raise({isr_event::par});
}

/// What bus and SRAM still do for the block at hand no longer counts.
void dma_channel::abandon() {
    ++epoch_;
    dropping_ = jobs_ != 0;
    waiting_ = false;
    storing_ = 0;
}

}  // namespace vinic::nic
