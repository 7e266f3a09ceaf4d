// SPDX-License-Identifier: Apache-2.0
#include "hw/rtl/clock_gate.h"

#include <utility>

namespace vinic::rtl {

clock_gate::clock_gate(const sim::clock_domain& clock, bool gated, edge_action edge)
    : clock_(clock), gated_(gated), edge_(std::move(edge)) {
    if (!gated_) wake();
}

void clock_gate::catch_up() {
    if (inside_) return;
    inside_ = true;
    const sim::picoseconds now = sim::now();
    while (next_ != standing && clock_.edge(next_) <= now) {
        const bool quiet = edge_(clock_.edge(next_));
        next_ = quiet && gated_ ? standing : next_ + 1;
    }
    inside_ = false;
    arm();
}

void clock_gate::wake() {
    if (next_ == standing) next_ = clock_.edge_after(sim::now());
    arm();
}

void clock_gate::arm() { timer_.set(next_ == standing ? sim::never : clock_.edge(next_)); }

}  // namespace vinic::rtl
