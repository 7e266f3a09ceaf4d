// SPDX-License-Identifier: Apache-2.0
#include "traces/recorder.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "hw/sim/simulation.h"
#include "traces/fields.h"

namespace vinic::traces {

namespace {

/// How long records are held back; it bounds what is kept in memory. The longest spans are transfers of a
/// whole message over the slowest bus.
constexpr sim::picoseconds longest_span = 2'000'000'000;

constexpr std::uint32_t no_detail = ~std::uint32_t{0};

/// Stable, by a number of each element, least significant digit first.
template <typename T, typename Key>
void radix_sort(std::vector<T>& values, std::vector<T>& scratch, unsigned key_bits, Key key) {
    constexpr unsigned digit_bits = 12;
    constexpr std::uint64_t digits = 1u << digit_bits;
    scratch.resize(values.size());
    for (unsigned shift = 0; shift < key_bits; shift += digit_bits) {
        std::array<std::uint32_t, digits> place{};
        for (const T& v : values) ++place[key(v) >> shift & (digits - 1)];
        std::uint32_t sum = 0;
        for (std::uint32_t& p : place) sum += std::exchange(p, sum);
        for (const T& v : values) scratch[place[key(v) >> shift & (digits - 1)]++] = v;
        values.swap(scratch);
    }
}

}  // namespace

std::vector<sim::probe*> probes_matching(const std::vector<std::string>& globs) {
    std::vector<sim::probe*> found;
    for (const auto& [name, probe] : sim::simulation::current().probes())
        if (std::ranges::any_of(globs, [&n = name](const std::string& glob) {
                return fnmatch(glob.c_str(), n.c_str(), 0) == 0;
            }))
            found.push_back(probe);
    return found;
}

void recorder::record::append_text_with_fields(std::string& to) const {
    to.append(text);
    for (const sim::field& f : fields) {
        std::array<char, 16> digits;
        const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), f.value, 16);
        to.append(" ").append(f.name).append("=0x").append(digits.data(), written.ptr);
    }
}

std::string recorder::record::text_with_fields() const {
    std::string all;
    append_text_with_fields(all);
    return all;
}

recorder::recorder(const std::vector<std::string>& globs) : recorder(probes_matching(globs), window()) {}

recorder::recorder(const std::vector<sim::probe*>& which, window when) : window_(std::move(when)) {
    for (sim::probe* probe : which) attach(*probe);
    shown_ = probes_.size();
    for (const auto& [name, probe] : sim::simulation::current().probes())
        if (window_.needs(*probe) && std::ranges::find(probes_, probe) == probes_.end()) attach(*probe);
    window_.number(probes_);
}

void recorder::attach(sim::probe& to) {
    if (indices_.size() <= to.number()) indices_.resize(to.number() + 1);
    indices_[to.number()] = static_cast<std::uint32_t>(probes_.size());
    probes_.push_back(&to);
    to.attach(*this);
}

void recorder::on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                        std::uint64_t floating) {
    pending_.emplace_back(at, bits, floating, index_of(p), record::kind::value, no_detail);
}

void recorder::on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                       std::string_view what, std::span<const sim::field> fields) {
    const std::uint32_t index = index_of(p);
    const sim::picoseconds place = std::max(begin, end - std::min(end, longest_span));
    pending_.emplace_back(place, end, begin, index, record::kind::span_begin, keep(what, fields));
    pending_.emplace_back(end, 0u, 0u, index, record::kind::span_end, no_detail);
}

