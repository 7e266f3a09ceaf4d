// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hw/link/framer.h"

namespace vinic::rtl {

/// Framer and deframer in RTL, as the module `rtl` of the port that is being built. Throws input_error when
/// vinic was built without Verilator.
std::unique_ptr<link::framer> make_link(link::framer::surroundings around);

}  // namespace vinic::rtl
