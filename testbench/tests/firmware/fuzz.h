// SPDX-License-Identifier: Apache-2.0
// Traffic that no honest library and no honest card makes.
#pragma once

#include "testbench/tests/firmware/fake_host.h"

namespace vinic::testbench {

/// Descriptors with every field wrong at random: the card completes each one, touches no memory that is not
/// registered (the fake's DMA checks each access), and goes on working.
void survive_descriptors(fake_host& card, bool loopback);

/// Packets of a wrong sender: each field of the header at random, the payload as long as it says or not.
void survive_packets(fake_host& card, abi::vi_reliability reliability);

}  // namespace vinic::testbench
