// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/sim/time.h"

namespace vinic::nic {

/// What takes up room: what is freed at an instant is free after it.
class occupancy {
public:
    void add(std::uint64_t n) { held_ += n; }
    void free(std::uint64_t n) {
        if (freed_at_ != sim::now()) freed_ = 0;
        freed_at_ = sim::now();
        freed_ += n;
        held_ -= n;
    }
    std::uint64_t held() const { return held_; }
    /// For who wants room at this instant: so it does not matter in which order the kernel wakes processes.
    std::uint64_t seen() const { return held_ + (freed_at_ == sim::now() ? freed_ : 0); }

private:
    std::uint64_t held_ = 0;
    std::uint64_t freed_ = 0;
    sim::picoseconds freed_at_ = sim::never;
};

}  // namespace vinic::nic
