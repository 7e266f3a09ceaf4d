// SPDX-License-Identifier: Apache-2.0
#include "hw/rtl/link/framer_block.h"

#include "hw/rtl/verilated_model.h"

#include <Vframer.h>
#include <Vframer___024root.h>

namespace vinic::rtl {

struct framer_block::pins {
    VerilatedContext context;
    Vframer model{&context};
    coverage_writer coverage{context};
};

framer_block::framer_block(const sc_core::sc_module_name& name) : module(name), pins_(new pins) {
    reset(*this, pins_->model);
}

framer_block::~framer_block() = default;

framer_block::outputs framer_block::drive(const inputs& in) {
    Vframer& m = pins_->model;
    m.in_valid = in.valid;
    m.in_byte = in.byte;
    m.in_last = in.last;
    m.in_crc32 = in.crc32;
    m.stop = in.stop;
    m.go = in.go;
    evaluate(*this, m);
    return {.ready = m.in_ready != 0,
            .valid = m.out_valid != 0,
            .gap = m.out_gap != 0,
            .byte = m.out_byte,
            .quiet = m.quiet != 0};
}

void framer_block::clock() { evaluate_clock(*this, pins_->model); }

unsigned framer_block::phase() const { return pins_->model.rootp->framer__DOT__phase_q; }
bool framer_block::stopped() const { return pins_->model.rootp->framer__DOT__stopped_q != 0; }

}  // namespace vinic::rtl
