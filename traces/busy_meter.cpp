// SPDX-License-Identifier: Apache-2.0
#include "traces/busy_meter.h"

#include <algorithm>

namespace vinic::traces {

void busy_meter::add(sim::picoseconds begin, sim::picoseconds end) {
    begin = std::max(begin, counted_to_);
    if (begin >= end) return;
    counted_to_ = end;
    if (busy_.empty()) first_ = std::max(first_, begin / interval);
    while (begin < end) {
        const std::uint64_t index = begin / interval;
        const sim::picoseconds until = std::min(end, (index + 1) * interval);
        if (index >= first_) {
            if (busy_.size() <= index - first_) busy_.resize(index - first_ + 1);
            busy_[index - first_] += until - begin;
        }
        begin = until;
    }
}

}  // namespace vinic::traces
