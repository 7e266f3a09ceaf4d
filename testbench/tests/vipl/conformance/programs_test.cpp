// SPDX-License-Identifier: Apache-2.0

// Programs of the time in C (programs/), two of a kind on two machines.
#include "testbench/tests/vipl/conformance/programs/programs.h"
#include "testbench/tests/vipl/conformance/machines.h"

namespace vinic::vipl::test {
namespace {

environment& of(void* self) { return *static_cast<environment*>(self); }

machine machine_of(environment& in) {
    return {[](void* self, unsigned long bytes, unsigned long alignment) {
                return of(self).memory.allocate(bytes, alignment);
            },
            [](void* self, void* memory) { of(self).memory.free(memory); },
            [](void* self, unsigned long span) { of(self).self.sleep_for(span * us); },
            [](void* self, void (*body)(void*), void* argument) {
                of(self).thread([body, argument](host::process&) { body(argument); });
            },
            [](void* self) { of(self).join(); },
            &in};
}

void run(int (*program)(const machine*, int)) {
    machines m(2);
    for (const int rank : {0, 1})
        m.program(static_cast<unsigned>(rank), [=](environment& in) {
            const machine on = machine_of(in);
            EXPECT_EQ(program(&on, rank), 0) << "the line of programs.c, rank " << rank;
        });
    m.run();
}

TEST(early_adopter_program, gives_credits_and_leaves_in_a_hurry) { run(credit_channel); }
TEST(early_adopter_program, looks_at_the_last_word_of_a_write) { run(remote_ring); }
TEST(early_adopter_program, has_a_thread_that_waits_for_ever) { run(two_threads); }

}  // namespace
}  // namespace vinic::vipl::test
