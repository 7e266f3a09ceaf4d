// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/sim/probe.h"
#include "hw/sim/time.h"
#include "traces/window.h"

namespace vinic::traces {

/// Puts what probes report into order of time. Probes may report ahead of the kernel (phases known in
/// advance) or behind it (a core that commits; a span, which is reported when it ends). Records are held back
/// until nothing earlier can be reported any more, and are emitted sorted by time, then by the probe's name,
/// then as reported: stamps never go back, wherever the stretches of a run end. A span that lasted longer
/// than records are held back (2 ms) takes its place that long before its end.
class recorder : public sim::listener {
public:
    /// Nobody will report any more what ends before `settled`.
    void flush(sim::picoseconds settled);
    /// At the end of the run, however it ends: all that is not after `now`.
    void finish(sim::picoseconds now);
    /// Has its window opened?
    bool opened() const { return window_.is_open(); }

    void on_value(const sim::value_probe&, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t floating) override;
    void on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end, std::string_view what,
                 std::span<const sim::field> fields) override;
    void on_packet(const sim::packet_probe&, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                   std::string_view note, std::span<const sim::field> fields) override;

protected:
    /// One report. Of a span there are two: its begin says everything, its end only when.
    struct record {
        enum class kind : std::uint8_t { value, span_begin, span_end, packet };
        kind what;
        std::uint32_t probe;  ///< index in the order of names
        sim::picoseconds at;
        sim::picoseconds end;    ///< of a span_begin
        std::uint64_t bits;      ///< of a value
        std::uint64_t floating;  ///< of a value
        std::string_view text;   ///< what a span does; the note of a packet
        std::span<const sim::field> fields;
        std::span<const std::uint8_t> bytes;  ///< of a packet

        /// "text name=0xvalue ..."
        std::string text_with_fields() const;
        void append_text_with_fields(std::string& to) const;
    };

    /// Attaches to the probes of the current simulation whose names match one of the globs.
    explicit recorder(const std::vector<std::string>& globs);
    /// Attaches to these probes, in the order of their names, and to those that open and close the window.
    recorder(const std::vector<sim::probe*>& which, window when);

    /// Who watches something else beside the probes: what happened up to then may be shown, all that bounds
    /// the window was seen. Nothing is held back when nothing was to be seen.
    sim::picoseconds told_until() const { return told_until_; }
    const window& shown_window() const { return window_; }

    /// By index; what only the window needs comes last and is never emitted.
    const std::vector<const sim::probe*>& probes() const { return probes_; }
    std::uint32_t index_of(const sim::probe& p) const { return indices_[p.number()]; }

    /// Inside the window. What the record refers to lives until it returns.
    virtual void emit(const record&) = 0;
    /// Likewise, of a value: most records are, and who has much to do with them need not look at the rest.
    virtual void emit_value(std::uint32_t probe, sim::picoseconds at, std::uint64_t bits,
                            std::uint64_t floating);
    /// Before the window.
    virtual void skipped(const record&) {}
    virtual void window_opened(sim::picoseconds /*at*/) {}
    virtual void window_closed(sim::picoseconds /*at*/) {}
    /// After the records of a flush: push what was written to the operating system.
    virtual void flushed() {}
    /// Behind the last record of the run: ends what was written. Like flushed(), it throws when that is not
    /// whole.
    virtual void finished() { flushed(); }

private:
    struct held {
        sim::picoseconds at;
        std::uint64_t bits;      ///< of a value; of a span_begin its end
        std::uint64_t floating;  ///< of a value; of a span_begin when it began
        std::uint32_t probe : 30;
        record::kind what : 2;
        std::uint32_t detail;  ///< where in the details, if it is a span_begin or a packet
    };
    /// What only spans and packets have: before fields, bytes and text, how many of each.
    struct detail {
        std::uint32_t text, fields, bytes;
    };
    /// A report's place: by time, then by probe, and where it stands among those of its stretch.
    struct position {
        std::uint64_t key;
        std::uint32_t number;
    };
    /// Reports of one stretch; those before `next` are emitted.
    struct batch {
        std::vector<held> reports;
        std::vector<position> order;  ///< sorted, unless it is the pending one
        std::vector<std::byte> details;
        std::size_t count = 0, details_end = 0;  ///< what follows in there is room for more
        std::size_t next = 0;
        bool done() const { return next == count; }
        std::uint64_t head() const { return order[next].key; }
    };

    void attach(sim::probe& to);
    std::uint32_t keep(std::string_view text, std::span<const sim::field> fields,
                       std::span<const std::uint8_t> bytes = {});
    std::uint64_t key_of(sim::picoseconds at, std::uint32_t probe) const { return at << probe_bits_ | probe; }
    void add(const held& report);
    static record record_of(const batch&, const held&);
    static void read_detail(record& to, const batch&, const held&);
    void sort_pending();
    void emit_until(sim::picoseconds last);
    void let_through(const record&);
    void emit_run(batch&, std::uint64_t end);
    void pass(sim::picoseconds now);
    std::vector<const sim::probe*> probes_;
    std::size_t shown_ = 0;               // the first so many of them are emitted
    std::vector<std::uint32_t> indices_;  // by the number of the probe
    window window_;
    bool closed_ = false;  // the window, and what emits knows
    sim::picoseconds told_until_ = 0;
    unsigned probe_bits_ = 0;
    batch pending_;                  // not sorted
    std::vector<position> scratch_;  // for sorting
    std::vector<batch> batches_;     // the oldest first
    std::vector<batch> free_;        // their memory, for the next ones
};

/// The probes of the current simulation whose names match one of the globs (fnmatch; a star matches dots).
std::vector<sim::probe*> probes_matching(const std::vector<std::string>& globs);

}  // namespace vinic::traces
