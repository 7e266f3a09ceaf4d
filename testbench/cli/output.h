// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace vinic::testbench {

/// Where a result goes: "-" is standard output, anything else a file that appears whole or not at all: it is
/// written beside its place and renamed when complete. Devices and pipes are written as they are.
class output {
public:
    /// Throws input_error at once when the place cannot be written, so that nobody simulates in vain.
    explicit output(std::string place);
    ~output();
    output(const output&) = delete;
    output& operator=(const output&) = delete;

    bool is_standard_output() const { return place_ == "-"; }
    /// Writes the whole text and puts it in its place.
    void commit(const std::string& text);

private:
    std::string place_;
    std::string file_;   ///< the regular file that `place` means; empty for a device or a pipe
    std::string draft_;  ///< the file beside the place; empty for standard output and after commit
};

/// Throws input_error when a stream (a trace) cannot be created there. Leaves no file behind.
void check_writable(const std::string& place);

/// Throws input_error when two options would write the same file. Pairs of option and place; devices may be
/// shared.
void check_distinct(const std::vector<std::pair<std::string, std::string>>& places);

bool is_terminal(int descriptor);

}  // namespace vinic::testbench
