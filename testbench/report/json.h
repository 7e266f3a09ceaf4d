// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace vinic::testbench {

/// Keys stay in the order in which they were given: that of the page that describes the format.
using json = nlohmann::ordered_json;

}  // namespace vinic::testbench
