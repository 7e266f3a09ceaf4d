// SPDX-License-Identifier: Apache-2.0
#include "hw/rtl/available.h"

namespace vinic::rtl {

bool available() { return true; }

}  // namespace vinic::rtl
