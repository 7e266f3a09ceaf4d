// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "traces/account.h"
#include "traces/busy_meter.h"
#include "traces/message_flows.h"
#include "traces/packet_owners.h"
#include "traces/recorder.h"
#include "traces/timeline_rows.h"
#include "traces/trace_events.h"

namespace vinic::traces {

/// Writes the run as a timeline for Perfetto or chrome://tracing: a process for each node and one for the
/// fabric, a row for each thing that works, an arrow through all that a message passes, counters.
class timeline_writer : public recorder {
public:
    static constexpr std::uint64_t default_limit = 256'000'000;

    /// `messages` follows the messages, and must watch already. Past `limit_bytes` nothing more is drawn.
    /// What lasts when the window `when` opens is drawn from there; arrows have the points that lie within.
    timeline_writer(const std::string& path, account& messages, const cable_map& cables,
                    std::uint64_t limit_bytes = default_limit, window when = {});

    /// When the file was full, if it was.
    std::optional<sim::picoseconds> full_at() const { return full_at_; }

    void on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end, std::string_view what,
                 std::span<const sim::field> fields) override;
    void on_packet(const sim::packet_probe&, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                   std::string_view note, std::span<const sim::field> fields) override;

protected:
    void emit(const record&) override;
    void skipped(const record&) override;
    void window_opened(sim::picoseconds at) override;
    void window_closed(sim::picoseconds at) override;
    void flushed() override { events_.flush(); }
    void finished() override;

private:
    struct slice {
        std::uint32_t probe;
        timeline_track track;
        sim::picoseconds begin;
        sim::picoseconds end;
        std::string name;
        std::vector<sim::field> fields;
    };
    /// A packet whose transmission is reported next.
    struct passing {
        std::string name;
        std::string sender;  ///< and number of the message; empty: of none
        std::uint64_t number = 0;
    };
    /// Rows on which slices overlap are doubled as often as needed.
    struct lane {
        timeline_track track;
        std::vector<sim::picoseconds> open;  ///< ends of the slices that are open, the innermost last
    };
    struct row_state {
        timeline_row row;
        busy_meter busy;
        std::vector<const char*> calls;                                 ///< functions, the innermost last
        std::optional<std::pair<std::uint64_t, sim::picoseconds>> has;  ///< process on a processor, since
        std::uint64_t depth = 0;
    };

    /// That the queues of a VI hold.
    struct descriptors {
        std::uint32_t process;
        std::string vi;
        std::uint64_t sends = 0, receives = 0;
    };

    void add_row(const sim::probe&, const timeline_row&);
    void name_row(timeline_track, const std::string& title);
    void pass(sim::picoseconds now);
    void draw_slices();
    void draw_meters(sim::picoseconds now);
    void draw(const slice&);
    timeline_track lane_of(const slice&);
    void draw_flow(const message_flows::flow&);
    timeline_track track_of(const message_flows::point&);
    void value(row_state&, const record&);
    void enter(row_state&, const char* function, sim::picoseconds at);
    void count(const record&);
    void show(const descriptors&, sim::picoseconds at);
    void begin_slice(row_state&, const record&);
    void forget_slices(sim::picoseconds at);
    void show_depth(const row_state&, sim::picoseconds at);
    void open_again(row_state&, sim::picoseconds at);
    void close_open(sim::picoseconds at);

    trace_events events_;
    message_flows flows_;
    packet_owners owners_;
    std::vector<row_state> rows_;                         // by probe
    std::map<const sim::probe*, timeline_track> tracks_;  // of what takes part in flows; never walked
    std::map<std::string, passing> passing_;              // by cable and way
    std::map<timeline_track, std::string> titles_;
    std::map<timeline_track, std::vector<lane>> lanes_;
    /// Where slices went that are not on their probe's own row.
    std::map<std::pair<const sim::probe*, sim::picoseconds>, timeline_track> moved_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, descriptors> posted_;  // by process and VI
    std::vector<slice> instant_;  // begun now; behind the first `begun_` of them others wait to be used again
    std::size_t begun_ = 0;
    sim::picoseconds now_ = 0;
    std::uint64_t drawn_flows_ = 0;
    std::optional<sim::picoseconds> full_at_;
    sim::picoseconds from_ = 0, to_ = sim::never;  ///< the window, as far as it is known
};

}  // namespace vinic::traces
