// SPDX-License-Identifier: Apache-2.0
#include "hw/rtl/link/deframer_block.h"

#include "hw/rtl/verilated_model.h"

#include <Vdeframer.h>
#include <Vdeframer___024root.h>

namespace vinic::rtl {

struct deframer_block::pins {
    VerilatedContext context;
    Vdeframer model{&context};
    coverage_writer coverage{context};
};

deframer_block::deframer_block(const sc_core::sc_module_name& name) : module(name), pins_(new pins) {
    reset(*this, pins_->model);
}

deframer_block::~deframer_block() = default;

void deframer_block::set_thresholds(std::uint64_t stop_above, std::uint64_t go_below) {
    pins_->model.stop_above = static_cast<std::uint16_t>(stop_above);
    pins_->model.go_below = static_cast<std::uint16_t>(go_below);
}

deframer_block::outputs deframer_block::drive(const inputs& in) {
    Vdeframer& m = pins_->model;
    m.in_valid = in.valid;
    m.in_gap = in.gap;
    m.in_byte = in.byte;
    m.ready = in.ready;
    m.take = in.take;
    m.take_crc32 = in.take_crc32;
    evaluate(*this, m);
    return {.valid = m.out_valid != 0,
            .gap = m.out_gap != 0,
            .byte = m.out_byte,
            .remainder = m.remainder,
            .crc32_remainder = m.crc32_remainder,
            .misrouted = m.misrouted != 0,
            .send_stop = m.send_stop != 0,
            .send_go = m.send_go != 0,
            .quiet = m.quiet != 0};
}

void deframer_block::clock() { evaluate_clock(*this, pins_->model); }

unsigned deframer_block::held() const { return pins_->model.rootp->deframer__DOT__count_q; }
bool deframer_block::stopping() const { return pins_->model.rootp->deframer__DOT__stopping_q != 0; }

}  // namespace vinic::rtl
