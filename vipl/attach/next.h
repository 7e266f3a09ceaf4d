// SPDX-License-Identifier: Apache-2.0
#pragma once

// In the shared library only.

#include <dlfcn.h>

namespace vinic::vipl::attach {

/// The function of that name behind ours.
template <typename Function>
Function* next(const char* name, Function*) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace vinic::vipl::attach
