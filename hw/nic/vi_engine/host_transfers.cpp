// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/host_transfers.h"

#include <algorithm>

namespace vinic::nic {

// --- One read

host_read::host_read(host_transfers& by) : progress(by.sequencer_), by_(by) {}

void host_read::on_arrival(bus::job&, std::uint64_t offset, std::uint64_t count) {
    if (!watched_) return;
    by_.sequencer_.input(rank::bus, [this, offset, count] { add(offset, count); });
}

void host_read::on_done(bus::job&, bus::job_status status) {
    by_.sequencer_.input(rank::bus, [this, status, at = sim::now()] { by_.read_done(*this, status, at); });
}

/// Split reads may come in any order: what is behind a gap waits.
void host_read::add(std::uint64_t offset, std::uint64_t count) {
    ahead_.emplace_back(offset, offset + count);
    std::ranges::sort(ahead_);
    const std::uint64_t before = arrived_;
    for (const auto& [begin, end] : ahead_)
        if (begin <= arrived_) arrived_ = std::max(arrived_, end);
    std::erase_if(ahead_, [this](const auto& range) { return range.second <= arrived_; });
    if (arrived_ != before) progress.notify();
}

// --- The engine's DMA

host_transfers::host_transfers(const sc_core::sc_module_name& name, sequencer& order, bus::master& master)
    : module(name),
      read_channels(*this, {.name = "read_channels",
                            .unit = "transfers",
                            .value = 1,
                            .min = 1,
                            .max = 64,
                            .help = "reads of payload and descriptors that may be under way at a time"}),
      write_channels(*this, {.name = "write_channels",
                             .unit = "transfers",
                             .value = 4,
                             .min = 1,
                             .max = 64,
                             .help = "posted writes that may be under way at a time"}),
      start_clocks(*this, {.name = "start_clocks",
                           .unit = "clocks",
                           .value = 2,
                           .max = 1000,
                           .help = "from address and length to the bus master's request, engine clocks"}),
      sequencer_(order),
      master_(master),
      free_reads_(order, read_channels),
      free_writes_(order, write_channels),
      closed_(order) {}

std::uint64_t host_transfers::open() {
    under_way_.insert(++tickets_);
    return tickets_;
}

void host_transfers::close(std::uint64_t ticket) {
    under_way_.erase(ticket);
    closed_.notify();
}

step<std::uint64_t> host_transfers::read_channel() {
    co_await free_reads_.take();
    co_return open();
}

step<std::uint64_t> host_transfers::write_channel() {
    co_await free_writes_.take();
    co_return open();
}

void host_transfers::give_back_read(std::uint64_t ticket) {
    close(ticket);
    free_reads_.give();
}

void host_transfers::give_back_write(std::uint64_t ticket) {
    close(ticket);
    free_writes_.give();
}

void host_transfers::start_read(std::uint64_t ticket, host_read& what, std::uint64_t address,
                                std::span<std::uint8_t> into, const char* note, bool watched) {
    what.ticket_ = ticket;
    what.watched_ = watched;
    what.what_ = note;
    what.began_ = sim::now();
    what.job_ = {.what = bus::job::kind::read, .address = address, .bytes = into, .client = &what};
    master_.start(what.job_);
}

void host_transfers::read_done(host_read& what, bus::job_status status, sim::picoseconds at) {
    if (status != bus::job_status::done) bus_errors.add();
    what.done_ = true;
    what.ended_ = at;
    what.arrived_ = what.job_.bytes.size();
    reads.add();
    bytes_read.add(what.arrived_);
    read.report(what.began_, at, what.what_, {{"address", what.job_.address}, {"bytes", what.arrived_}});
    close(what.ticket_);
    if (what.shared_) free_reads_.give();
    what.progress.notify();
}

void host_transfers::start_write(std::uint64_t ticket, std::uint64_t address, std::vector<std::uint8_t> bytes,
                                 const char* note, std::function<void()> then) {
    host_write& made = started_writes_.emplace_back();
    made.self = std::prev(started_writes_.end());
    made.by = this;
    made.bytes = std::move(bytes);
    made.ticket = ticket;
    made.then = std::move(then);
    made.note = note;
    made.began = sim::now();
    made.job = {.what = bus::job::kind::write, .address = address, .bytes = made.bytes, .client = &made};
    master_.start(made.job);
}

void host_transfers::host_write::on_done(bus::job&, bus::job_status status) {
    by->sequencer_.input(rank::bus, [this, status, at = sim::now()] { by->write_done(*this, status, at); });
}

void host_transfers::write_done(host_write& what, bus::job_status status, sim::picoseconds at) {
    if (status != bus::job_status::done) bus_errors.add();
    writes.add();
    bytes_written.add(what.bytes.size());
    written.report(what.began, at, what.note, {{"address", what.job.address}, {"bytes", what.bytes.size()}});
    give_back_write(what.ticket);
    const auto then = std::move(what.then);
    started_writes_.erase(what.self);
    if (then) then();
}

step<bool> host_transfers::read_alone(std::uint64_t address, std::span<std::uint8_t> into, const char* note) {
    host_read one(*this);
    one.shared_ = false;
    const std::uint64_t ticket = open();
    co_await sequencer_.clocks(start_clocks);
    start_read(ticket, one, address, into, note);
    while (!one.done()) co_await one.progress.changed();
    co_return true;
}

step<bool> host_transfers::quiet() {
    const std::uint64_t newest = tickets_;
    while (!under_way_.empty() && *under_way_.begin() <= newest) co_await closed_.changed();
    co_return true;
}

}  // namespace vinic::nic