void recorder::on_packet(const sim::packet_probe& p, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                         std::string_view note, std::span<const sim::field> fields) {
    pending_.emplace_back(at, 0u, 0u, index_of(p), record::kind::packet, keep(note, fields, bytes));
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

recorder::record recorder::record_of(const held& h) const {
    record r{.what = h.what,
             .probe = h.probe,
             .at = h.what == record::kind::span_begin ? h.floating : h.at,
             .end = h.what == record::kind::span_begin ? h.bits : h.at,
             .bits = h.bits,
             .floating = h.floating,
             .text = {},
             .fields = {},
             .bytes = {}};
    if (h.detail == no_detail) return r;
    const detail& kept = details_[h.detail];
    r.text = kept.text;
    r.fields = kept.fields;
    r.bytes = kept.bytes;
    return r;
}

void recorder::flush(sim::picoseconds now) {
    sort_pending();
    emit_until(sim::simulation::current().settled(now - std::min(now, longest_span)));
    flushed();
}

void recorder::finish(sim::picoseconds now) {
    sort_pending();
    emit_until(now);
    pass(now);
    flushed();
}

/// What came since the last time becomes a batch. Not far from sorted already, but large when each
/// instruction is watched.
void recorder::sort_pending() {
    if (pending_.empty()) return;
    constexpr std::size_t few = 512;
    if (pending_.size() < few) {
        std::ranges::stable_sort(pending_, &held::before);
    } else {
        const auto [first, last] = std::ranges::minmax_element(pending_, {}, &held::at);
        const sim::picoseconds from = first->at;
        const auto probe_bits = static_cast<unsigned>(std::bit_width(probes_.size()));
        const auto time_bits = static_cast<unsigned>(std::bit_width(last->at - from));
        radix_sort(pending_, scratch_, probe_bits + time_bits,
                   [=](const held& h) { return (h.at - from) << probe_bits | h.probe; });
    }
    batches_.push_back({std::move(pending_), 0});
    pending_.clear();
    if (free_reports_.empty()) return;
    pending_ = std::move(free_reports_.back());
    free_reports_.pop_back();
}

/// Takes from the batch whose next report is first, as long as it is; of equal ones the older batch.
void recorder::emit_until(sim::picoseconds last) {
    for (;;) {
        batch* first = nullptr;
        const held* bound = nullptr;  // of another batch: where `first` has to stop
        bool bound_is_older = false;
        for (batch& b : batches_) {
            if (b.done() || b.head().at > last) continue;
            if (first == nullptr || b.head().before(first->head())) {
                if (first != nullptr) bound = &first->head(), bound_is_older = true;
                first = &b;
            } else if (bound == nullptr || b.head().before(*bound)) {
                bound = &b.head(), bound_is_older = false;
            }
        }
        if (first == nullptr) break;
        do {
            emit_one(first->reports[first->next++]);
        } while (!first->done() && first->head().at <= last &&
                 (bound == nullptr ||
                  (bound_is_older ? first->head().before(*bound) : !bound->before(first->head()))));
    }
    const auto done = std::ranges::stable_partition(batches_, [](const batch& b) { return !b.done(); });
    for (batch& b : done) {
        b.reports.clear();
        free_reports_.push_back(std::move(b.reports));
    }
    batches_.erase(done.begin(), done.end());
}

void recorder::emit_one(const held& h) {
    const record r = record_of(h);
    let_through(r);
    if (h.detail != no_detail) free_details_.push_back(h.detail);
}

void recorder::let_through(const record& r) {
    if (window_.everything()) [[likely]] {
        emit(r);
        return;
    }
    const bool was_open = window_.is_open();
    // Of a write, the word that is written.
    const std::uint64_t bits = r.what == record::kind::value ? r.bits : get(r.fields, "data");
    window_.see({r.probe, r.at, r.end, bits, r.text, r.what != record::kind::span_end});
    if (!was_open && window_.is_open()) window_opened(*window_.opened_at());
    if (r.at > 0) pass(r.at - 1);
    if (r.probe >= shown_ || closed_) return;
    if (window_.is_open())
        emit(r);
    else
        skipped(r);
}

/// Time has come to `now`: a window whose bounds are instants may have opened or closed.
void recorder::pass(sim::picoseconds now) {
    const bool was_open = window_.is_open();
    window_.pass(now);
    if (!was_open && window_.is_open()) window_opened(*window_.opened_at());
    if (closed_ || !window_.is_closed() || now < *window_.closed_at()) return;
    closed_ = true;
    window_closed(*window_.closed_at());
}

}  // namespace vinic::traces
