// SPDX-License-Identifier: Apache-2.0

// Protection and translation: the table of regions, all of it on the card, and a cache of the page table in
// host memory, kept by software: direct-mapped, one page an entry. A miss fetches the entry and waits for it.
#pragma once

#include "firmware/bvia/card.h"
#include "firmware/bvia/dma.h"
#include "firmware/common/region.h"

namespace vinic::bvia {

inline region regions[max_regions];

inline region* find_region(uint32_t handle, uint32_t tag) { return find_region(regions, handle, tag); }

inline constexpr uint32_t cached_pages = 256;
struct cached_page {
    uint32_t number_and_one;  // of the page table's entry; 0: nothing
    uint32_t frame;
};
inline cached_page page_cache[cached_pages];
alignas(8) inline abi::myvia::page_entry fetched_page;

// Regions whose addresses are physical have numbers behind those of the table: that of the frame itself.
inline uint32_t first_physical_page(uint32_t address) {
    return card_interface.host_page_table_entries + address / page_bytes;
}

[[gnu::noinline]] inline void fetch_page(uint32_t number, cached_page& to) {
    const uint32_t physical = number - card_interface.host_page_table_entries;
    if (static_cast<int32_t>(physical) >= 0) {
        to = {number + 1, physical * page_bytes};
        return;
    }
    read_host(card_interface.host_page_table_low + number * sizeof(fetched_page), &fetched_page,
              sizeof(fetched_page));
    to = {number + 1, network(fetched_page.frame_low)};
}

// Where the byte `address` of a region stands in host memory. The address lies in the region.
inline uint32_t translate(const region& where, uint64_t address) {
    const uint32_t number = page_number(where, address);
    cached_page& entry = *opaque(&page_cache[number % cached_pages]);
    if (entry.number_and_one != number + 1) fetch_page(number, entry);
    return entry.frame | low_word(address) % page_bytes;
}

// The page table changed there.
inline void forget_pages(uint32_t first, uint32_t pages) {
    for (cached_page& entry : page_cache)
        if (entry.number_and_one != 0 && entry.number_and_one - 1 - first < pages) entry.number_and_one = 0;
}

}  // namespace vinic::bvia
