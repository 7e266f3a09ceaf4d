// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "hw/nic/lanai/processor.h"
#include "hw/sim/clock_domain.h"

namespace vinic::rtl {

/// The LANai in RTL, as the module `rtl` of the module that is being built; always in lock-step. Throws
/// input_error when vinic was built without Verilator.
std::unique_ptr<lanai::processor> make_lanai(const lanai::core_config& config, std::span<std::uint8_t> sram,
                                             lanai::device_port& devices, const sim::clock_domain& clock);

}  // namespace vinic::rtl
