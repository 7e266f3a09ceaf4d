// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vinic::rtl {

/// Whether blocks can be RTL: Verilator was there when vinic was built.
bool available();

}  // namespace vinic::rtl
