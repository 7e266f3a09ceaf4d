// SPDX-License-Identifier: Apache-2.0
// The card's side: runs every program; 0xFFFF0000 + n announces program n.
#include "firmware/runtime/firmware.h"
#include "programs.h"

extern "C" void report(uint32_t value) { vinic::firmware::log(value); }

extern "C" int main() {
    using program = void (*)();
    static const program programs[] = {run_recursion,
                                       run_crc,
                                       run_arithmetic32,
                                       run_arithmetic64,
                                       run_switches,
                                       run_virtual_calls,
                                       run_static_constructors,
                                       run_memory,
                                       run_structures,
                                       run_sorting,
                                       run_library};
    uint32_t n = 0;
    for (const program p : programs) {
        report(0xFFFF0000u + n++);
        p();
    }
    return 0;
}
