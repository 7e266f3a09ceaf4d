// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "hw/sim/module.h"
#include "hw/sim/random.h"

namespace vinic::testbench {

/// 0 ... count - 1, in an order of the seed's; in this order for seed 0.
std::vector<unsigned> shuffled_order(unsigned count, std::uint64_t seed);

/// Events that mean nothing, at random times: they change the order in which the kernel wakes others at one
/// instant.
class dummy_events : public sim::module {
public:
    dummy_events(const sc_core::sc_module_name& name, std::uint64_t seed);
    SC_HAS_PROCESS(dummy_events);

private:
    void stir();

    sim::random_stream random_;
    unsigned left_ = 20'000;
    sc_core::sc_event next_;
    sc_core::sc_event soon_;
};

}  // namespace vinic::testbench
