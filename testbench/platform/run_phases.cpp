// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/run_phases.h"

#include "hw/sim/simulation.h"
#include "hw/sim/stretch.h"

namespace vinic::testbench {

run_phases::run_phases(measurement& of) : measurement_(of) {
    measurement_.on_change(sim::pause);
    for (const auto& [name, probe] : sim::simulation::current().probes())
        if (name.ends_with(".vipl.call") || name.ends_with(".sockets.call")) probe->attach(*this);
}

run_phases::~run_phases() { measurement_.on_change({}); }

void run_phases::on_span(const sim::span_probe&, sim::picoseconds, sim::picoseconds, std::string_view,
                         std::span<const sim::field>) {
    if (talks_) return;
    talks_ = true;
    sim::pause();
}

}  // namespace vinic::testbench
