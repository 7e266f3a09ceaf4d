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

constexpr std::uint32_t no_detail = ~std::uint32_t{0};

}  // namespace

std::string recorder::record::text_with_fields() const {
    std::string all(text);
    for (const sim::field& f : fields) all += fmt::format(" {}={:#x}", f.name, f.value);
    return all;
}

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
    pending_.push_back({at, bits, floating, index_of(p), no_detail, record::kind::value});
}

void recorder::on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                       std::string_view what, std::span<const sim::field> fields) {
    const std::uint32_t index = index_of(p);
    pending_.push_back({begin, end, 0, index, keep(what, fields), record::kind::span_begin});
    pending_.push_back({end, 0, 0, index, no_detail, record::kind::span_end});
}

void recorder::on_packet(const sim::packet_probe& p, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                         std::string_view note, std::span<const sim::field> fields) {
    pending_.push_back({at, 0, 0, index_of(p), keep(note, fields, bytes), record::kind::packet});
}

std::uint32_t recorder::keep(std::string_view text, std::span<const sim::field> fields,
                             std::span<const std::uint8_t> bytes) {
    if (free_details_.empty()) {
        free_details_.push_back(static_cast<std::uint32_t>(details_.size()));
        details_.emplace_back();
    }
    const std::uint32_t index = free_details_.back();
    free_details_.pop_back();
    detail& kept = details_[index];
    kept.text.assign(text);
    kept.fields.assign(fields.begin(), fields.end());
    kept.bytes.assign(bytes.begin(), bytes.end());
    return index;
}

recorder::record recorder::opened(const held& h) const {
    record r{.what = h.what,
             .probe = h.probe,
             .at = h.at,
             .end = h.at,
             .bits = h.bits,
             .floating = h.floating,
             .text = {},
             .fields = {},
             .bytes = {}};
    if (h.what == record::kind::span_begin) r.end = h.bits;
    if (h.detail == no_detail) return r;
    const detail& kept = details_[h.detail];
    r.text = kept.text;
    r.fields = kept.fields;
    r.bytes = kept.bytes;
    return r;
}

void recorder::flush(sim::picoseconds now) {
    emit_until(sim::simulation::current().settled(now - std::min(now, longest_span)));
}

void recorder::finish(sim::picoseconds now) { emit_until(now); }

void recorder::emit_until(sim::picoseconds last) {
    const auto future =
        std::stable_partition(pending_.begin(), pending_.end(), [&](const held& r) { return r.at <= last; });
    std::stable_sort(pending_.begin(), future, [](const held& a, const held& b) {
        return a.at != b.at ? a.at < b.at : a.probe < b.probe;
    });
    for (auto r = pending_.begin(); r != future; ++r) {
        emit(opened(*r));
        if (r->detail != no_detail) free_details_.push_back(r->detail);
    }
    pending_.erase(pending_.begin(), future);
    flushed();
}

}  // namespace vinic::traces
