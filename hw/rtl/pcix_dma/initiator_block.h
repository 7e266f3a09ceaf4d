// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hw/bus/initiator.h"

namespace vinic::rtl {

/// The initiator of PCI and PCI-X in RTL, as the module `rtl` of the module that is being built. Throws
/// input_error when vinic was built without Verilator, or for a bus that takes no time.
std::unique_ptr<bus::initiator> make_initiator(bus::initiator::surroundings& around);

}  // namespace vinic::rtl
