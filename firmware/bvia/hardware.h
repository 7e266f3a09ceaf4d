// SPDX-License-Identifier: Apache-2.0

// The only way from the firmware to the chip, a LANai 4 (facts lanai_pcix.md B3). Natively, the functions
// without a body here come from the tests' fake card (testbench/tests/firmware/fake_lanai4.h).
#pragma once

#include "firmware/abi/lanai_registers.h"
#include "firmware/common/bytes.h"

namespace vinic::bvia {
using namespace common;
}

namespace vinic::bvia::hardware {

using namespace abi::lanai4;

// What the compiler knows of memory is void: DMA or the host may have changed it, or is about to read it.
inline void barrier() { asm volatile("" ::: "memory"); }

#ifdef __lanai__

// The hardware moves while the firmware waits; the fake card moves between turns of the main loop, too.
inline constexpr bool moves_by_itself = true;
inline uint32_t load(register_offset offset) {
    return *reinterpret_cast<volatile uint32_t*>(register_base + offset);
}
inline void store(register_offset offset, uint32_t value) {
    *reinterpret_cast<volatile uint32_t*>(register_base + offset) = value;
}
inline uint32_t sram_address(const volatile void* pointer) { return reinterpret_cast<uint32_t>(pointer); }

#else

inline constexpr bool moves_by_itself = false;
uint32_t load(register_offset offset);
void store(register_offset offset, uint32_t value);
uint32_t sram_address(const volatile void* pointer);

#endif

}  // namespace vinic::bvia::hardware
