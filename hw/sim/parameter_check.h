// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/sim/configuration.h"

namespace vinic::sim {

/// What is wrong with a value for a parameter that was declared, in the words of the parameter's own error
/// but without the place where it was given; empty when nothing is.
std::string refusal_of(const parameter_info& declared, const std::string& text);

/// Its values, where the declaration lists them; empty for numbers of a range and free texts.
std::vector<std::string> choices_of(const parameter_info& declared);

/// The ends of its range, as texts, where it is a number of one.
std::optional<std::pair<std::string, std::string>> ends_of(const parameter_info& declared);

}  // namespace vinic::sim
