// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vinic::rtl {

/// An assertion of the RTL does not hold: thrown out of eval().
struct failed_assertion {
    const char* file;
    int line;
};

}  // namespace vinic::rtl
