// SPDX-License-Identifier: Apache-2.0

// The only way from the firmware to the engine. Natively, the functions without a body here come from the
// tests' fake engine (testbench/tests/firmware/fake_engine.h).
#pragma once

#include "firmware/abi/xuni_control.h"

namespace vinic::xuni {

using namespace abi::xuni;

namespace hardware {

#ifdef __lanai__

inline uint32_t load(uint32_t reg) { return *reinterpret_cast<volatile uint32_t*>(register_base + reg); }
inline void store(uint32_t reg, uint32_t value) {
    *reinterpret_cast<volatile uint32_t*>(register_base + reg) = value;
}

#else

uint32_t load(uint32_t reg);
void store(uint32_t reg, uint32_t value);

#endif

}  // namespace hardware

inline uint32_t argument_of_command(uint32_t index) { return hardware::load(COMMAND + 4 * index); }

inline void order(control_order what, uint32_t vi, uint32_t argument = 0, uint32_t argument2 = 0) {
    while (hardware::load(ORDER_ROOM) == 0) {
    }
    hardware::store(ORDER_VI, vi);
    hardware::store(ORDER_ARGUMENT, argument);
    hardware::store(ORDER_ARGUMENT2, argument2);
    hardware::store(ORDER, what);
}

}  // namespace vinic::xuni
