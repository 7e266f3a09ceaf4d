// SPDX-License-Identifier: Apache-2.0
// Firmware programs on the core against the same source compiled for this machine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firmware/linker/image.h"
#include "hw/nic/lanai/core.h"
#include "programs/programs.h"
#include "testbench/tests/firmware/card.h"

namespace {
std::vector<std::uint32_t>* native_reports = nullptr;
}
extern "C" void report(uint32_t value) { native_reports->push_back(value); }

namespace vinic::lanai::testing {
namespace {

// Once: the programs change their statics.
const std::vector<std::uint32_t>& run_natively() {
    static std::vector<std::uint32_t> reports;
    if (!reports.empty()) return reports;
    native_reports = &reports;
    std::uint32_t n = 0;
    for (void (*program)() :
         {run_recursion, run_crc, run_arithmetic32, run_arithmetic64, run_switches, run_virtual_calls,
          run_static_constructors, run_memory, run_structures, run_sorting, run_library}) {
        reports.push_back(0xFFFF0000u + n++);
        program();
    }
    return reports;
}

class programs : public ::testing::TestWithParam<const char*> {
protected:
    static std::string image() {
        return std::string(VINIC_BINARY_DIR) + "/testbench/tests/firmware/programs" + GetParam() + ".elf";
    }
};

TEST_P(programs, equal_native_code) {
    card c(image());
    c.run(1'000'000'000);
    ASSERT_FALSE(c.core().pending_trap()) << c.describe_trap();
    EXPECT_EQ(c.assertion(), "");
    const std::vector<std::uint32_t>&expected = run_natively(), &got = c.logged();
    EXPECT_EQ(got.size(), expected.size());
    const auto differs = std::mismatch(got.begin(), got.end(), expected.begin(), expected.end()).first;
    EXPECT_EQ(differs - got.begin(), got.end() - got.begin()) << "the first report that differs";
}

// Running ahead changes nothing: every report in the same cycle as in lock-step.
TEST_P(programs, take_the_same_cycles_in_lockstep) {
    core_config lockstep;
    lockstep.lockstep = true;
    card ahead(image()), one_by_one(image(), lockstep);
    ahead.run(1'000'000'000);
    one_by_one.run(1'000'000'000);
    EXPECT_FALSE(ahead.log_cycles().empty());
    EXPECT_EQ(ahead.log_cycles(), one_by_one.log_cycles());
    EXPECT_EQ(ahead.logged(), one_by_one.logged());
}

INSTANTIATE_TEST_SUITE_P(levels, programs, ::testing::Values("-O0", "-O2", "-Os"),
                         [](const auto& instance) { return std::string(instance.param).substr(1); });

// Facts A7: per clock, a LANai 9 is about 1.18 times slower than a LANai 7, whose SRAM has two slots a cycle.
TEST(program_cycles, one_slot_a_cycle_costs_what_was_measured) {
    const std::string path = std::string(VINIC_BINARY_DIR) + "/testbench/tests/firmware/programs-O2.elf";
    core_config lanai7;
    lanai7.slots_per_cycle = 2;
    card nine(path), seven(path, lanai7);
    nine.run(1'000'000'000);
    seven.run(1'000'000'000);
    EXPECT_EQ(nine.logged(), seven.logged());
    const double ratio =
        static_cast<double>(nine.log_cycles().back()) / static_cast<double>(seven.log_cycles().back());
    RecordProperty("ratio", fmt::format("{:.3f}", ratio));
    fmt::print("cycles of LANai 9 / LANai 7: {:.3f}\n", ratio);
    EXPECT_GT(ratio, 1.0);
    EXPECT_LT(ratio, 1.4);
}

}  // namespace
}  // namespace vinic::lanai::testing
