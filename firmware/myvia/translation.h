// SPDX-License-Identifier: Apache-2.0

// Protection and translation: the table of registered regions, all of it on the card, and a direct-mapped
// cache of the page table in host memory. A miss fetches a line of eight entries.
#pragma once

#include "firmware/common/region.h"
#include "firmware/myvia/card.h"
#include "firmware/myvia/dma.h"

namespace vinic::myvia {

inline region regions[max_regions];
inline uint32_t registrations;  // counts changes: what was found out before may not be true any more

inline region* find_region(uint32_t handle, uint32_t tag) { return find_region(regions, handle, tag); }

// --- Cache of the page table

inline constexpr uint32_t line_entries = 8;
inline constexpr uint32_t cache_sets = 512;
inline constexpr uint32_t tag_valid = 1u << 31;
inline constexpr uint32_t tag_fetching = 1u << 30;
inline constexpr uint32_t tag_stale = 1u << 29;  // cleared while on its way: not to be used when it arrives

struct translation_line {
    abi::myvia::page_entry entries[line_entries];
};
alignas(8) inline translation_line translation_lines[cache_sets];
inline uint32_t translation_tags[cache_sets];  // number of the line and the bits above

inline void fetch_line(uint32_t line, uint32_t set) {
    if (short_reads.full()) {
        work |= work_send | work_receive;
        return;
    }
    const uint32_t first = line * line_entries;
    const uint32_t entries = least(line_entries, card_interface.host_page_table_entries - first);
    const uint64_t table = join(card_interface.host_page_table_high, card_interface.host_page_table_low);
    translation_tags[set] = line | tag_fetching;
    short_reads.post(table + first * sizeof(abi::myvia::page_entry), &translation_lines[set],
                     entries * static_cast<uint32_t>(sizeof(abi::myvia::page_entry)),
                     then(action_translation, &translation_lines[set]));
}

inline void translation_arrived(const translation_line& line) {
    const uint32_t set = static_cast<uint32_t>(&line - translation_lines);
    const uint32_t tag = translation_tags[set];
    translation_tags[set] = tag & tag_stale ? 0 : (tag & ~tag_fetching) | tag_valid;
}

// First page of a region whose addresses are physical: no line of the cache is ever that of its pages.
inline constexpr uint32_t no_page = 1u << 30;

// No valid line of the cache holds that page: it is fetched, or the region's addresses need no translation.
[[gnu::noinline]] inline uint32_t translate_without_line(const region& where, uint32_t in_region,
                                                         uint32_t line, uint64_t& physical) {
    if (where.rdma_enables & abi::myvia::region_physical) {
        physical = where.address + in_region;
        return step_done;
    }
    const uint32_t set = line % cache_sets;
    if ((translation_tags[set] & tag_fetching) == 0) fetch_line(line, set);
    return step_blocked;
}

// Where a byte of a region stands in host memory: the one whose address, which lies in the region, has the
// low word `low`.
inline uint32_t translate(const region& where, uint32_t low, uint64_t& physical) {
    const uint32_t in_region = low - low_word(where.address);
    const uint32_t offset = in_region + low_word(where.address) % page_bytes;
    const uint32_t page = where.first_page + offset / page_bytes;
    const uint32_t line = page / line_entries;
    const uint32_t set = line % cache_sets;
    const uint32_t tag = translation_tags[set];
    if (tag != (line | tag_valid)) return translate_without_line(where, in_region, line, physical);
    const abi::myvia::page_entry& entry = *opaque(&translation_lines[set].entries[page % line_entries]);
    physical = join(network(entry.frame_high), network(entry.frame_low) | (offset % page_bytes));
    return step_done;
}

// The page table changed there: forgets the lines that hold these pages.
inline void forget_pages(uint32_t first_page, uint32_t pages) {
    const uint32_t first = first_page / line_entries;
    const uint32_t lines = (first_page + pages - 1) / line_entries - first + 1;
    for (uint32_t i = 0; i != least(lines, cache_sets); ++i) {
        uint32_t& tag = translation_tags[(first + i) % cache_sets];
        if (((tag & ~(tag_valid | tag_fetching | tag_stale)) - first) >= lines) continue;
        tag = tag & tag_fetching ? tag | tag_stale : 0;
    }
}

}  // namespace vinic::myvia
