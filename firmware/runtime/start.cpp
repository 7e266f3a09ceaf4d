// SPDX-License-Identifier: Apache-2.0
// From crt0 to main: clears .bss, runs static constructors. main is declared here as every firmware defines
// it.
#include <stdint.h>

extern "C" {
extern uint32_t __bss_start[], __bss_end[];
using constructor = void (*)();
extern const constructor __init_array_start[], __init_array_end[];
int main();

void vinic_start() {
    for (volatile uint32_t* word = __bss_start; word != __bss_end; ++word) *word = 0;
    for (const constructor* c = __init_array_start; c != __init_array_end; ++c) (*c)();
    main();
}
}
