// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host_driver/fabric_directory.h"
#include "hw/link/fabric.h"
#include "hw/sim/simulation.h"
#include "testbench/platform/design.h"
#include "testbench/platform/firmware.h"
#include "testbench/platform/measurement.h"
#include "testbench/platform/node.h"
#include "testbench/platform/shuffle.h"
#include "testbench/platform/workload.h"
#include "testbench/report/results.h"

namespace vinic::testbench {

struct platform_mode {
    std::uint64_t seed = 1;
    bool lockstep = false;
    std::uint64_t shuffle = 0;
};

class firmware_symbols;

/// A design as a tree of modules: `node0`, `node1` ..., `fabric`; and the processes of a workload on it.
class platform {
public:
    /// Throws input_error for what the modules find wrong in the design. `image`: none where the cards run
    /// none.
    platform(const design& from, const std::optional<firmware>& image, const platform_mode& mode);
    ~platform();

    sim::simulation& simulation() { return simulation_; }
    const std::vector<std::unique_ptr<node>>& nodes() const { return nodes_; }
    const link::fabric& fabric() const { return *fabric_; }
    measurement& measured() { return *measurement_; }

    /// Makes the processes of the workload; they start when the simulation does. `report` must live as long.
    void load(workload& what, results& report);
    /// Starts a program that has a memory of its own as a process of the node, when the simulation starts;
    /// the run ends when all programs have.
    void start_program(unsigned node, const std::string& name, host::user_memory& memory,
                       std::function<void(host::process&)> body);
    /// A further thread of a program belongs to those that may wait in vain.
    void watch(const host::process& thread) { processes_.push_back(&thread); }
    bool finished() const { return running_ == 0; }
    /// Rethrows what ended a process, if something did.
    void check_processes() const;
    /// Who waits for what, a line each.
    std::vector<std::string> waiting() const;
    /// Datagrams of UDP that no socket has got: lost, or still under way.
    std::uint64_t lost_datagrams() const;
    /// Brings everything that runs ahead to now.
    void sync();

    /// Whether every process of the workload waits for somebody else, without a time at which it gives up.
    bool processes_wait() const;
    /// Whether nothing will happen any more but steps of idle cores and empty polls. At the end of an
    /// instant.
    bool quiet();
    /// Whether no process of the workload has gone on for `workload.patience_ms`.
    bool out_of_patience() const;

private:
    void build(const design& from, const driver::card_image* image, const platform_mode& mode);
    void install(const firmware& image, const driver::card_image& as_loaded);
    void fill_directory();
    void start(workload_process what, unsigned index, results& report);

    sim::simulation simulation_;
    std::deque<sc_core::sc_event> events_;
    std::unique_ptr<firmware_symbols> symbols_;
    driver::fabric_directory directory_;
    std::unique_ptr<dummy_events> dummies_;
    std::unique_ptr<link::fabric> fabric_;
    std::vector<std::unique_ptr<node>> nodes_;
    std::vector<std::unique_ptr<sc_core::sc_module>> devices_;  ///< of the workload, in the nodes' slots
    std::unique_ptr<measurement> measurement_;
    std::vector<const host::process*> processes_;
    unsigned running_ = 0;
};

}  // namespace vinic::testbench
