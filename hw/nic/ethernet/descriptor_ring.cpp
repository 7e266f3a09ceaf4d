// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/ethernet/descriptor_ring.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "hw/nic/bytes.h"
#include "hw/sim/error.h"

namespace vinic::nic::ethernet {

namespace {

constexpr std::uint32_t descriptor_bytes = sizeof(abi::ethernet::descriptor);

abi::ethernet::descriptor parse(const std::uint8_t* p) {
    const std::uint32_t lengths = load_little(p + offsetof(abi::ethernet::descriptor, length));
    return {.address = load_little(p) | std::uint64_t{load_little(p + 4)} << 32,
            .length = static_cast<std::uint16_t>(lengths),
            .flags = static_cast<std::uint16_t>(lengths >> 16),
            .status = load_little(p + offsetof(abi::ethernet::descriptor, status))};
}

}  // namespace

struct descriptor_ring::write {
    std::vector<std::uint8_t> bytes;
    bus::job job;
    std::uint32_t number;
    sim::picoseconds began;
    std::function<void()> done;
};

descriptor_ring::descriptor_ring(const sc_core::sc_module_name& name, steps& when, bus::master& master)
    : sim::module(name),
      held(*this, {.name = "held",
                   .unit = "descriptors",
                   .value = 32,
                   .min = 1,
                   .max = 4096,
                   .help = "descriptors that the card holds, read ahead"}),
      burst(*this, {.name = "burst",
                    .unit = "descriptors",
                    .value = 8,
                    .min = 1,
                    .max = 256,
                    .help = "most descriptors of one read; one read is under way at a time"}),
      fetches(*this, "fetches", "reads of descriptors"),
      write_backs(*this, "write_backs", "descriptors written back"),
      posted_probe(*this, "posted", 32, "descriptors that the driver has handed over"),
      fetch_probe(*this, "fetch", "a read of descriptors: from the request to the last byte"),
      write_probe(*this, "write_back", "a descriptor written back: from the request to the last byte"),
      when_(when),
      master_(master) {}

descriptor_ring::~descriptor_ring() = default;

void descriptor_ring::place(std::uint64_t address, std::uint32_t entries) {
    if (entries == 0 || (entries & (entries - 1)) != 0)
        throw sim::model_error(name(),
                               fmt::format("a ring of {} descriptors: expected a power of two", entries));
    base_ = address;
    entries_ = entries;
}

void descriptor_ring::post(std::uint32_t count) {
    const std::uint32_t ahead = count - posted_;
    if (ahead == 0 || ahead > entries_) return;
    posted_ = count;
    posted_probe.set(count);
    when_.soon();
}

void descriptor_ring::step() {
    if (fetching_ || posted_ == asked_) return;
    const auto on_card = static_cast<std::uint32_t>(fetched_.size());
    const auto most = static_cast<std::uint32_t>(held.get());
    const std::uint32_t room = most - std::min(on_card, most);
    const std::uint32_t to_end = entries_ - (asked_ & (entries_ - 1));
    const std::uint32_t count =
        std::min({posted_ - asked_, room, to_end, static_cast<std::uint32_t>(burst.get())});
    if (count == 0) return;
    raw_.assign(std::size_t{count} * descriptor_bytes, 0);
    fetch_ = {.what = bus::job::kind::read, .address = address_of(asked_), .bytes = raw_, .client = this};
    fetching_ = true;
    began_ = sim::now();
    asked_ += count;
    fetches.add();
    master_.start(fetch_);
}

std::uint32_t descriptor_ring::take() {
    fetched_.pop_front();
    when_.soon();
    return taken_++;
}

void descriptor_ring::write_back(std::uint32_t number, std::uint32_t offset, std::vector<std::uint8_t> bytes,
                                 std::function<void()> done) {
    auto fresh = std::make_unique<write>();
    fresh->bytes = std::move(bytes);
    fresh->number = number;
    fresh->began = sim::now();
    fresh->done = std::move(done);
    fresh->job = {.what = bus::job::kind::write,
                  .address = address_of(number) + offset,
                  .bytes = fresh->bytes,
                  .client = this};
    writes_.push_back(std::move(fresh));
    write_backs.add();
    master_.start(writes_.back()->job);
}

void descriptor_ring::on_done(bus::job& what, bus::job_status status) {
    if (status != bus::job_status::done)
        throw sim::model_error(name(), fmt::format("no memory answers at {:#x}", what.address));
    if (&what == &fetch_) {
        for (std::size_t at = 0; at < raw_.size(); at += descriptor_bytes)
            fetched_.push_back(parse(&raw_[at]));
        fetching_ = false;
        const auto count = static_cast<std::uint32_t>(raw_.size() / descriptor_bytes);
        fetch_probe.report(began_, sim::now(), "fetch", {{"first", asked_ - count}, {"count", count}});
        when_.soon();
        return;
    }
    const auto which = std::ranges::find(writes_, &what, [](const auto& w) { return &w->job; });
    const std::unique_ptr<write> finished = std::move(*which);
    writes_.erase(which);
    write_probe.report(finished->began, sim::now(), "write-back", {{"number", finished->number}});
    if (finished->done) finished->done();
}

}  // namespace vinic::nic::ethernet
