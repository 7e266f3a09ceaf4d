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
    void add(std::uint32_t pc, std::uint32_t instructions) {
        segment& last = segments_[count_ % segments_.size()];
        if (count_ != 0 && last.pc + last.instructions * 4 == pc && last.instructions < 4096) {
            last.instructions += instructions;
            return;
        }
        ++count_;
        segments_[count_ % segments_.size()] = {pc, instructions};
    }
    // Program counters of the last `n` instructions, oldest first.
    std::vector<std::uint32_t> last(std::size_t n) const;

private:
    struct segment {
        std::uint32_t pc, instructions;
    };
    std::array<segment, 32> segments_{};
    std::uint32_t count_ = 0;
};

}  // namespace vinic::lanai
