// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hw/bus/exerciser.h"
#include "testbench/platform/workload.h"

namespace vinic::testbench {

/// The bus of a node alone: a device in a further slot reads and writes a chain of blocks of host memory, as
/// bus tests of cards do (gm_debug: 32 blocks of 4 KB). The design's own card stands still.
class bus_workload : public workload {
public:
    explicit bus_workload(const workload_options& options);

    std::string description() const override {
        return "DMA of chained blocks between host memory and a device that does nothing else, on node 0";
    }
    const std::vector<workload_argument>& arguments() const override { return arguments_; }
    std::unique_ptr<sc_core::sc_module> device_for(node& one) override;
    std::vector<workload_process> processes() override;
    std::size_t expected_rows() const override { return 2; }
    std::string sha256() const override { return ""; }  // part of the program

private:
    void measure(process_environment& in, bus::job::kind what);

    std::vector<workload_argument> arguments_;
    std::uint64_t blocks_;
    std::uint64_t block_bytes_;
    std::uint64_t burst_bytes_;
    std::uint64_t splits_;
    node* on_ = nullptr;
    bus::exerciser* device_ = nullptr;
};

}  // namespace vinic::testbench
