// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/observers.h"

#include <fmt/format.h>

#include "hw/sim/probe.h"
#include "hw/sim/simulation.h"
#include "traces/log_writer.h"
#include "traces/vcd_writer.h"

namespace vinic::testbench {

namespace {

/// A log is for reading: without a line for each instruction of each core.
std::vector<std::string> logged() {
    std::vector<std::string> names;
    for (const auto& [name, probe] : sim::simulation::current().probes())
        if (!name.ends_with(".lanai.pc")) names.push_back(name);
    return names;
}

}  // namespace

observers::observers(const trace_options& options) {
    if (!options.wave.empty()) recorders_.push_back(std::make_unique<traces::vcd_writer>(options.wave));
    if (!options.log.empty())
        recorders_.push_back(std::make_unique<traces::log_writer>(options.log, logged()));
    if (options.fingerprint) fingerprint_.emplace();
    if (options.account) account_.emplace();
}

observers::~observers() {
    try {
        finish();
    } catch (const std::exception& error) {
        fmt::print(stderr, "vinic: a trace is incomplete: {}\n", error.what());
    }
}

void observers::flush(sim::picoseconds now) {
    for (const auto& recorder : recorders_) recorder->flush(now);
}

void observers::finish() {
    for (const auto& recorder : recorders_) recorder->finish(sim::now());
}

std::optional<account_report> observers::account() const {
    return account_ ? std::optional<account_report>(account_->messages()) : std::nullopt;
}

}  // namespace vinic::testbench
