// SPDX-License-Identifier: Apache-2.0
// Notes what probes report.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "hw/sim/probe.h"
#include "hw/sim/random.h"

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

/// What each probe of the simulation reported, as a hash, so that two runs can be compared probe by probe.
struct probe_hashes : sim::listener {
    std::map<std::string, std::uint64_t> hashes;

    void add(const sim::probe& p, const std::string& text) {
        std::uint64_t& h = hashes[p.name()];
        h = sim::fnv1a(text, h);
    }
    void on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t floating) override {
        add(p, fmt::format("{} {} {};", at, bits, floating));
    }
    void on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                 std::string_view what, std::span<const sim::field> fields) override {
        std::string text = fmt::format("{} {} {}", begin, end, what);
        for (const sim::field& f : fields) text += fmt::format(" {}={}", f.name, f.value);
        add(p, text + ";");
    }
    void on_packet(const sim::packet_probe& p, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                   std::string_view note, std::span<const sim::field> fields) override {
        std::string text = fmt::format("{} {} ", at, note);
        for (const sim::field& f : fields) text += fmt::format("{}={} ", f.name, f.value);
        text.append(bytes.begin(), bytes.end());
        add(p, text + ";");
    }
};

}  // namespace vinic::nic::test
