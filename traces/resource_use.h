// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "hw/sim/probe.h"
#include "hw/sim/time.h"

namespace vinic::traces {

/// For how long each resource worked in each interval that the workload measured; when it measured none, from
/// the first descriptor (or call of a socket) on. A core works when it does not poll: polling is the time from a look that finds nothing to
/// the next look or the next word that another port wrote.
class resource_use : public sim::listener {
public:
    resource_use();

    struct interval {
        sim::picoseconds begin;
        sim::picoseconds end;
        std::map<std::string, sim::picoseconds> busy;  ///< by resource
    };
    /// As of now.
    std::vector<interval> intervals() const;

    void on_value(const sim::value_probe&, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t floating) override;
    void on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end, std::string_view what,
                 std::span<const sim::field> fields) override;

private:
    struct resource : sim::listener {
        resource_use* of = nullptr;
        std::string name;
        bool core = false;
        bool polls = true;  ///< of a core: since `last`
        sim::picoseconds last = 0;
        std::vector<sim::picoseconds> busy;  ///< by interval

        void on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end,
                     std::string_view what, std::span<const sim::field> fields) override;
    };
    struct bounds {
        sim::picoseconds begin;
        sim::picoseconds end;
    };
    void forget();
    void add(resource& to, sim::picoseconds begin, sim::picoseconds end);

    std::deque<resource> resources_;
    std::vector<bounds> measured_;
    bool marked_ = false;  ///< the workload says what it measures
    bool talks_ = false;   ///< a descriptor was posted, or a socket called
};

}  // namespace vinic::traces
