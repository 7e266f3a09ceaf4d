// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testbench/tests/firmware/fake_card.h"
#include "testbench/tests/firmware/fuzz.h"

namespace vinic::testbench {
namespace {

class myvia_fuzz : public testing::TestWithParam<unsigned> {};

TEST_P(myvia_fuzz, descriptors) {
    fake_card card({.seed = GetParam()});
    survive_descriptors(card, GetParam() % 2 == 0);
}

TEST_P(myvia_fuzz, packets) {
    fake_card card({.seed = GetParam()});
    const abi::vi_reliability levels[] = {abi::vi_unreliable, abi::vi_reliable_delivery,
                                          abi::vi_reliable_reception};
    survive_packets(card, levels[GetParam() % 3]);
}

INSTANTIATE_TEST_SUITE_P(seeds, myvia_fuzz, testing::Range(1u, 9u));

}  // namespace
}  // namespace vinic::testbench
