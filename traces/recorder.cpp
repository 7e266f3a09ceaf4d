// SPDX-License-Identifier: Apache-2.0
#include "traces/recorder.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "hw/sim/simulation.h"
#include "traces/fields.h"

namespace vinic::traces {

namespace {

/// How long records are held back; it bounds what is kept in memory. The longest spans are transfers of a
/// whole message over the slowest bus.
constexpr sim::picoseconds longest_span = 2'000'000'000;

/// Of the sizes before a detail: what follows begins where fields may.
constexpr std::size_t detail_bytes = 16;

/// Stable, by a key less `from`, least significant digit first. Digits are as few as there can be when what
/// is counted of one fits into a cache of the first level.
template <typename T>
void radix_sort(std::span<T> values, std::vector<T>& scratch, std::uint64_t from, unsigned key_bits) {
    constexpr unsigned most_bits = 12;
    const unsigned passes = (key_bits + most_bits - 1) / most_bits;
    const unsigned digit_bits = passes == 0 ? 0 : (key_bits + passes - 1) / passes;
    if (scratch.size() < values.size()) scratch.resize(2 * values.size());
    std::span<T> source = values, target(scratch.data(), values.size());
    for (unsigned pass = 0; pass < passes; ++pass) {
        const unsigned shift = pass * digit_bits;
        const auto digit = [=](const T& v) { return (v.key - from) >> shift & ((1u << digit_bits) - 1); };
        std::array<std::uint32_t, 1u << most_bits> place{};
        for (const T& v : source) ++place[digit(v)];
        std::uint32_t sum = 0;
        for (std::uint32_t& p : place) sum += std::exchange(p, sum);
        for (const T& v : source) target[place[digit(v)]++] = v;
        std::swap(source, target);
    }
    if (passes % 2 == 1) std::ranges::copy(source, values.begin());
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
    constexpr std::string_view before = "=0x", digits = "0123456789abcdef";
    const std::size_t begin = to.size();
    std::size_t most = 0;
    for (const sim::field& f : fields) most += 1 + f.name.size() + before.size() + 16;
    to.resize(begin + most);
    char* last = to.data() + begin;
    const auto put = [&last](std::string_view part) { last = std::ranges::copy(part, last).out; };
    for (const sim::field& f : fields) {
        *last++ = ' ';
        put(f.name);
        put(before);
        const int last_bit = std::max(0, static_cast<int>(std::bit_width(f.value)) - 1);
        for (int bit = last_bit / 4 * 4; bit >= 0; bit -= 4) *last++ = digits[f.value >> bit & 0xF];
    }
    to.resize(static_cast<std::size_t>(last - to.data()));
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
    // With the time it makes one word: hours of simulated time.
    probe_bits_ = static_cast<unsigned>(std::bit_width(probes_.size()));
}

void recorder::attach(sim::probe& to) {
    if (indices_.size() <= to.number()) indices_.resize(to.number() + 1);
    indices_[to.number()] = static_cast<std::uint32_t>(probes_.size());
    probes_.push_back(&to);
    to.attach(*this);
}

void recorder::on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                        std::uint64_t floating) {
    add(held(at, bits, floating, index_of(p), record::kind::value, 0u));
}

void recorder::on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                       std::string_view what, std::span<const sim::field> fields) {
    const std::uint32_t index = index_of(p);
    const sim::picoseconds from = std::max(begin, end - std::min(end, longest_span));
    add(held(from, end, begin, index, record::kind::span_begin, keep(what, fields)));
    add(held(end, 0u, 0u, index, record::kind::span_end, 0u));
}

void recorder::on_packet(const sim::packet_probe& p, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                         std::string_view note, std::span<const sim::field> fields) {
    add(held(at, 0u, 0u, index_of(p), record::kind::packet, keep(note, fields, bytes)));
}

inline void recorder::add(const held& report) {
    batch& to = pending_;
    if (to.count == to.reports.size()) [[unlikely]] {
        constexpr std::size_t few = 1024;
        to.reports.resize(std::max(few, 2 * to.count));
        to.order.resize(to.reports.size());
    }
    to.reports[to.count] = report;
    to.order[to.count] = {key_of(report.at, report.probe), static_cast<std::uint32_t>(to.count)};
    ++to.count;
}

