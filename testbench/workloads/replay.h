// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "testbench/attach/call_trace.h"
#include "testbench/platform/workload.h"

namespace vinic::testbench {

class replayed_process;

/// The calls of programs that were attached once (`vinic exec --record`), made again without them: in their
/// order, with their sizes, each when what it waited for then has happened now.
class replay : public workload {
public:
    replay(const std::filesystem::path& file, const workload_options& options);
    ~replay() override;

    std::string description() const override;
    const std::vector<workload_argument>& arguments() const override { return no_arguments_; }
    std::vector<workload_process> processes() override;
    /// None; but threads of programs begin on the node's processors.
    std::unique_ptr<sc_core::sc_module> device_for(node& on) override;
    std::size_t expected_rows() const override { return trace_.processes.size(); }
    std::string sha256() const override { return trace_.sha256; }

private:
    friend class replayed_process;

    call_trace trace_;
    std::vector<workload_argument> no_arguments_;
    std::vector<node*> nodes_;
    std::vector<std::unique_ptr<replayed_process>> processes_;
};

}  // namespace vinic::testbench
