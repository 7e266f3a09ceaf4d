// SPDX-License-Identifier: Apache-2.0
// The clock of the card, and the order of what happens on one of its edges.
#pragma once

#include "hw/nic/lanai/slots.h"
#include "hw/sim/clock_domain.h"
#include "hw/sim/time.h"

namespace vinic::nic {

using lanai::cycle;

/// What happens on one edge happens in this order, whatever order the kernel wakes processes in: a phase lies
/// so many picoseconds behind the edge. Inputs arrive and finished bursts are committed; then the ports of
/// the SRAM arbitrate; then the core issues its instruction, which is why it comes last (DESIGN.md, rule 3).
enum class phase : sim::picoseconds { arrive = 0, arbitrate = 1, issue = 2 };

class card_clock {
public:
    explicit card_clock(const sim::clock_domain& domain) : domain_(domain) {}

    const sim::clock_domain& domain() const { return domain_; }

    sim::picoseconds time_of(cycle c, phase p = phase::arrive) const {
        return domain_.edge(c) + static_cast<sim::picoseconds>(p);
    }

    /// The cycle that is not over: the first whose edge is not before now. What is asked for now can be
    /// granted in it.
    cycle current() const { return domain_.edge_at_or_after(sim::now()); }
    /// The cycle in which an input that arrives now is seen.
    cycle seen() const { return domain_.edge_after(sim::now()); }
    /// The cycle of the next instruction that may not have issued yet: the core may be synced to it at any
    /// time.
    cycle next_issue() const {
        constexpr auto behind = static_cast<sim::picoseconds>(phase::issue);
        const sim::picoseconds t = sim::now();
        return t < behind ? 0 : domain_.edge_at_or_after(t - behind);
    }
    /// Cycles from edge zero that cover `t` picoseconds.
    cycle cycles_of(sim::picoseconds t) const { return domain_.edge_at_or_after(t); }

private:
    sim::clock_domain domain_;
};

}  // namespace vinic::nic
