// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/lanai/blocks.h"

#include <algorithm>

namespace vinic::lanai {

block_cache::block_cache(const core_config& config, std::span<std::uint8_t> sram,
                         const std::vector<std::uint16_t>& regions)
    : config_(config),
      sram_(sram),
      regions_(regions),
      words_((sram.size() + 63) / 64),
      pages_((sram.size() + 4095) / 4096) {}

// Translates what starts there.
block* block_cache::enter(std::uint32_t pc) {
    auto& p = pages_[pc >> 12];
    if (!p) p = std::make_unique<page>();
    auto fresh = std::make_unique<block>();
    const bool whole = translate(*fresh, config_, sram_, pc, end_of_region(pc));
    if (whole && !regions_.empty()) fresh->region = regions_[pc / 4];
    // Where no block can start, the word still decides that: writing it must be noticed.
    const std::uint32_t words = whole ? fresh->instructions : 1;
    for (std::uint32_t n = 0; n < words; ++n) {
        const std::uint32_t word = (pc >> 2) + n;
        words_[word >> 4] = static_cast<std::uint16_t>(words_[word >> 4] | 1u << (word & 15));
    }
    p->starts[pc >> 2 & 1023] = whole ? fresh.get() : &none_;
    if (!whole) return nullptr;
    blocks_.push_back(std::move(fresh));
    return blocks_.back().get();
}

// Where the region of that word ends, or somewhere in it that no block reaches.
std::uint32_t block_cache::end_of_region(std::uint32_t pc) const {
    const std::uint32_t far = pc + 4 * longest_block;
    if (regions_.empty()) return far;
    std::uint32_t end = pc + 4;
    while (end < far && end / 4 < regions_.size() && regions_[end / 4] == regions_[pc / 4]) end += 4;
    return end;
}

block_link block_cache::link(const block& from, std::uint32_t pc) {
    block* to = find(pc);
    if (to == nullptr) return {};
    const bool waits = from.loading != 0 && (to->first_reads >> from.loading & 1) != 0;
    return {to, static_cast<std::uint8_t>(waits ? config_.load_use_cycles : 0),
            from.fetched == (pc & ~(config_.slot_bytes - 1))};
}

bool block_cache::holds_code(std::uint32_t address, std::size_t bytes) const {
    const std::uint64_t end = std::uint64_t{address} + bytes;
    for (std::uint64_t a = address & ~3u; a < end; a += (a & 63) == 0 && words_[a >> 6] == 0 ? 64 : 4)
        if (holds_code(static_cast<std::uint32_t>(a))) return true;
    return false;
}

void block_cache::invalidate(std::uint32_t address, std::size_t bytes) {
    if (holds_code(address, bytes)) clear();
}

void block_cache::clear() {
    for (auto& p : pages_) p.reset();
    std::fill(words_.begin(), words_.end(), std::uint16_t{0});
    blocks_.clear();
}

}  // namespace vinic::lanai
