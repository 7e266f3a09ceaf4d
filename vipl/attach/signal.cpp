// SPDX-License-Identifier: Apache-2.0

// In the shared library only: the C library's signal() would put a handler of SIGSEGV in place past our
// sigaction.
#include <signal.h>

#include "vipl/attach/next.h"

using vinic::vipl::attach::next;

#pragma GCC visibility push(default)
extern "C" sighandler_t signal(int number, sighandler_t handler) noexcept {
    if (number != SIGSEGV) return next("signal", signal)(number, handler);
    struct sigaction to {};
    struct sigaction before {};
    to.sa_handler = handler;
    to.sa_flags = SA_RESTART;
    sigaddset(&to.sa_mask, number);
    return sigaction(number, &to, &before) == 0 ? before.sa_handler : SIG_ERR;
}
