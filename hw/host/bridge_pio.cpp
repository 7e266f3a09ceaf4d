// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "hw/host/bridge.h"
#include "hw/host/cpu.h"
#include "hw/sim/error.h"

namespace vinic::host {

clocks bridge::processor_clocks(context& on, std::uint64_t ns) const { return on.processor().from_ns(ns); }

// --- What contexts call

void bridge::store(context& on, pci_address at, std::span<const std::byte> from) {
    flush_all(on);
    on.compute(processor_clocks(on, store_ns));
    post(on, at, from);
}

void bridge::load(context& on, pci_address at, std::span<std::byte> into) {
    flush_all(on);
    const sim::picoseconds begin = sim::now();
    loading_.insert(begin);
    on.stall([&] {
        sc_core::wait(sim::to_sc_time(host_time(load_request_ns)));
        waiter answer{.into = into};
        access& a = arrive(on, at, into.size());
        a.is_load = true;
        a.job.what = bus::job::kind::read;
        a.waiter = &answer;
        answer.wait();
        sc_core::wait(sim::to_sc_time(host_time(load_return_ns)));
        if (answer.not_before > sim::now()) sc_core::wait(sim::delay_until(answer.not_before));
    });
    loading_.erase(loading_.find(begin));
    loads.add();
    load_time.add(sim::now() - begin);
    load_probe.report(begin, sim::now(), "load", {{"address", at}, {"bytes", into.size()}});
}

void bridge::store_combined(context& on, pci_address at, std::span<const std::byte> from) {
    auto& buffers = combining_[on.number()];
    clocks cost = 0;
    while (!from.empty()) {
        const pci_address line = at & ~(combining_line_bytes - 1);
        const std::size_t in_word = combining_buffer::piece_bytes - at % combining_buffer::piece_bytes;
        const auto word = from.first(std::min(from.size(), in_word));
        cost += combining_store_clocks;
        auto buffer = std::ranges::find(buffers, line, &combining_buffer::line);
        if (buffer == buffers.end()) {
            if (buffers.size() == combining_buffers) {
                on.compute(std::exchange(cost, 0));
                flush(on, buffers.front());
                buffers.erase(buffers.begin());
            }
            buffer = buffers.insert(buffers.end(), {line, static_cast<unsigned>(combining_line_bytes)});
        }
        buffer->store(at, word);
        if (buffer->full()) {
            on.compute(std::exchange(cost, 0));
            flush(on, *buffer);
            buffers.erase(buffer);
        }
        at += word.size();
        from = from.subspan(word.size());
    }
    if (cost) on.compute(cost);
}

void bridge::fence(context& on) {
    flush_all(on);
    on.barrier();
}

void bridge::flush(context& on, const combining_buffer& buffer) {
    (buffer.full() ? combined_lines : combined_pieces).add(buffer.pieces().size());
    for (const auto& piece : buffer.pieces()) {
        on.compute(processor_clocks(on, combining_flush_ns));
        post(on, piece.address, piece.bytes);
    }
}

void bridge::flush_all(context& on) {
    const auto found = combining_.find(on.number());
    if (found == combining_.end()) return;
    for (const combining_buffer& buffer : found->second) flush(on, buffer);
    found->second.clear();
}

// --- The posting buffer

bridge::access& bridge::arrive(context& on, pci_address at, std::uint64_t bytes) {
    access& a = arrivals_.emplace_back();
    a.bytes.resize(bytes);
    a.arrived = sim::now();
    a.by = on.number();
    a.job.what = bus::job::kind::write;
    a.job.address = at;
    a.job.bytes = a.bytes;
    a.job.client = this;
    arrival_.no_later_than(sim::now());
    return a;
}

void bridge::post(context& on, pci_address at, std::span<const std::byte> from) {
    stores.add();
    bytes_stored.add(from.size());
    // When there is room for whatever all processors may store at this instant, no order among them can
    // matter.
    const bool room = arrivals_.size() + posted_ + processors_ <= posting_entries;
    access& a = arrive(on, at, from.size());
    std::ranges::copy(from, std::as_writable_bytes(std::span(a.bytes)).begin());
    if (room) return;
    waiter accepted;
    a.waiter = &accepted;
    const sim::picoseconds begin = sim::now();
    on.stall([&] { accepted.wait(); });
    posting_full.add(sim::now() - begin);
}

/// One delta after they arrived, so that all accesses of an instant are there: in order of arrival, then of
/// the context.
void bridge::admit() {
    arrivals_.sort([](const access& a, const access& b) {
        return a.arrived != b.arrived ? a.arrived < b.arrived : a.by < b.by;
    });
    while (!arrivals_.empty()) {
        access& a = arrivals_.front();
        if (!a.is_load && posted_ >= posting_entries) break;
        accesses_.splice(accesses_.end(), arrivals_, arrivals_.begin());
        if (!a.is_load) {
            posted_probe.set(++posted_);
            if (a.waiter) a.waiter->go();
        }
        initiator.start(a.job);
    }
}

void bridge::on_done(bus::job& job, bus::job_status status) {
    if (status != bus::job_status::done) aborted.add();
    if (job.what == bus::job::kind::completion) {
        const auto split = std::ranges::find_if(splits_, [&](const split_read& s) {
            return std::ranges::any_of(s.completions, [&](const bus::job& j) { return &j == &job; });
        });
        if (--split->left == 0) splits_.erase(split);
        return;
    }
    const auto a = std::ranges::find_if(accesses_, [&](const access& x) { return &x.job == &job; });
    finish(*a, status);
    accesses_.erase(a);
}

void bridge::finish(access& a, bus::job_status status) {
    if (a.is_load) {
        // A load that nobody answers reads ones.
        if (status != bus::job_status::done) std::ranges::fill(a.bytes, std::uint8_t{0xff});
        std::ranges::copy(std::as_bytes(std::span(a.bytes)), a.waiter->into.begin());
        a.waiter->not_before = dma_visible_;
        a.waiter->go();
        return;
    }
    store_probe.report(a.arrived, sim::now(), "store",
                       {{"address", a.job.address}, {"bytes", a.bytes.size()}});
    posted_probe.set(--posted_);
    if (!arrivals_.empty()) arrival_.no_later_than(sim::now());
}

/// Loads and stores are reported when they end, with their begin.
sim::picoseconds bridge::reported_until() const {
    sim::picoseconds first = loading_.empty() ? sim::never : *loading_.begin();
    for (const auto* waiting : {&accesses_, &arrivals_})
        for (const access& a : *waiting)
            if (!a.is_load) first = std::min(first, a.arrived);
    return first == sim::never || first == 0 ? first : first - 1;
}

}  // namespace vinic::host
