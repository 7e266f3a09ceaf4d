// SPDX-License-Identifier: Apache-2.0
// Firmware in SRAM as blocks. Cores that execute the same text share its translation: there is one for all
// nodes with one firmware, and the host's caches hold it once. Internal to hw/nic/lanai.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hw/nic/lanai/blocks.h"

namespace vinic::lanai {

class block_cache;

// The blocks of one text. In the SRAM of each of its users stand the very words that its blocks were made of.
class shared_text {
public:
    // The one that agrees with the SRAM of `user`, or a new one.
    static std::shared_ptr<shared_text> join(block_cache& user);
    void leave(const block_cache& user);

    // Null when the instruction there has to be executed one by one.
    block* find(std::uint32_t pc, const block_cache& user) {
        page* const p = pages_[pc >> 12].get();
        block* const known = p != nullptr ? p->starts[pc >> 2 & 1023] : nullptr;
        if (known == nullptr) [[unlikely]]
            return enter(pc, user);
        return known == &none_ ? nullptr : known;
    }
    bool holds_code(std::uint32_t address) const {
        return (words_[address >> 6] >> (address >> 2 & 15) & 1) != 0;
    }
    bool holds_code(std::uint32_t address, std::size_t bytes) const;
    const std::uint16_t* words() const { return words_.data(); }

    explicit shared_text(std::size_t sram_bytes);

private:
    struct page {
        std::array<block*, 1024> starts{};
    };
    struct range {
        std::uint32_t begin, bytes;
    };

    bool agrees(const block_cache& with) const;
    block* enter(std::uint32_t pc, const block_cache& user);
    void cover(const range& code, const block_cache& of);

    std::vector<std::uint16_t> words_;  // that decide about a block: a bit for each, 16 words an entry
    std::vector<range> covered_;        // the same
    std::vector<std::unique_ptr<page>> pages_;
    std::vector<std::unique_ptr<block>> blocks_;
    block none_;  // marks an address where no block can start
    std::vector<block_cache*> users_;
};

// Answers for the text of one core: which words are in a block, and the block that starts at an address.
class block_cache {
public:
    // `regions`: of each word of the SRAM, or empty.
    block_cache(const core_config& config, std::span<std::uint8_t> sram,
                const std::vector<std::uint16_t>& regions)
        : config_(config), sram_(sram), regions_(regions) {}
    ~block_cache() { clear(); }
    block_cache(const block_cache&) = delete;
    block_cache& operator=(const block_cache&) = delete;

    // Null when the instruction there has to be executed one by one.
    block* find(std::uint32_t pc) {
        if (pc >= sram_.size() || pc % 4 != 0) return nullptr;
        if (!text_) [[unlikely]]
            text_ = shared_text::join(*this);
        return text_->find(pc, *this);
    }
    block_link link(const block& from, std::uint32_t pc);
    bool holds_code(std::uint32_t address) const { return text_ && text_->holds_code(address); }
    bool holds_code(std::uint32_t address, std::size_t bytes) const {
        return text_ && text_->holds_code(address, bytes);
    }
    // Which words are in a block, 16 to an entry; only after find.
    const std::uint16_t* words() const { return text_->words(); }
    // Forgets every block when one of these bytes is in one.
    void invalidate(std::uint32_t address, std::size_t bytes) {
        if (holds_code(address, bytes)) clear();
    }
    void clear();

    // May a block with one of these bytes have run since start_slice()?
    bool may_have_run(std::uint32_t address, std::size_t bytes) const {
        return forgot_ || holds_code(address, bytes);
    }
    void start_slice() { forgot_ = false; }

private:
    friend class shared_text;

    // Equal words make equal blocks.
    bool translates_as(const block_cache& other) const;
    std::uint32_t end_of_region(std::uint32_t pc) const;

    const core_config& config_;
    std::span<std::uint8_t> sram_;
    const std::vector<std::uint16_t>& regions_;
    std::shared_ptr<shared_text> text_;
    bool forgot_ = false;  // blocks, since the start of the slice
};

}  // namespace vinic::lanai
