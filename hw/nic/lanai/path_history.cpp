// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/lanai/path_history.h"

#include <algorithm>

namespace vinic::lanai {

// Leaves what somebody may still ask for: the last runs, and those before the commit.
void path_history::forget() {
    const auto keep = [&](std::size_t from, std::size_t to, std::size_t at) {
        const std::size_t first = to - std::min(to - from, enough);
        for (std::size_t i = first; i < to; ++i) runs_[at++] = runs_[i];
        return at;
    };
    const std::size_t committed = keep(0, committed_, 0);
    count_ = keep(committed_, count_, committed);
    committed_ = committed;
}

void path_history::repeat(std::uint64_t instructions, std::uint64_t times) {
    if (instructions >= enough) return;  // it looks the same
    if (runs_.size() - count_ < 2 * enough) forget();
    std::size_t first = count_;
    for (std::uint64_t n = 0; n < instructions;) n += runs_[--first].instructions;
    const std::size_t end = count_;
    for (std::uint64_t shown = 0; shown < enough && times-- > 0; shown += instructions)
        for (std::size_t i = first; i < end; ++i) runs_[count_++] = runs_[i];
}

std::vector<std::uint32_t> path_history::last(std::size_t n) const {
    std::vector<std::uint32_t> newest_first;
    for (std::size_t k = count_; k-- > 0 && newest_first.size() < n;)
        for (std::uint32_t i = runs_[k].instructions; i-- > 0 && newest_first.size() < n;)
            newest_first.push_back(runs_[k].pc + 4 * i);
    std::reverse(newest_first.begin(), newest_first.end());
    return newest_first;
}

}  // namespace vinic::lanai
