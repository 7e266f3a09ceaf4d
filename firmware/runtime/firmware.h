// SPDX-License-Identifier: Apache-2.0
// For every firmware: assertions and the log, through the simulator's ports (firmware/abi/lanai_registers.h).
//
// Of clang's defects that firmware has to go around (facts/lanai_pcix.md A12, A13):
//   - Keep frames below 64 KiB, use no 64-bit varargs, no thread fences (a barrier is `compiler_barrier`).
//   - `b ? 0 : -1` of a bool hangs the compiler: return int instead of bool where the result becomes 0 or -1.
#pragma once

#include <stdint.h>

#include "firmware/abi/lanai_registers.h"

namespace vinic::firmware {

inline volatile uint32_t& port(uint32_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

// Keeps the compiler from moving memory accesses across it.
[[gnu::always_inline]] inline void compiler_barrier() { asm volatile("" ::: "memory"); }

// Stops the run as an error of the model, with this text and the place of the call.
[[noreturn, gnu::always_inline]] inline void fail(const char* text) {
    for (;;) port(abi::simulator::assert_port) = reinterpret_cast<uintptr_t>(text);
}

[[gnu::always_inline]] inline void check(bool holds, const char* text) {
    if (!holds) [[unlikely]]
        fail(text);
}

inline void log(const char* text) {
    for (; *text != 0; ++text) port(abi::simulator::log_port) = static_cast<unsigned char>(*text);
}
inline void log(uint32_t word) { port(abi::simulator::log_word_port) = word; }

}  // namespace vinic::firmware
