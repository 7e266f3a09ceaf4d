// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/sim/probe.h"
#include "hw/sim/simulation.h"

namespace vinic::nic {

/// Reports to a probe a value that several blocks may change at one instant: once, as it is when the instant
/// is over, so that the order in which the kernel wakes them does not show. It reports late; the probe's
/// stamps are right.
class settled_value {
public:
    explicit settled_value(sim::value_probe& probe) : probe_(probe) {
        sim::simulation::current().on_commit([this] {
            if (at_ <= sim::now()) flush();
        });
    }
    settled_value(const settled_value&) = delete;
    settled_value& operator=(const settled_value&) = delete;

    void set(sim::picoseconds at, std::uint64_t bits) {
        if (!probe_.watched()) [[likely]]
            return;
        if (at != at_) flush();
        at_ = at;
        bits_ = bits;
        pending_ = true;
    }

private:
    void flush() {
        if (pending_) probe_.set(at_, bits_);
        pending_ = false;
    }

    sim::value_probe& probe_;
    sim::picoseconds at_ = 0;
    std::uint64_t bits_ = 0;
    bool pending_ = false;
};

}  // namespace vinic::nic
