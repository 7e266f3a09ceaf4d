// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vinic::lanai {

// The words of the SRAM that another port wrote and the core has not loaded since; empty when nobody
// observes.
class unread_words {
public:
    void watch(std::size_t sram_bytes) { words_.resize(sram_bytes / (4 * word_bits) + 1); }
    bool watched() const { return !words_.empty(); }
    /// For `holds`; null when nobody observes.
    const std::uint64_t* bits() const { return words_.data(); }
    static bool holds(const std::uint64_t* bits, std::uint32_t address) {
        return bits != nullptr && (bits[address / (4 * word_bits)] >> (address / 4 % word_bits) & 1) != 0;
    }
    void add(std::uint32_t address) { words_[address / (4 * word_bits)] |= bit(address); }
    void remove(std::uint32_t address) { words_[address / (4 * word_bits)] &= ~bit(address); }

private:
    static constexpr unsigned word_bits = 64;
    static std::uint64_t bit(std::uint32_t address) { return std::uint64_t{1} << address / 4 % word_bits; }

    std::vector<std::uint64_t> words_;
};

}  // namespace vinic::lanai
