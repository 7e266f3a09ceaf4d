// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hw/sim/unknown_parameter.h"

namespace vinic::testbench {

/// What is said of it: the shipped designs that have a parameter of that name, or what is close.
std::string message_of(const sim::unknown_parameter& error);

}  // namespace vinic::testbench
