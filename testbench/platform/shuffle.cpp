// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/shuffle.h"

#include <numeric>
#include <utility>

#include "hw/sim/time.h"

namespace vinic::testbench {

std::vector<unsigned> shuffled_order(unsigned count, std::uint64_t seed) {
    std::vector<unsigned> order(count);
    std::iota(order.begin(), order.end(), 0u);
    if (seed == 0) return order;
    sim::random_stream random(seed, "shuffle.order");
    for (unsigned i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

dummy_events::dummy_events(const sc_core::sc_module_name& name, std::uint64_t seed)
    : sim::module(name), random_(seed, "shuffle.events") {
    SC_METHOD(stir);
    sensitive << next_ << soon_;
}

void dummy_events::stir() {
    if (left_ == 0) return;
    --left_;
    // Half of them at edges of a 66 MHz clock, where others act too.
    const sim::picoseconds edge = 15'000;
    const sim::picoseconds now = sim::now();
    const sim::picoseconds at = now + 1 + random_.below(2'000'000);
    next_.notify(sim::delay_until(random_.chance(0.5) ? at / edge * edge + edge : at));
    if (random_.chance(0.25)) soon_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace vinic::testbench
