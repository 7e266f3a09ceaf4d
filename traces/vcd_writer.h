// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "traces/output_file.h"
#include "traces/wave_writer.h"

namespace vinic::traces {

/// A Value Change Dump (IEEE 1364), with GTKWave's string variables for states and spans.
class vcd_writer : public wave_writer {
public:
    vcd_writer(const std::string& path, const wave_view& what);

protected:
    void enter_scope(const std::string& name) override;
    void leave_scope() override;
    void declare_signal(std::uint32_t index, const std::string& leaf) override;
    void declared() override;
    void put_time(sim::picoseconds) override;
    void put_bits(std::uint32_t signal, std::uint64_t bits, std::uint64_t floating) override;
    void put_text(std::uint32_t signal, std::string_view) override;
    void put_event(std::uint32_t signal) override;
    void flushed() override;

private:
    void write_out();

    output_file file_;
    std::string buffer_;
    std::vector<std::string> identifiers_;  // by signal, with the end of the line
};

}  // namespace vinic::traces
