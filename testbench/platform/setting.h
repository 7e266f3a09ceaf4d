// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "testbench/platform/design.h"

namespace vinic::testbench {

/// As "--set name=value" does it, for a value that was given elsewhere.
void apply_setting(design& to, const std::string& name, const located& value);

}  // namespace vinic::testbench
