// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "hw/sim/probe.h"
#include "hw/sim/simulation.h"
#include "traces/wave_writer.h"

namespace vinic::traces {

/// A module with one probe of each kind.
struct watched_block : sim::module {
    static constexpr const char* states[] = {"idle", "busy"};

    explicit watched_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::value_probe bus{*this, "ad", 4, "data lines"};
    sim::value_probe frame{*this, "frame_n", 1, "FRAME#"};
    sim::value_probe state{*this, "state", 8, "engine", states};
    sim::span_probe block{*this, "block", "transfers"};
    sim::packet_probe wire{*this, "wire", "packets"};
};

inline wave_view view_of(const std::vector<std::string>& globs) { return {probes_matching(globs), {}, {}}; }

inline std::string temporary_path(const std::string& suffix) {
    return "/tmp/vinic_test_" + std::to_string(getpid()) + suffix;
}

inline std::string contents(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace vinic::traces