std::uint32_t recorder::keep(std::string_view text, std::span<const sim::field> fields,
                             std::span<const std::uint8_t> bytes) {
    const detail sizes{static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(fields.size()),
                       static_cast<std::uint32_t>(bytes.size())};
    std::vector<std::byte>& all = pending_.details;
    const std::size_t at =
        (pending_.details_end + alignof(sim::field) - 1) / alignof(sim::field) * alignof(sim::field);
    pending_.details_end = at + detail_bytes + fields.size_bytes() + bytes.size() + text.size();
    if (all.size() < pending_.details_end) all.resize(2 * pending_.details_end);
    std::byte* to = all.data() + at;
    const auto put = [&to](const void* from, std::size_t size, std::size_t room) {
        if (size != 0) std::memcpy(to, from, size);
        to += room;
    };
    put(&sizes, sizeof sizes, detail_bytes);
    put(fields.data(), fields.size_bytes(), fields.size_bytes());
    put(bytes.data(), bytes.size(), bytes.size());
    put(text.data(), text.size(), text.size());
    return static_cast<std::uint32_t>(at);
}

inline recorder::record recorder::record_of(const batch& of, const held& h) {
    record r{.what = h.what,
             .probe = h.probe,
             .at = h.what == record::kind::span_begin ? h.floating : h.at,
             .end = h.what == record::kind::span_begin ? h.bits : h.at,
             .bits = h.bits,
             .floating = h.floating,
             .text = {},
             .fields = {},
             .bytes = {}};
    if (h.what == record::kind::span_begin || h.what == record::kind::packet) read_detail(r, of, h);
    return r;
}

void recorder::read_detail(record& r, const batch& of, const held& h) {
    const std::byte* from = of.details.data() + h.detail;
    detail sizes;
    std::memcpy(&sizes, from, sizeof sizes);
    from += detail_bytes;
    r.fields = {reinterpret_cast<const sim::field*>(from), sizes.fields};
    from += r.fields.size_bytes();
    r.bytes = {reinterpret_cast<const std::uint8_t*>(from), sizes.bytes};
    from += sizes.bytes;
    r.text = {reinterpret_cast<const char*>(from), sizes.text};
}

void recorder::flush(sim::picoseconds settled) {
    sort_pending();
    told_until_ = probes_.empty() ? settled : settled - std::min(settled, longest_span);
    emit_until(told_until_);
    pass(told_until_);
    flushed();
}

void recorder::finish(sim::picoseconds now) {
    sort_pending();
    told_until_ = now;
    emit_until(now);
    pass(now);
    finished();
}

/// What came since the last time becomes a batch. Not far from sorted already, but large when each
/// instruction is watched.
void recorder::sort_pending() {
    if (pending_.count == 0) return;
    const std::span order(pending_.order.data(), pending_.count);
    constexpr std::size_t few = 512;
    if (order.size() < few) {
        std::ranges::stable_sort(order, {}, &position::key);
    } else {
        const auto [first, last] = std::ranges::minmax_element(order, {}, &position::key);
        const std::uint64_t from = first->key, to = last->key;
        radix_sort(order, scratch_, from, static_cast<unsigned>(std::bit_width(to - from)));
    }
    batches_.push_back(std::move(pending_));
    pending_ = {};
    if (free_.empty()) return;
    pending_ = std::move(free_.back());
    free_.pop_back();
}

/// Takes from the batch whose next report is first, as long as it is; of equal ones the older batch.
void recorder::emit_until(sim::picoseconds last) {
    for (;;) {
        batch* first = nullptr;
        std::uint64_t end = key_of(last + 1, 0);  // where `first` has to stop
        for (batch& b : batches_) {
            if (b.done()) continue;
            if (first == nullptr || b.head() < first->head()) {
                if (first != nullptr) end = std::min(end, first->head());
                first = &b;
            } else {
                end = std::min(end, b.head() + 1);
            }
        }
        if (first == nullptr || first->head() >= end) break;
        emit_run(*first, end);
    }
    const auto done = std::ranges::stable_partition(batches_, [](const batch& b) { return !b.done(); });
    for (batch& b : done) {
        b.count = b.details_end = b.next = 0;
        free_.push_back(std::move(b));
    }
    batches_.erase(done.begin(), done.end());
}

void recorder::emit_run(batch& from, std::uint64_t end) {
    const bool everything = window_.everything();
    while (!from.done() && from.head() < end) {
        const held& h = from.reports[from.order[from.next++].number];
        if (!everything)
            let_through(record_of(from, h));
        else if (h.what == record::kind::value)
            emit_value(h.probe, h.at, h.bits, h.floating);
        else
            emit(record_of(from, h));
    }
}

void recorder::emit_value(std::uint32_t probe, sim::picoseconds at, std::uint64_t bits,
                          std::uint64_t floating) {
    emit({.what = record::kind::value,
          .probe = probe,
          .at = at,
          .end = at,
          .bits = bits,
          .floating = floating,
          .text = {},
          .fields = {},
          .bytes = {}});
}

void recorder::let_through(const record& r) {
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
