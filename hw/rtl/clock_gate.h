// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "hw/sim/clock_domain.h"
#include "hw/sim/time.h"
#include "hw/sim/timer.h"

namespace vinic::rtl {

/// The clock of an RTL block. It stands while the block says that no register would change at the next edge
/// without new input, and goes on with an input: an input that comes on an edge, or between two, belongs to
/// the next edge. What the block drives without a register on the way is there at once.
class clock_gate {
public:
    /// Evaluates a rising and a falling edge at that time with the inputs as they stand, takes back those
    /// that last one clock, and returns whether the block is quiet.
    using edge_action = std::function<bool(sim::picoseconds at)>;

    /// Not gated: the clock runs all the time, for the tests that compare both.
    clock_gate(const sim::clock_domain& clock, bool gated, edge_action edge);

    /// To be called before an input changes: does the edges up to now, that of this very instant included, so
    /// that it does not matter who is woken first. What an edge's outputs bring about at once may call it again,
    /// without effect.
    void catch_up();
    /// To be called after an input changed: the next edge comes.
    void wake();

private:
    static constexpr std::uint64_t standing = ~std::uint64_t{0};
    void arm();

    sim::clock_domain clock_;
    bool gated_;
    edge_action edge_;
    std::uint64_t next_ = standing;
    bool inside_ = false;  ///< an edge
    sim::timer timer_{[this] { catch_up(); }};
};

}  // namespace vinic::rtl
