// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hw/nic/doorbell_fifo.h"
#include "hw/sim/clock_domain.h"

namespace vinic::rtl {

/// The controller of the doorbell FIFO in RTL, as the module `rtl` of the module that is being built. Throws
/// input_error when vinic was built without Verilator.
std::unique_ptr<nic::doorbell_fifo> make_doorbell(nic::doorbell_fifo::surroundings& around,
                                                  const sim::clock_domain& clock);

}  // namespace vinic::rtl
