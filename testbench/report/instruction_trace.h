// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/linker/image.h"
#include "hw/nic/lanai/core.h"
#include "hw/sim/time.h"
#include "traces/output_file.h"

namespace vinic::testbench {

/// Which instructions a trace keeps. Globs; empty: all.
struct instruction_filter {
    std::string core;
    std::string function;
    sim::picoseconds from = 0;
    sim::picoseconds to = sim::never;
};

/// Throws input_error where it would keep nothing of these cores and that image.
void check_filter(const instruction_filter& filter, const linker::image& image,
                  const std::vector<std::string>& cores);

/// Every instruction of the firmware, a line each, in order of time, then of the cores' names:
/// picoseconds, cycle, core, function+offset, address, file:line, instruction, and after a semicolon the
/// operands before it and what came of it.
class instruction_trace {
public:
    instruction_trace(const std::string& path, const linker::image& image, std::vector<std::string> cores,
                      instruction_filter filter);

    void add(std::size_t core, sim::picoseconds at, const lanai::instruction_record& r);
    /// When all cores have committed up to `before`: writes what issued before it. Another core may still
    /// issue at that very instant.
    void flush(sim::picoseconds before);

private:
    struct held {
        sim::picoseconds at;
        std::size_t core;
        lanai::instruction_record what;
    };
    bool wanted(std::uint32_t pc);
    void write(const held& h);

    traces::output_file file_;
    const linker::image& image_;
    std::vector<std::string> cores_;
    std::vector<bool> core_wanted_;
    instruction_filter filter_;
    enum class answer : std::uint8_t { unknown, no, yes };
    std::vector<answer> function_wanted_;  ///< by pc / 4
    std::vector<held> pending_;
};

}  // namespace vinic::testbench
