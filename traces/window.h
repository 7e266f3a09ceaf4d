// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hw/sim/probe.h"
#include "hw/sim/time.h"

namespace vinic::traces {

/// Where a window begins or ends: an instant, or something that happens.
struct happening {
    enum class kind {
        doorbell,  ///< the n-th that reaches a card
        message,   ///< the n-th VipPostSend; as an end: the n-th VipRecvDone that found a descriptor
        function,  ///< firmware enters the function of that name (n-th time)
        address    ///< the core issues the instruction of that address (n-th time)
    };
    kind what;
    std::uint64_t count = 1;
    std::string function;
    std::uint32_t address = 0;
};
using boundary = std::variant<sim::picoseconds, happening>;

/// The part of a run that a trace shows, found on the sorted stream of reports, since observers schedule
/// nothing. Empty bounds: from the beginning, to the end.
class window {
public:
    window() = default;
    window(std::optional<boundary> from, std::optional<boundary> to);

    bool everything() const { return !from_ && !to_; }
    bool needs(const sim::probe&) const;
    /// `probes`: whose indices the reports will name.
    void number(const std::vector<const sim::probe*>& probes);

    struct report {
        std::uint32_t probe;
        sim::picoseconds at, end;
        std::uint64_t bits;
        std::string_view text;
        bool first;  ///< not the end of a span
    };
    /// In order of time.
    void see(const report&);
    /// Time has come to `now`.
    void pass(sim::picoseconds now);

    bool is_open() const { return everything() || opened_at_; }
    bool is_closed() const { return closed_at_.has_value(); }
    std::optional<sim::picoseconds> opened_at() const { return opened_at_; }
    std::optional<sim::picoseconds> closed_at() const { return closed_at_; }

private:
    /// One of the bounds, and how often what it names has happened.
    struct watch {
        boundary where;
        bool is_end;
        std::uint64_t seen = 0;
        std::vector<bool> heard;  // by probe: does it tell of this?

        bool told_by(const sim::probe&) const;
        bool happens(const report&, const sim::probe&) const;
        std::optional<sim::picoseconds> reached(const report&, const std::vector<const sim::probe*>&);
    };

    std::optional<watch> from_, to_;
    std::vector<const sim::probe*> probes_;
    std::optional<sim::picoseconds> opened_at_, closed_at_;
};

}  // namespace vinic::traces
