// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/fingerprint.h"

#include <gtest/gtest.h>

#include <array>

#include "hw/sim/simulation.h"

namespace vinic::sim {
namespace {

struct block : module {
    explicit block(const sc_core::sc_module_name& name) : module(name) {}
    value_probe depth{*this, "depth", 8, "entries"};
    packet_probe wire{*this, "wire", "packets"};
};

fingerprint::ingredients run(bool swap_probes, picoseconds at, std::uint8_t byte) {
    simulation s;
    block b("block");
    fingerprint f;
    const std::array<std::uint8_t, 1> packet{byte};
    if (swap_probes) b.depth.set(5, 1);
    b.wire.report(at, packet);
    if (!swap_probes) b.depth.set(5, 1);
    return f.get();
}

TEST(fingerprint, says_what_kind_of_thing_changed) {
    const auto base = run(false, 10, 1);
    EXPECT_EQ(base, run(true, 10, 1));
    const auto later = run(false, 11, 1);
    EXPECT_NE(base.time, later.time);
    EXPECT_EQ(base.bytes, later.bytes);
    EXPECT_EQ(base.packet_order, later.packet_order);
    const auto other = run(false, 10, 2);
    EXPECT_EQ(base.time, other.time);
    EXPECT_NE(base.bytes, other.bytes);
    EXPECT_NE(base.packet_order, other.packet_order);
    EXPECT_EQ(base.module, other.module);
}

}  // namespace
}  // namespace vinic::sim
