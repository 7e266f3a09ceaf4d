// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vinic::testbench {

/// How the build compiled vinic's own firmware. "@root@" in an option stands for the folder that has
/// firmware/ in it.
struct firmware_recipe {
    const char* clang;
    const char* timeout;
    const char* timeout_seconds;
    const char* options;  ///< one a line
};
extern const firmware_recipe recipe;

}  // namespace vinic::testbench
