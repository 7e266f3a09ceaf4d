// SPDX-License-Identifier: Apache-2.0

// Processes that the program makes without fork, of which pthread_atfork does not tell. In the shared library
// only: of a static program the kernel is asked.
#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <unistd.h>

#include "vipl/attach/connection.h"

namespace vinic::vipl::attach {

namespace {

template <typename Function>
Function* next(const char* name) {
    expect_process();
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

}  // namespace vinic::vipl::attach

using vinic::vipl::attach::next;

#pragma GCC visibility push(default)
extern "C" {

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* words, char* const* environment) {
    return next<decltype(posix_spawn)>("posix_spawn")(process, path, actions, attributes, words, environment);
}

int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* words, char* const* environment) {
    return next<decltype(posix_spawnp)>("posix_spawnp")(process, file, actions, attributes, words,
                                                        environment);
}

FILE* popen(const char* command, const char* way) { return next<decltype(popen)>("popen")(command, way); }

// As POSIX allows: a child that shares the program's memory would run with the program's slots.
pid_t vfork() noexcept { return fork(); }

}  // extern "C"
#pragma GCC visibility pop
