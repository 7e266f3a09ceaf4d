// SPDX-License-Identifier: Apache-2.0
// To be included by the one source of a block that knows the verilated model, before that model's header:
// Verilator 5.006 looks for sc_time_stamp in the global namespace once it has seen SystemC.
#pragma once

#include <systemc>
using sc_core::sc_time_stamp;

#include <fmt/format.h>
#include <verilated.h>
#if VM_COVERAGE
#include <verilated_cov.h>

#include <cstdlib>
#endif

#include "hw/rtl/failed_assertion.h"
#include "hw/sim/error.h"
#include "hw/sim/module.h"

namespace vinic::rtl {

/// Throws a model_error with the block's name where an assertion fails.
template <typename Model>
void evaluate(const sim::module& block, Model& model) {
    try {
        model.eval();
    } catch (const failed_assertion& f) {
        throw sim::model_error(block.name(), fmt::format("assertion of the RTL, {}:{}", f.file, f.line));
    }
}

/// Both edges of the clock with the inputs as they stand.
template <typename Model>
void evaluate_clock(const sim::module& block, Model& model) {
    model.clk = 1;
    evaluate(block, model);
    model.clk = 0;
    evaluate(block, model);
}

/// A clock of reset. Verilator sees an edge only after it has seen the level before it.
template <typename Model>
void reset(const sim::module& block, Model& model) {
    model.reset = 1;
    evaluate(block, model);
    evaluate_clock(block, model);
    model.reset = 0;
    evaluate(block, model);
}

/// What is due before a model goes, so to be declared after it. Verilator 5.006 looks for the model's scopes
/// in the context of the thread, which is that of the model made last, and may be gone. And what of the RTL a
/// test has exercised is written down (testbench/rtl_coverage).
class coverage_writer {
public:
    explicit coverage_writer(VerilatedContext& context) : context_(context) {}
    ~coverage_writer() {
        Verilated::threadContextp(&context_);
#if VM_COVERAGE
        static unsigned files = 0;
        if (const char* folder = std::getenv("VINIC_RTL_COVERAGE"))
            context_.coveragep()->write(fmt::format("{}/{}.dat", folder, files++).c_str());
#endif
    }
    coverage_writer(const coverage_writer&) = delete;
    coverage_writer& operator=(const coverage_writer&) = delete;

private:
    VerilatedContext& context_;
};

}  // namespace vinic::rtl
