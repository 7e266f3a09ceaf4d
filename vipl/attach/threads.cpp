// SPDX-License-Identifier: Apache-2.0

// Counts the threads of the program, so that the simulator need not ask the kernel after every call whether
// one runs that never calls VIPL. In the shared library only: a static program's are looked up.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "vipl/attach/connection.h"

namespace vinic::vipl::attach {

namespace {

struct beginning {
    void* (*body)(void*);
    void* argument;
};

[[gnu::constructor]] void begin_counting() { threads_are_counted = true; }

/// Also for threads that end by pthread_exit or cancellation.
void* run_counted(void* given) {
    const beginning start = *static_cast<beginning*>(given);
    free(given);
    void* result = nullptr;
    pthread_cleanup_push([](void*) { count_thread(-1); }, nullptr);
    result = start.body(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

}  // namespace

}  // namespace vinic::vipl::attach

using namespace vinic::vipl::attach;

#pragma GCC visibility push(default)
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                              void* argument) noexcept {
    using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto next = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
    auto* const start = static_cast<beginning*>(malloc(sizeof(beginning)));
    if (start == nullptr) return next(thread, attributes, body, argument);
    *start = {body, argument};
    count_thread(1);
    const int result = next(thread, attributes, run_counted, start);
    if (result == 0) return 0;
    count_thread(-1);
    free(start);
    return result;
}
#pragma GCC visibility pop
