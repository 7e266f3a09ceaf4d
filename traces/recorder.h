// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hw/sim/probe.h"
#include "hw/sim/time.h"

namespace vinic::traces {

/// Puts what probes report into order of time. Probes may report ahead of the kernel (phases known in
/// advance) or behind it (a core that commits; a span, which is reported when it ends). Records are held back
/// until nothing earlier can be reported any more, and are emitted sorted by time, then by the probe's name,
/// then as reported: stamps never go back, wherever the stretches of a run end.
class recorder : public sim::listener {
public:
    /// Between two stretches of simulation, when everything that runs ahead has committed up to `now`.
    void flush(sim::picoseconds now);
    /// At the end of the run, however it ends: all that is not after `now`.
    void finish(sim::picoseconds now);

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
    };

    /// Attaches to the probes of the current simulation whose names match one of the globs.
    explicit recorder(const std::vector<std::string>& globs);

    const std::vector<const sim::probe*>& probes() const { return probes_; }

    /// What the record refers to lives until it returns.
    virtual void emit(const record&) = 0;
    /// After the records of a flush: push what was written to the operating system.
    virtual void flushed() {}

private:
    /// What only spans and packets have; kept for the next one when emitted, so that nothing is allocated.
    struct detail {
        std::string text;
        std::vector<sim::field> fields;
        std::vector<std::uint8_t> bytes;
    };
    struct held {
        sim::picoseconds at;
        std::uint64_t bits;  ///< of a value; of a span_begin its end
        std::uint64_t floating;
        std::uint32_t probe;
        std::uint32_t detail;
        record::kind what;
    };

    std::uint32_t keep(std::string_view text, std::span<const sim::field> fields,
                       std::span<const std::uint8_t> bytes = {});
    record opened(const held&) const;
    void emit_until(sim::picoseconds last);
    std::uint32_t index_of(const sim::probe& p) const { return indices_.at(&p); }

    std::vector<const sim::probe*> probes_;
    std::map<const sim::probe*, std::uint32_t>
        indices_;  // looked up, never walked: addresses reach no output
    std::vector<held> pending_;
    std::vector<detail> details_;
    std::vector<std::uint32_t> free_details_;
};

}  // namespace vinic::traces
