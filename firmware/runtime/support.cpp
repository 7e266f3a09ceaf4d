// SPDX-License-Identifier: Apache-2.0
// What C++ itself asks for. There is no heap and no exit on the card.
#include <stddef.h>

#include "firmware/runtime/firmware.h"

extern "C" {
[[noreturn]] void abort() { vinic::firmware::fail("abort"); }
[[noreturn]] void __cxa_pure_virtual() { vinic::firmware::fail("pure virtual function called"); }
int atexit(void (*)()) { return 0; }  // firmware never ends
}

// Virtual destructors refer to these; nobody can have allocated what they would free.
void operator delete(void*) noexcept { vinic::firmware::fail("operator delete"); }
void operator delete(void*, size_t) noexcept { vinic::firmware::fail("operator delete"); }
void operator delete[](void*) noexcept { vinic::firmware::fail("operator delete"); }
void operator delete[](void*, size_t) noexcept { vinic::firmware::fail("operator delete"); }
