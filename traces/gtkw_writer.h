// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "traces/wave_writer.h"

namespace vinic::traces {

/// A save file of GTKWave for a waveform: its signals in groups (host, bus, doorbells, DMA, core, SRAM,
/// packet engines of each node; cables), with colours and radixes, instruction words through a filter that
/// shows assembly, opened on the window, or else on the message in the middle of the run: when that is sent,
/// all is warm. It watches when messages are posted and taken.
class gtkw_writer : public recorder {
public:
    /// `filter`: the command that turns instruction words into assembly, line by line.
    gtkw_writer(const std::string& path, std::string wave, std::string filter, const wave_view& what);

    /// At the end of the run, after finish(). Throws sim::input_error when the file cannot be written.
    void save(sim::picoseconds now);

protected:
    void emit(const record&) override;
    void skipped(const record&) override;
    void window_opened(sim::picoseconds at) override { begin_ = at; }
    void window_closed(sim::picoseconds at) override { end_ = at; }

private:
    struct range {
        sim::picoseconds from, to;
    };
    range opened_on(sim::picoseconds now) const;

    std::string path_, wave_, filter_;
    std::vector<std::string> signals_;  // as GTKWave names them
    std::set<std::string> used_;        // of those that may stay unused
    bool windowed_;
    sim::picoseconds begin_ = 0, end_ = 0;
    std::vector<sim::picoseconds> posted_, taken_;
};

}  // namespace vinic::traces
