// SPDX-License-Identifier: Apache-2.0
#include "traces/wave_writer.h"

#include <algorithm>
#include <numeric>

namespace vinic::traces {

namespace {

std::vector<std::string> split(const std::string& name) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t dot; (dot = name.find('.', from)) != std::string::npos; from = dot + 1)
        parts.push_back(name.substr(from, dot - from));
    parts.push_back(name.substr(from));
    return parts;
}

}  // namespace

wave_writer::wave_writer(const wave_view& what) : recorder(what.probes, what.when) {
    for (const sim::probe* p : what.probes) {
        signal s{p->name(), form::text, 1, {}};
        if (p->kind_of() == sim::probe::kind::packet) s.what = form::event;
        if (p->kind_of() == sim::probe::kind::value) {
            const auto& v = static_cast<const sim::value_probe&>(*p);
            s.states = v.states();
            s.width = v.width_bits();
            if (s.states.empty()) s.what = form::bits;
        }
        signals_.push_back(std::move(s));
    }
    for (const wave_clock& c : what.clocks) signals_.push_back({c.name, form::bits, 1, {}});

    std::vector<std::uint32_t> order(signals_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [this](std::uint32_t i) -> const std::string& { return signals_[i].name; });
    std::vector<std::uint32_t> place(order.size());
    std::vector<signal> sorted;
    for (const std::uint32_t i : order) {
        place[i] = static_cast<std::uint32_t>(sorted.size());
        sorted.push_back(std::move(signals_[i]));
    }
    signals_ = std::move(sorted);
    for (const signal& s : signals_) shown_.push_back({.what = s.what, .states = s.states, .text = {}});
    signal_of_probe_.assign(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(what.probes.size()));
    for (std::size_t i = 0; i < what.clocks.size(); ++i)
        clocks_.push_back({what.clocks[i].domain, place[what.probes.size() + i], 0, 0});
}

void wave_writer::declare() {
    std::vector<std::string> scope;
    for (std::uint32_t i = 0; i < signals_.size(); ++i) {
        std::vector<std::string> path = split(signals_[i].name);
        const std::string leaf = path.back();
        path.pop_back();
        const auto common = static_cast<std::size_t>(std::ranges::mismatch(scope, path).in1 - scope.begin());
        for (std::size_t k = scope.size(); k > common; --k) leave_scope();
        for (std::size_t k = common; k < path.size(); ++k) enter_scope(path[k]);
        scope = path;
        declare_signal(i, leaf);
    }
    for (std::size_t k = scope.size(); k > 0; --k) leave_scope();
    declared();
}

/// Takes over what the record says; false when its signal shows that already.
bool wave_writer::update(shown& s, const record& r) {
    switch (r.what) {
        case record::kind::value:
            return update_value(s, r.bits, r.floating);
        case record::kind::span_begin:
            ++s.open_spans;
            if (r.fields.empty()) return update_text(s, r.text);
            text_.clear();
            r.append_text_with_fields(text_);
            return update_text(s, text_);
        case record::kind::span_end:
            return --s.open_spans == 0 && update_text(s, "");
        case record::kind::packet:
            return true;
    }
    return false;
}

inline bool wave_writer::update_value(shown& s, std::uint64_t bits, std::uint64_t floating) {
    if (s.known && s.bits == bits && s.floating == floating) return false;
    s.known = true;
    s.bits = bits;
    s.floating = floating;
    return true;
}

bool wave_writer::update_text(shown& s, std::string_view text) {
    if (s.known && s.text == text) return false;
    s.known = true;
    s.text = text;
    return true;
}

void wave_writer::put(std::uint32_t index) {
    const shown& s = shown_[index];
    if (s.what == form::text && s.states.empty())
        put_text(index, s.text);
    else
        put_value(index);
}

inline void wave_writer::put_value(std::uint32_t index) {
    const shown& s = shown_[index];
    if (s.what == form::bits)
        put_bits(index, s.bits, s.floating);
    else if (s.bits < s.states.size())
        put_text(index, s.states[s.bits]);
    else
        put_text(index, std::to_string(s.bits));
}

sim::picoseconds wave_writer::change_of(const ticking& clock) {
    const std::uint64_t n = clock.half_period / 2;
    const sim::picoseconds edge = clock.domain.edge(n);
    return clock.half_period % 2 == 0 ? edge : edge + (clock.domain.edge(n + 1) - edge) / 2;
}

/// Writes the edges of the clocks up to an instant.
void wave_writer::tick(sim::picoseconds to) {
    for (;;) {
        ticking& first = *std::ranges::min_element(clocks_, {}, &ticking::next);
        if (first.next > to) break;
        mark(first.next);
        put_bits(first.signal, first.half_period % 2 == 0, 0);
        ++first.half_period;
        first.next = change_of(first);
    }
}

void wave_writer::emit(const record& r) {
    const std::uint32_t index = signal_of_probe_[r.probe];
    if (!update(shown_[index], r)) return;
    advance(r.at);
    if (r.what == record::kind::packet)
        put_event(index);
    else
        put(index);
}

void wave_writer::emit_value(std::uint32_t probe, sim::picoseconds at, std::uint64_t bits,
                             std::uint64_t floating) {
    const std::uint32_t index = signal_of_probe_[probe];
    if (!update_value(shown_[index], bits, floating)) return;
    advance(at);
    put_value(index);
}

void wave_writer::skipped(const record& r) { update(shown_[signal_of_probe_[r.probe]], r); }

void wave_writer::window_opened(sim::picoseconds at) {
    for (ticking& clock : clocks_) {
        clock.half_period = 2 * clock.domain.edge_at_or_before(at);
        while ((clock.next = change_of(clock)) <= at) ++clock.half_period;
    }
    advance(at);
    for (std::uint32_t i = 0; i < signals_.size(); ++i)
        if (shown_[i].known && signals_[i].what != form::event) put(i);
    for (const ticking& clock : clocks_) put_bits(clock.signal, clock.half_period % 2, 0);
}

void wave_writer::window_closed(sim::picoseconds at) { advance(at); }

}  // namespace vinic::traces
