// SPDX-License-Identifier: Apache-2.0
#include "traces/recorder.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "hw/sim/simulation.h"

namespace vinic::traces {

namespace {

bool matches(const std::string& name, const std::vector<std::string>& globs) {
    return std::ranges::any_of(
        globs, [&](const std::string& glob) { return fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
}

/// How long a span may last and still be emitted in its place; it bounds what is held in memory. The longest
/// are transfers of a whole message over the slowest bus.
constexpr sim::picoseconds longest_span = 2'000'000'000;

std::string with_fields(std::string_view what, std::span<const sim::field> fields) {
    std::string text(what);
    for (const sim::field& f : fields) text += fmt::format(" {}={:#x}", f.name, f.value);
    return text;
}

}  // namespace

recorder::recorder(const std::vector<std::string>& globs) {
    for (const auto& [name, probe] : sim::simulation::current().probes()) {
        if (!matches(name, globs)) continue;
        indices_.emplace(probe, static_cast<std::uint32_t>(probes_.size()));
        probes_.push_back(probe);
        probe->attach(*this);
    }
}

void recorder::on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                        std::uint64_t floating) {
    pending_.push_back({at, bits, floating, index_of(p), record::kind::value, {}});
}

void recorder::on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                       std::string_view what, std::span<const sim::field> fields) {
    pending_.push_back(
        {begin, end - begin, 0, index_of(p), record::kind::span_begin, with_fields(what, fields)});
    pending_.push_back({end, 0, 0, index_of(p), record::kind::span_end, {}});
}

void recorder::on_packet(const sim::packet_probe& p, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                         std::string_view note, std::span<const sim::field> fields) {
    pending_.push_back({at, bytes.size(), 0, index_of(p), record::kind::packet, with_fields(note, fields)});
}

void recorder::flush(sim::picoseconds now) {
    emit_until(sim::simulation::current().settled(now - std::min(now, longest_span)));
}

void recorder::finish(sim::picoseconds now) { emit_until(now); }

void recorder::emit_until(sim::picoseconds last) {
    const auto future = std::stable_partition(pending_.begin(), pending_.end(),
                                              [&](const record& r) { return r.at <= last; });
    std::stable_sort(pending_.begin(), future, [](const record& a, const record& b) {
        return a.at != b.at ? a.at < b.at : a.probe < b.probe;
    });
    for (auto r = pending_.begin(); r != future; ++r) emit(*r);
    pending_.erase(pending_.begin(), future);
    flushed();
}

}  // namespace vinic::traces
