// SPDX-License-Identifier: Apache-2.0

// Registered memory, as the card knows it: where it lies for the program, who may touch it, and which entries
// of the page table in host memory are its pages.
#pragma once

#include "firmware/abi/myvia_card.h"
#include "firmware/common/bytes.h"

namespace vinic::common {

inline constexpr uint32_t page_bytes = 4096;

// A power of two in size: indexing is a shift.
struct alignas(32) region {
    uint64_t address;
    uint32_t length;
    uint32_t first_page;
    uint32_t tag;
    uint32_t rdma_enables;
    uint32_t handle;  // 0: unused
};
static_assert(sizeof(region) == 32);

// The region that `handle` names, if it is there and belongs to `tag`.
template <uint32_t count>
inline region* find_region(region (&regions)[count], uint32_t handle, uint32_t tag) {
    const uint32_t index = (handle & ((1u << abi::myvia::handle_region_bits) - 1)) - 1;
    if (index >= count) return nullptr;
    region* found = opaque(&regions[index]);
    if (found->handle != handle || found->tag != tag) return nullptr;
    return found;
}

inline bool contains(const region& where, uint64_t address, uint32_t length) {
    const uint64_t offset = address - where.address;
    return high_word(offset) == 0 && length <= where.length && low_word(offset) <= where.length - length;
}

inline uint32_t pages_of(const region& of) {
    return (low_word(of.address) % page_bytes + of.length + page_bytes - 1) / page_bytes;
}

// Which entry of the page table is that of the page of `address`, which lies in the region.
inline uint32_t page_number(const region& where, uint64_t address) {
    const uint32_t offset =
        low_word(address) - low_word(where.address) + low_word(where.address) % page_bytes;
    return where.first_page + offset / page_bytes;
}

}  // namespace vinic::common
