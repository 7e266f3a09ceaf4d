// SPDX-License-Identifier: Apache-2.0
#include "hw/rtl/link/deframer_block.h"

#include "hw/rtl/verilated_model.h"

#include <Vdeframer.h>

namespace vinic::rtl {

struct deframer_block::pins {
    VerilatedContext context;
    Vdeframer model{&context};
    coverage_writer coverage{context};
};

deframer_block::deframer_block(const sc_core::sc_module_name& name, unsigned stop_above, unsigned go_below)
    : module(name), pins_(new pins) {
    Vdeframer& m = pins_->model;
    m.stop_above = static_cast<std::uint8_t>(stop_above);
    m.go_below = static_cast<std::uint8_t>(go_below);
    reset(*this, m);
}

deframer_block::~deframer_block() = default;

deframer_block::outputs deframer_block::drive(const inputs& in) {
    Vdeframer& m = pins_->model;
    m.in_valid = in.valid;
    m.in_gap = in.gap;
    m.in_byte = in.byte;
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

}  // namespace vinic::rtl
