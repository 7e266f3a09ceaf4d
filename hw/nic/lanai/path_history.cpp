// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/lanai/path_history.h"

#include <algorithm>

namespace vinic::lanai {

std::vector<std::uint32_t> path_history::last(std::size_t n) const {
    std::vector<std::uint32_t> newest_first;
    const std::size_t filled = std::min<std::size_t>(count_, segments_.size());
    for (std::size_t k = 0; k < filled && newest_first.size() < n; ++k) {
        const segment& s = segments_[(count_ - k) % segments_.size()];
        for (std::uint32_t i = s.instructions; i-- > 0 && newest_first.size() < n;)
            newest_first.push_back(s.pc + 4 * i);
    }
    std::reverse(newest_first.begin(), newest_first.end());
    return newest_first;
}

}  // namespace vinic::lanai
