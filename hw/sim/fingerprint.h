// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hw/sim/probe.h"

namespace vinic::sim {

/// What probes saw of a run, hashed in several ingredients, so that a changed run shows and says what kind of
/// thing changed. Each probe is hashed on its own and the hashes are combined in the order of names: the
/// order in which different probes report (which running ahead changes) does not matter.
class fingerprint : public listener {
public:
    /// Attaches to every probe of the current simulation.
    fingerprint();

    struct ingredients {
        std::uint64_t time;          ///< the time stamps of everything
        std::uint64_t module;        ///< how many reports each probe made
        std::uint64_t bytes;         ///< values, fields and packet contents
        std::uint64_t packet_order;  ///< the sequence of packets on each wire, without time
        bool operator==(const ingredients&) const = default;
    };
    ingredients get() const;
    /// "time/module/bytes/packet_order", 16 hexadecimal digits each.
    std::string text() const;

    void on_value(const value_probe&, picoseconds at, std::uint64_t bits, std::uint64_t floating) override;
    void on_span(const span_probe&, picoseconds begin, picoseconds end, std::string_view what,
                 std::span<const field> fields) override;
    void on_packet(const packet_probe&, picoseconds at, std::span<const std::uint8_t> bytes,
                   std::string_view note, std::span<const field> fields) override;

private:
    struct state {
        std::uint64_t time = 0;
        std::uint64_t reports = 0;
        std::uint64_t bytes = 0;
        std::uint64_t packets = 0;
    };
    state& of(const probe& p) { return states_[p.number()]; }

    std::map<std::string, std::uint32_t> numbers_;  // of the probes, by name
    std::vector<state> states_;                     // by number
};

}  // namespace vinic::sim
