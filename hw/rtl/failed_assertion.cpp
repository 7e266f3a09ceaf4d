// SPDX-License-Identifier: Apache-2.0
// What Verilator's library calls (VL_USER_STOP) when an assertion fails.
#include "hw/rtl/failed_assertion.h"

#include <verilated.h>

void vl_stop(const char* file, int line, const char*) { throw vinic::rtl::failed_assertion{file, line}; }
