// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/wave.h"

#include <algorithm>

#include "hw/sim/error.h"
#include "hw/sim/probe.h"
#include "hw/sim/simulation.h"
#include "testbench/cli/window.h"
#include "traces/fst_writer.h"
#include "traces/signals.h"
#include "traces/vcd_writer.h"

namespace vinic::testbench {

traces::wave_view wave_view_of(const trace_options& options, const platform& of) {
    const std::string& file = options.wave;
    if (!file.ends_with(".fst") && !file.ends_with(".vcd") && file != "-")
        throw sim::input_error("--wave {}: the name of a waveform ends in .fst or .vcd", file);
    traces::wave_view view;
    view.when = window_of("--wave", options.wave_window, of);
    const auto& probes = sim::simulation::current().probes();
    const clock_map known = clocks_of(of);
    std::vector<std::string> names;
    for (const auto& [name, probe] : probes) names.push_back(name);
    for (const auto& [name, domain] : known) names.push_back(name);
    std::ranges::sort(names);
    for (const std::string& name :
         traces::choose_signals(names, options.wave_scopes, !view.when.everything())) {
        // Instants: a waveform would show nothing of them.
        if (name.ends_with(".lanai.exchange")) continue;
        if (const auto clock = known.find(name); clock != known.end())
            view.clocks.push_back({name, clock->second});
        else
            view.probes.push_back(probes.at(name));
    }
    return view;
}

std::unique_ptr<traces::wave_writer> make_wave(const std::string& file, const traces::wave_view& view) {
    if (file.ends_with(".fst")) return traces::make_fst_writer(file, view);
    return std::make_unique<traces::vcd_writer>(file, view);
}

}  // namespace vinic::testbench
