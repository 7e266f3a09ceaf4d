// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "firmware/linker/image.h"
#include "hw/nic/lanai/core.h"
#include "hw/sim/time.h"
#include "traces/output_file.h"
#include "traces/recorder.h"
#include "traces/window.h"

namespace vinic::testbench {

/// Which instructions a trace keeps: one of each list; an empty list lets all through.
struct instruction_filter {
    std::vector<std::string> cores;      ///< globs of cores, or of their nodes
    std::vector<std::string> functions;  ///< globs
    std::vector<std::string> addresses;  ///< "0x1234" or "0x1234-0x1300", both included
};

/// Every instruction of the firmware, a line each, in order of time, then of the cores' names:
/// picoseconds, cycle, core, function+offset, address, file:line, instruction, and after a semicolon the
/// operands before it and what came of it.
class instruction_trace : public traces::recorder {
public:
    struct instruction {
        sim::picoseconds at;
        std::size_t core;
        lanai::instruction_record what;
    };

    /// Throws sim::input_error for a filter that lets nothing through.
    instruction_trace(const std::string& path, const linker::image& image, std::vector<std::string> cores,
                      const instruction_filter& filter, traces::window when);

    /// Of the simulation's thread: what has issued, and all that did since the last time.
    void add(std::size_t core, sim::picoseconds at, const lanai::instruction_record& r) {
        if (core_wanted_[core] && is_wanted(r.pc)) fresh_.push_back({at, core, r});
    }
    std::vector<instruction> take() { return std::exchange(fresh_, {}); }
    /// Of the thread that flushes, before it does: nothing that issues before the flush's time is missing.
    void give(const std::vector<instruction>& more);

protected:
    void emit(const record&) override {}
    /// Another core may still issue at the very instant.
    void flushed() override { write_until(told_until()); }
    void finished() override { write_until(sim::never); }

private:
    bool is_wanted(std::uint32_t pc) const {
        return wanted_.empty() || (pc / 4 < wanted_.size() && wanted_[pc / 4]);
    }
    void write_until(sim::picoseconds before);
    void write(const instruction& one);

    const linker::image& image_;
    std::vector<std::string> cores_;
    std::vector<bool> core_wanted_;
    std::vector<bool> wanted_;  ///< by pc / 4; empty: all
    traces::output_file file_;
    std::vector<instruction> fresh_;
    std::deque<instruction> pending_;  ///< in order
};

}  // namespace vinic::testbench
