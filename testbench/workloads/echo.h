// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testbench/platform/workload.h"

namespace vinic::testbench {

/// A workload in C++ against vipl.h, as an example: a client on node 0 sends, a server on node 1 sends back
/// what it got. The same as pingpong for one size, without a script.
class echo : public workload {
public:
    explicit echo(const workload_options& options);

    std::string description() const override {
        return "Round trips of one size, written in C++ against vipl.h";
    }
    const std::vector<workload_argument>& arguments() const override { return arguments_; }
    std::vector<workload_process> processes() override;
    std::size_t expected_rows() const override { return 1; }
    std::string sha256() const override { return ""; }  // part of the program

private:
    std::vector<workload_argument> arguments_;
    std::uint64_t size_bytes_;
    std::uint64_t count_;
    std::uint64_t warmup_;
};

}  // namespace vinic::testbench
