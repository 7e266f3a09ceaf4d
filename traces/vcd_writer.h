// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/output_file.h"
#include "traces/recorder.h"

namespace vinic::traces {

/// Writes value and span probes as a Value Change Dump (IEEE 1364, with GTKWave's string variables for states
/// and spans): hierarchical, in picoseconds. Bits that nobody drives are z; nothing is known (x) before the
/// first report.
class vcd_writer : public recorder {
public:
    explicit vcd_writer(const std::string& path, const std::vector<std::string>& scopes = {"*"});

protected:
    void emit(const record&) override;
    void flushed() override { file_.flush(); }

private:
    void write_header();
    void write_change(std::uint32_t probe, const std::string& value);

    output_file file_;
    std::optional<sim::picoseconds> time_;
    std::vector<std::string> shown_;    // by probe: the value last written
    std::vector<unsigned> open_spans_;  // by probe
};

}  // namespace vinic::traces
