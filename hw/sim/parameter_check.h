// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hw/sim/configuration.h"

namespace vinic::sim {

/// What is wrong with a value for a parameter that was declared, in the words of the parameter's own error
/// but without the place where it was given; empty when nothing is.
std::string refusal_of(const parameter_info& declared, const std::string& text);

}  // namespace vinic::sim
