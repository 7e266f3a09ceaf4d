// SPDX-License-Identifier: Apache-2.0
// Protection and translation. The table of registered regions is on the card. The translation table stands
// there too, complete (`table` card), or in host memory, where the hardware walks it: a cache of lines of
// entries, set-associative, least recently used line out; a miss is a bus read, one at a time, and those
// behind it wait.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "firmware/abi/vi_engine_card.h"
#include "hw/nic/vi_engine/host_transfers.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class translation : public sim::module {
public:
    struct region {
        std::uint32_t handle = 0;  ///< 0: unused
        std::uint64_t address = 0;
        std::uint32_t length = 0;
        std::uint32_t first_page = 0;
        std::uint32_t tag = 0;
        std::uint32_t rdma_enables = 0;
    };
    /// Bytes that somebody wants to reach.
    struct request {
        std::uint32_t handle = 0;
        std::uint32_t tag = 0;
        std::uint64_t address = 0;
        std::uint32_t length = 0;
        std::uint32_t rdma_enables = 0;  ///< the region must allow one of these; 0: local
    };
    struct result {
        bool allowed = false;
        std::uint64_t physical = 0;
        std::uint32_t bytes = 0;  ///< of the request, up to the end of the page
    };

    translation(const sc_core::sc_module_name& name, sequencer& order, host_transfers& dma);

    sim::parameter<std::string> table;
    sim::parameter<std::uint64_t> table_entries;
    sim::parameter<std::uint64_t> check_clocks;
    sim::parameter<std::uint64_t> lookup_clocks;
    sim::parameter<std::uint64_t> cache_entries;
    sim::parameter<std::uint64_t> cache_ways;
    sim::parameter<std::uint64_t> line_entries;
    sim::parameter<bool> free;

    sim::counter<sim::unit::events> lookups{*this, "lookups", "pages translated"};
    sim::counter<sim::unit::events> misses{*this, "misses", "of these, not in the cache"};
    sim::counter<sim::unit::events> refused{*this, "refused", "requests against protection"};

    sim::span_probe lookup{*this, "lookup", "a translation: from the request to the physical address"};

    /// The time that it takes to find out whether a request is allowed.
    sequencer::pause check() { return sequencer_.clocks(free ? 0 : check_clocks.get(), free ? 0 : 1); }
    /// Whether the request lies in a region that allows it. No time.
    bool allowed(const request& what) const { return find(what) != nullptr; }
    /// Protection and the physical address of the first byte.
    step<result> translate(request what);

    bool on_card() const { return on_card_; }
    void set_entry(std::uint32_t word, std::uint32_t value);
    void set_table(std::uint64_t address, std::uint32_t entries);
    std::uint32_t entries() const { return entries_; }
    void set_region(std::uint32_t number, const region& what);
    void clear_region(std::uint32_t number);

private:
    struct line {
        std::uint32_t number = 0;
        std::vector<abi::vi_engine::page_entry> entries;
    };
    const region* find(const request& what) const;
    void forget_pages(const region& of);
    const line* cached(std::uint32_t number);
    step<bool> walk(std::uint32_t number);

    sequencer& sequencer_;
    host_transfers& dma_;
    bool on_card_;
    std::vector<region> regions_;
    std::vector<abi::vi_engine::page_entry> entries_on_card_;
    std::uint64_t table_address_ = 0;
    std::uint32_t entries_ = 0;
    std::vector<std::deque<line>> sets_;  ///< most recently used first
    std::uint64_t changes_ = 0;           ///< of the table: what was on its way then is not kept
    pool unit_;
};

}  // namespace vinic::nic
