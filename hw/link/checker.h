// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/sim/time.h"

namespace vinic::link {

/// One thing seen at a point of a link: a character of one direction, complete at `at`, or the flow control
/// that governs this direction (it comes on the opposite one).
struct symbol {
    enum class kind : std::uint8_t { data, gap, stop, go };

    sim::picoseconds at = 0;
    kind what = kind::data;
    std::uint8_t byte = 0;
};

/// The rules of the link protocol (facts/lanai_pcix.md B6), checked symbol by symbol at one point of one
/// direction. Model and RTL feed the same rules. STOP and GO may be repeated (refresh).
class checker {
public:
    enum class leads_to { a_switch, node, unknown };
    enum class rule { time, spacing, empty_packet, route, crc, flow };

    struct settings {
        sim::picoseconds byte_ps = 4000;
        /// From here back to the sender: how long flow control still travels, and characters after it.
        sim::picoseconds delay_ps = 0;
        leads_to to = leads_to::unknown;
        bool crc8 = true;
    };
    struct violation {
        sim::picoseconds at;
        rule broken;
        std::string text;
    };

    explicit checker(const settings& s) : settings_(s) {}

    void see(const symbol& s);

    const std::vector<violation>& violations() const { return violations_; }
    std::uint64_t packets() const { return packets_; }

private:
    void see_character(const symbol& s);
    void see_first(const symbol& s);
    void see_gap(const symbol& s);
    void report(const symbol& s, rule broken, std::string text);

    settings settings_;
    std::vector<violation> violations_;
    std::uint64_t packets_ = 0;
    std::uint64_t in_packet_ = 0;
    std::uint8_t crc_ = 0;
    sim::picoseconds last_seen_ = 0;
    sim::picoseconds last_character_ = sim::never;
    bool stopped_ = false;
    sim::picoseconds stopped_at_ = 0;
};

}  // namespace vinic::link
