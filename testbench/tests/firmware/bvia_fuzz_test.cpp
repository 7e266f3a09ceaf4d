// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testbench/tests/firmware/fake_lanai4.h"
#include "testbench/tests/firmware/fuzz.h"

namespace vinic::testbench {
namespace {

class bvia_fuzz : public testing::TestWithParam<unsigned> {};

TEST_P(bvia_fuzz, descriptors) {
    fake_lanai4 card({.seed = GetParam()});
    survive_descriptors(card, GetParam() % 2 == 0);
}

TEST_P(bvia_fuzz, packets) {
    fake_lanai4 card({.seed = GetParam()});
    survive_packets(card, abi::vi_unreliable);
}

INSTANTIATE_TEST_SUITE_P(seeds, bvia_fuzz, testing::Range(1u, 5u));

}  // namespace
}  // namespace vinic::testbench
