// SPDX-License-Identifier: Apache-2.0
#pragma once

// SIGSEGV of a program: some faults are the library's own doing, all others are the program's. Part of
// libvipl: C++ without its library.

#include <signal.h>

namespace vinic::vipl::attach {

/// Sees to a fault and says so: the instruction is repeated, or was done. False: it is not of that kind.
using fault_taker = bool (*)(siginfo_t* info, void* context);

/// From now on `taker` sees faults before the program does, whose handler is kept, asked for and changed as
/// if it were the only one. Once it is known, it may be given again: a handler that the program has put in
/// place past libvipl's sigaction is found then.
void take_faults(fault_taker taker);

}  // namespace vinic::vipl::attach
