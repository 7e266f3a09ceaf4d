// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "hw/sim/probe.h"

namespace vinic::traces {

/// The value of a field that a probe reported; 0 when it has none of that name.
inline std::uint64_t get(std::span<const sim::field> fields, std::string_view name) {
    const auto found = std::ranges::find(fields, name, &sim::field::name);
    return found == fields.end() ? 0 : found->value;
}

}  // namespace vinic::traces
