// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "hw/sim/probe.h"
#include "testbench/platform/measurement.h"
#include "testbench/platform/run_phase.h"

namespace vinic::testbench {

/// Follows in which phase a run is, for those who count by phases. A phase ends with the instant in which
/// something changed; the kernel pauses then, so that whoever drives it can `enter` the next one.
class run_phases : public sim::listener {
public:
    /// Attaches to calls of programs, so behind a relay: it has to know at once.
    explicit run_phases(measurement& of);
    ~run_phases() override;
    run_phases(const run_phases&) = delete;
    run_phases& operator=(const run_phases&) = delete;

    bool changed() const { return now() != entered_; }
    void enter() {
        entered_ = now();
        highest_ = std::max(highest_, entered_);
    }
    run_phase entered() const { return entered_; }
    /// The one that counts: what the workload measures; of one that never says so, all from the first
    /// descriptor (or call of a socket) on; the whole run when there was none.
    run_phase measured() const { return highest_; }

    void on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end, std::string_view what,
                 std::span<const sim::field> fields) override;

private:
    run_phase now() const {
        return measurement_.measures() ? run_phase::measured : talks_ ? run_phase::talk : run_phase::set_up;
    }

    measurement& measurement_;
    bool talks_ = false;
    run_phase entered_ = run_phase::set_up, highest_ = run_phase::set_up;
};

}  // namespace vinic::testbench
