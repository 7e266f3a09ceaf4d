// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vinic::testbench {

extern const char* const version;       ///< "0.1.0"
extern const char* const git_revision;  ///< of the checkout that was configured; "unknown" outside of one
extern const char* const compiler;      ///< that built this program, with its version
extern const char* const build_type;    ///< "Release", ...
extern const char* const source_share;  ///< root of the source tree that this program was built from
extern const char* const build_share;   ///< its build tree

}  // namespace vinic::testbench
