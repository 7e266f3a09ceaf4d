// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vinic::lanai {

// The runs of consecutive instructions executed last, enough for the 20 of a trap report.
class path_history {
public:
    static constexpr std::size_t enough = 20;  // instructions

    void add(std::uint32_t pc, std::uint32_t instructions) {
        if (count_ == runs_.size()) [[unlikely]]
            forget();
        runs_[count_++] = {pc, instructions};
    }
    // The last so many instructions, which some calls of add() told, were executed so many times more.
    void repeat(std::uint64_t instructions, std::uint64_t times);

    void commit() { committed_ = count_; }
    // Takes back what came after commit().
    void rewind() { count_ = committed_; }

    // Program counters of the last `n` instructions, oldest first; at most `enough`.
    std::vector<std::uint32_t> last(std::size_t n) const;

private:
    struct run {
        std::uint32_t pc, instructions;
    };
    void forget();

    std::array<run, 256> runs_{};
    std::size_t count_ = 0, committed_ = 0;
};

}  // namespace vinic::lanai
