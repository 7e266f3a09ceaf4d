// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hw/nic/dma_controller.h"
#include "hw/sim/clock_domain.h"

namespace vinic::rtl {

/// The controller of the host DMA in RTL, as the module `rtl` of the module that is being built. Throws
/// input_error when vinic was built without Verilator, or for settings that the RTL does not know.
std::unique_ptr<nic::dma_controller> make_dma_chains(nic::dma_controller::surroundings& around,
                                                     const sim::clock_domain& clock);

}  // namespace vinic::rtl
