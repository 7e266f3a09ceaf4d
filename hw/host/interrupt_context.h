// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "hw/host/context.h"
#include "hw/host/cpu.h"

namespace vinic::host {

/// The kernel serving interrupts on the first processor, above any process.
class cpu::interrupt_context : public context {
public:
    explicit interrupt_context(cpu& owner) : context(owner, "interrupt", ~0u) {
        sc_core::sc_spawn([this] { run(); }, sc_core::sc_gen_unique_name("interrupt"));
    }

private:
    void run() {
        for (;;) {
            wait_until_done();
            cpu_.serve_interrupt();
            work(cpu_.cost(cpu_.interrupt_exit_clocks));
            state_ = state::waiting;
            cpu_.end_interrupt();
        }
    }
};

}  // namespace vinic::host
