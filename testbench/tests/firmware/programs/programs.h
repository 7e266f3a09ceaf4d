// SPDX-License-Identifier: Apache-2.0
// Programs that run on the core and natively; what they report must be equal.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {
// On the card: the simulator's log port. Natively: appended to a list.
void report(uint32_t value);

void run_recursion();
void run_crc();
void run_arithmetic32();
void run_arithmetic64();
void run_switches();
void run_virtual_calls();
void run_static_constructors();
void run_memory();
void run_structures();
void run_sorting();
void run_library();
}

// The same numbers everywhere.
struct generator {
    uint32_t state = 12345;
    uint32_t next() {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
};
