// SPDX-License-Identifier: Apache-2.0
// The compiled programs from beginning to end on the LANai in RTL: a minute and a half.
#include <gtest/gtest.h>

#include "testbench/tests/rtl/compiled_programs.h"

namespace vinic::rtl::test {
namespace {

class compiled_programs : public testing::TestWithParam<const char*> {};

TEST_P(compiled_programs, take_the_same_cycles_in_rtl) {
    compare_compiled_programs(GetParam(), 1'000'000'000);
}

INSTANTIATE_TEST_SUITE_P(levels, compiled_programs, testing::Values("-O0", "-O2", "-Os"),
                         [](const auto& of) { return std::string(of.param).substr(1); });

}  // namespace
}  // namespace vinic::rtl::test
