// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "hw/rtl/lanai/lanai_block.h"
#include "hw/sim/clock_domain.h"
#include "hw/sim/simulation.h"
#include "testbench/tests/firmware/card.h"

namespace vinic::rtl::test {

/// What clang made of testbench/tests/firmware/programs at that level, which the tests there hold against
/// native code, on model and RTL for so many cycles: the same words logged in the same cycles.
inline void compare_compiled_programs(const std::string& level, lanai::cycle cycles) {
    const sim::simulation simulation;
    const auto make_rtl = [](const lanai::core_config& config, std::span<std::uint8_t> sram,
                             lanai::device_port& devices) {
        return make_lanai(config, sram, devices, sim::clock_domain::from_mhz(133));
    };
    const std::string path = VINIC_BINARY_DIR "/testbench/tests/firmware/programs" + level + ".elf";
    constexpr std::size_t sram = 1u << 20;
    lanai::testing::card model(path, {}, sram), rtl(path, {}, sram, make_rtl);
    for (lanai::testing::card* c : {&model, &rtl}) c->run(cycles);
    EXPECT_EQ(rtl.describe_trap(), "no trap");
    EXPECT_GT(model.logged().size(), 20u);
    EXPECT_EQ(model.logged(), rtl.logged());
    EXPECT_EQ(model.log_cycles(), rtl.log_cycles());
    testing::Test::RecordProperty("instructions", std::to_string(rtl.core().counters().retired));
}

}  // namespace vinic::rtl::test
