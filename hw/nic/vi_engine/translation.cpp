// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/translation.h"

#include <algorithm>
#include <cstring>

#include "hw/sim/error.h"

namespace vinic::nic {

namespace card = abi::vi_engine;

namespace {

constexpr std::uint64_t table_accesses = 2;  // the region, the page
constexpr std::uint32_t page_bytes = 4096;
constexpr std::uint32_t region_mask = (1u << card::handle_region_bits) - 1;

std::uint32_t pages_of(const translation::region& of) {
    return static_cast<std::uint32_t>((of.address % page_bytes + of.length + page_bytes - 1) / page_bytes);
}

}  // namespace

translation::translation(const sc_core::sc_module_name& name, sequencer& order, host_transfers& dma)
    : module(name),
      table(*this, {.name = "table",
                    .value = "card",
                    .choices = {"card", "host"},
                    .help = "where the translation table stands: complete in the card's memory, or in host "
                            "memory behind a cache"}),
      table_entries(*this, {.name = "table_entries",
                            .unit = "pages",
                            .value = 65536,
                            .min = 1,
                            .max = 1048576,
                            .help = "pages that may be registered"}),
      check_clocks(*this, {.name = "check_clocks",
                           .unit = "clocks",
                           .value = 2,
                           .max = 1000,
                           .help = "region, protection tag, bounds and rights of a segment, engine clocks"}),
      lookup_clocks(*this, {.name = "lookup_clocks",
                            .unit = "clocks",
                            .value = 3,
                            .max = 1000,
                            .help = "an entry of the table on the card, or of the cache, engine clocks"}),
      cache_entries(*this, {.name = "cache_entries",
                            .unit = "pages",
                            .value = 1024,
                            .min = 8,
                            .max = 1048576,
                            .help = "pages in the cache of a table in host memory"}),
      cache_ways(
          *this,
          {.name = "cache_ways", .value = 4, .min = 1, .max = 64, .help = "lines of a set of that cache"}),
      line_entries(*this, {.name = "line_entries",
                           .unit = "pages",
                           .value = 8,
                           .min = 1,
                           .max = 64,
                           .choices = {1, 2, 4, 8, 16, 32, 64},
                           .help = "pages that a miss reads"}),
      free(*this, {.name = "free",
                   .value = false,
                   .help = "what-if: checks, lookups and reads of a table in host memory take no time"}),
      sequencer_(order),
      dma_(dma),
      on_card_(table.get() == "card"),
      regions_(card::max_regions),
      unit_(order, 1) {
    if (cache_entries % (cache_ways * line_entries) != 0)
        throw sim::input_error("{}: cache_entries {} is no multiple of cache_ways {} times line_entries {}",
                               this->name(), cache_entries.get(), cache_ways.get(), line_entries.get());
    if (on_card_) {
        entries_ = static_cast<std::uint32_t>(table_entries.get());
        entries_on_card_.resize(entries_);
    } else {
        sets_.resize(cache_entries / (cache_ways * line_entries));
    }
}

// --- Tables

void translation::set_entry(std::uint32_t word, std::uint32_t value) {
    if (word / 2 >= entries_on_card_.size()) return;
    card::page_entry& entry = entries_on_card_[word / 2];
    (word % 2 == 0 ? entry.frame_low : entry.frame_high) = value;
}

void translation::set_table(std::uint64_t address, std::uint32_t entries) {
    if (on_card_) return;
    table_address_ = address;
    entries_ = entries;
}

void translation::set_region(std::uint32_t number, const region& what) {
    forget_pages(what);
    regions_[number] = what;
}

void translation::clear_region(std::uint32_t number) {
    if (regions_[number].handle != 0) forget_pages(regions_[number]);
    regions_[number].handle = 0;
}

void translation::forget_pages(const region& of) {
    ++changes_;
    const std::uint64_t first = of.first_page / line_entries;
    const std::uint64_t last = (std::uint64_t{of.first_page} + pages_of(of)) / line_entries;
    for (auto& set : sets_)
        std::erase_if(set, [&](const line& one) { return one.number >= first && one.number <= last; });
}

const translation::region* translation::find(const request& what) const {
    const std::uint32_t index = (what.handle & region_mask) - 1;
    if (index >= regions_.size()) return nullptr;
    const region& found = regions_[index];
    if (found.handle != what.handle || found.tag != what.tag) return nullptr;
    if (what.rdma_enables != 0 && (found.rdma_enables & what.rdma_enables) == 0) return nullptr;
    const std::uint64_t offset = what.address - found.address;
    return offset <= found.length && what.length <= found.length - offset ? &found : nullptr;
}

// --- Lookup

step<translation::result> translation::translate(request what) {
    const sim::picoseconds began = sim::now();
    co_await unit_.take();
    if (!free) co_await sequencer_.clocks(check_clocks + lookup_clocks, table_accesses);
    result found;
    for (;;) {
        const region* where = find(what);
        if (where == nullptr) break;
        const auto offset =
            static_cast<std::uint32_t>(what.address - where->address + where->address % page_bytes);
        const std::uint32_t page = where->first_page + offset / page_bytes;
        const card::page_entry* entry = on_card_ ? &entries_on_card_[page] : nullptr;
        if (!on_card_)
            if (const line* l = cached(static_cast<std::uint32_t>(page / line_entries)))
                entry = &l->entries[page % line_entries];
        if (entry == nullptr) {
            misses.add();
            co_await walk(static_cast<std::uint32_t>(page / line_entries));
            continue;
        }
        const std::uint64_t frame = std::uint64_t{entry->frame_high} << 32 | entry->frame_low;
        found = {true, frame + offset % page_bytes, std::min(what.length, page_bytes - offset % page_bytes)};
        break;
    }
    found.allowed ? lookups.add() : refused.add();
    unit_.give();
    lookup.report(began, sim::now(), found.allowed ? "translation" : "refused",
                  {{"address", what.address}, {"bytes", what.length}, {"physical", found.physical}});
    co_return found;
}

const translation::line* translation::cached(std::uint32_t number) {
    auto& set = sets_[number % sets_.size()];
    const auto found = std::ranges::find(set, number, &line::number);
    if (found == set.end()) return nullptr;
    std::rotate(set.begin(), found, found + 1);
    return &set.front();
}

/// A line that the table changed under is read again.
step<bool> translation::walk(std::uint32_t number) {
    const std::uint64_t before = changes_;
    const auto first = static_cast<std::uint32_t>(number * line_entries);
    line made{.number = number, .entries = std::vector<card::page_entry>(line_entries)};
    std::vector<std::uint8_t> bytes(std::min<std::size_t>(line_entries, entries_ - first) *
                                    sizeof(card::page_entry));
    const std::uint64_t address = table_address_ + std::uint64_t{first} * sizeof(card::page_entry);
    if (free)
        dma_.look(address, bytes);
    else
        co_await dma_.read_alone(address, bytes, "translation");
    std::memcpy(made.entries.data(), bytes.data(), bytes.size());
    if (before != changes_) co_return false;
    auto& set = sets_[number % sets_.size()];
    if (set.size() == cache_ways) set.pop_back();
    set.push_front(std::move(made));
    co_return true;
}

}  // namespace vinic::nic
