// SPDX-License-Identifier: Apache-2.0
// Notes what probes report.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hw/sim/probe.h"

namespace vinic::nic::test {

struct span_log : sim::listener {
    struct entry {
        sim::picoseconds begin, end;
        std::string what;
        std::map<std::string, std::uint64_t> fields;
    };
    std::map<std::string, std::vector<entry>> spans;
    std::map<std::string, std::vector<std::pair<sim::picoseconds, std::uint64_t>>> values;

    void on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t) override {
        values[p.name()].emplace_back(at, bits);
    }
    void on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                 std::string_view what, std::span<const sim::field> fields) override {
        entry e{begin, end, std::string(what), {}};
        for (const sim::field& f : fields) e.fields.emplace(f.name, f.value);
        spans[p.name()].push_back(std::move(e));
    }
};

}  // namespace vinic::nic::test
