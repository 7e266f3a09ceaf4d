// SPDX-License-Identifier: Apache-2.0
#include "traces/timeline_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "hw/sim/simulation.h"
#include "traces/vi_packet.h"

namespace vinic::traces {

namespace {

std::uint64_t get(std::span<const sim::field> fields, std::string_view name) {
    const auto found = std::ranges::find(fields, name, &sim::field::name);
    return found == fields.end() ? 0 : found->value;
}

std::vector<sim::probe*> shown(const cable_map& cables) {
    std::vector<sim::probe*> all;
    for (const auto& [name, probe] : sim::simulation::current().probes())
        if (timeline_row_of(*probe, cables)) all.push_back(probe);
    return all;
}

/// "fabric.cable0.ab.packet" and "fabric.cable0.ab.transmission": what they have in common.
std::string way_of(const sim::probe& p) { return p.name().substr(0, p.name().rfind('.')); }

/// "node0.nic.receive.reception" -> "node0.nic".
std::string card_of(const sim::probe& p) {
    const std::string engine = way_of(p);
    return engine.substr(0, engine.rfind('.'));
}

/// What a slice need not say, since its length and its neighbours do.
bool derived(const sim::field& f) {
    return f.name == "asked" || f.name == "clocks" || f.name == "first_data" || f.name == "process";
}

constexpr const char* system_call = "system call";

/// How far back a slice may lie that a message's arrow still has to find.
constexpr sim::picoseconds remembered = 1'000'000'000'000;
constexpr std::size_t remembered_slices = 100'000;

}  // namespace

timeline_writer::timeline_writer(const std::string& path, account& messages, const cable_map& cables,
                                 std::uint64_t limit_bytes, window when)
    : recorder(shown(cables), std::move(when)),
      events_(path, limit_bytes),
      owners_(cables),
      rows_(probes().size()) {
    events_.mute(!opened());
    messages.tell(flows_);
    messages.tell(owners_);
    for (const sim::probe* p : probes())
        if (const auto row = timeline_row_of(*p, cables)) add_row(*p, *row);
    // The send engine reports a part when it ends, a packet when it begins.
    const auto& all = sim::simulation::current().probes();
    for (const auto& [name, probe] : all)
        if (name.ends_with(".send.packet"))
            if (const auto part = all.find(way_of(*probe) + ".part"); part != all.end())
                tracks_[probe] = tracks_.at(part->second);
}

void timeline_writer::finished() {
    pass(now_ + 1);
    flows_.finish_rest([this](const message_flows::flow& f) { draw_flow(f); });
    close_open(now_ - 1);
    events_.finish();
}

void timeline_writer::add_row(const sim::probe& p, const timeline_row& row) {
    rows_[index_of(p)].row = row;
    tracks_[&p] = row.track;
    if (row.what != timeline_row::kind::packet && row.what != timeline_row::kind::depth &&
        row.what != timeline_row::kind::calls)
        name_row(row.track, row.title);
}

void timeline_writer::name_row(timeline_track track, const std::string& title) {
    if (!titles_.emplace(track, title).second) return;
    const bool first =
        std::ranges::count_if(titles_, [&](const auto& t) { return t.first.process == track.process; }) == 1;
    if (first)
        events_.name_process(track.process, track.process == fabric_process
                                                ? "fabric"
                                                : fmt::format("node{}", track.process - 1));
    events_.name_thread(track, title);
}

/// Names are given when something is reported: what it belongs to is known then.
void timeline_writer::on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                              std::string_view what, std::span<const sim::field> fields) {
    row_state& state = rows_[index_of(p)];
    const timeline_row& row = state.row;
    if (!row.meter.empty()) state.busy.add(begin, end);
    if (row.what == timeline_row::kind::transactions && get(fields, "bytes") == 0) return;
    if (row.what == timeline_row::kind::transmission)
        if (const auto packet = passing_.find(way_of(p)); packet != passing_.end()) {
            const passing& is = packet->second;
            if (!is.sender.empty()) flows_.also(is.sender, is.number, p, begin);
            return recorder::on_span(p, begin, end, is.name, fields);
        }
    if (row.what == timeline_row::kind::reception) flows_.receiving(card_of(p), p, begin);
    const auto label = flows_.label(p, begin, end);
    recorder::on_span(p, begin, end, label ? *label : what, fields);
}

/// A cable reports the packet, then its transmission.
void timeline_writer::on_packet(const sim::packet_probe& p, sim::picoseconds,
                                std::span<const std::uint8_t> bytes, std::string_view note,
                                std::span<const sim::field> fields) {
    passing is{"packet", {}, 0};
    if (get(fields, "remainder") != 0) {
        is.name = "damaged packet";
    } else if (const auto header = vi_header_of(bytes)) {
        is.name = fmt::format("{}, VI {} to VI {}", kind_name(header->kind), header->source_vi,
                              header->destination_vi);
        if (const packet_owners::owner* of = owners_.of(*header, p, bytes))
            is = {fmt::format("{}, message {} of {}", kind_name(header->kind), of->number, of->sender),
                  of->sender, of->number};
    }
    if (!note.empty()) is.name += fmt::format(", {}", note);
    passing_[way_of(p)] = std::move(is);
}

void timeline_writer::emit(const record& r) {
    if (full_at_) return;
    if (r.at != now_) pass(r.at);
    if (events_.full()) {
        full_at_ = now_;
        return close_open(now_);
    }
    row_state& state = rows_[r.probe];
    switch (r.what) {
        case record::kind::value:
            return value(state, r);
        case record::kind::span_begin:
            return begin_slice(state, r);
        case record::kind::span_end:
        case record::kind::packet:
            return;
    }
}

/// What happens before the window is kept up to date, without a mark in the file.
void timeline_writer::skipped(const record& r) {
    row_state& state = rows_[r.probe];
    if (r.what == record::kind::value) return value(state, r);
    if (r.what != record::kind::span_begin) return;
    begin_slice(state, r);
    constexpr std::size_t many = 256;
    if (begun_ > many) forget_slices(r.at);
}

/// Those that ended before `at`; what they held is used again.
void timeline_writer::forget_slices(sim::picoseconds at) {
    const auto end = instant_.begin() + static_cast<std::ptrdiff_t>(begun_);
    const auto over = std::stable_partition(instant_.begin(), end,
                                            [&](const slice& s) { return s.end > at || s.begin == at; });
    begun_ = static_cast<std::size_t>(over - instant_.begin());
}

void timeline_writer::window_opened(sim::picoseconds at) {
    forget_slices(at);
    for (std::size_t i = 0; i < begun_; ++i) instant_[i].begin = at;
    for (row_state& state : rows_) state.busy.pass(at, [](sim::picoseconds, std::uint64_t) {});
    flows_.finish_before(at, [](const message_flows::flow&) {});
    now_ = from_ = at;
    events_.mute(false);
    for (row_state& state : rows_) open_again(state, at);
    for (const auto& [vi, of] : posted_) show(of, at);
}

void timeline_writer::open_again(row_state& state, sim::picoseconds at) {
    for (const char* function : state.calls) events_.begin(state.row.track, function, at);
    if (state.has) state.has->second = at;
    if (state.depth == 0) return;
    if (state.row.what == timeline_row::kind::level) events_.begin(state.row.track, system_call, at);
    if (state.row.what == timeline_row::kind::depth) show_depth(state, at);
}

void timeline_writer::window_closed(sim::picoseconds at) {
    if (full_at_) return;
    pass(at);
    to_ = at;
    flows_.finish_rest([this](const message_flows::flow& f) { draw_flow(f); });
    close_open(at);
    events_.mute(true);
}

void timeline_writer::begin_slice(row_state& state, const record& r) {
    if (begun_ == instant_.size()) instant_.emplace_back();
    slice& s = instant_[begun_++];
    s.probe = r.probe;
    s.track = state.row.track;
    s.begin = r.at;
    s.end = r.end;
    s.name.assign(r.text);
    s.fields.clear();
    std::ranges::copy_if(r.fields, std::back_inserter(s.fields),
                         [](const sim::field& f) { return !derived(f); });
    if (state.row.what != timeline_row::kind::calls) return;
    const std::uint64_t number = get(r.fields, "process");
    s.track = call_track(state.row.track.process, number);
    if (!titles_.contains(s.track)) name_row(s.track, fmt::format("process {}: VIPL", number));
    count(r);
}

/// Everything before `now` is known.
void timeline_writer::pass(sim::picoseconds now) {
    draw_slices();
    if (now / busy_meter::interval != now_ / busy_meter::interval) draw_meters(now);
    flows_.finish_before(now, [this](const message_flows::flow& f) { draw_flow(f); });
    now_ = now;
}

void timeline_writer::draw_meters(sim::picoseconds now) {
    for (row_state& state : rows_) {
        if (state.row.meter.empty()) continue;
        state.busy.pass(now, [&](sim::picoseconds from, std::uint64_t percent) {
            const sim::field series[] = {{"percent", percent}};
            events_.counter(state.row.track.process, state.row.meter, std::max(from, from_), series);
        });
    }
}

/// Of slices that begin at one instant the longer ones enclose the shorter ones.
void timeline_writer::draw_slices() {
    const auto end = instant_.begin() + static_cast<std::ptrdiff_t>(begun_);
    if (begun_ > 1)
        std::stable_sort(instant_.begin(), end, [](const slice& a, const slice& b) {
            return a.track != b.track ? a.track < b.track : a.end > b.end;
        });
    std::for_each(instant_.begin(), end, [this](const slice& s) { draw(s); });
    begun_ = 0;
}

void timeline_writer::draw(const slice& s) {
    const timeline_track on = lane_of(s);
    events_.complete(on, s.name, s.begin, s.end, s.fields);
    if (on == rows_[s.probe].row.track) return;
    moved_[{probes()[s.probe], s.begin}] = on;
    if (moved_.size() > remembered_slices)
        std::erase_if(moved_, [&](const auto& m) { return m.first.second + remembered < s.begin; });
}

timeline_track timeline_writer::lane_of(const slice& s) {
    std::vector<lane>& lanes = lanes_[s.track];
    for (lane& l : lanes) {
        while (!l.open.empty() && l.open.back() <= s.begin) l.open.pop_back();
        if (!l.open.empty() && l.open.back() < s.end) continue;
        l.open.push_back(s.end);
        return l.track;
    }
    // Behind all rows of its process, where no other row can be.
    constexpr std::uint32_t further_lanes = 1'000'000;
    lane fresh{s.track, {s.end}};
    fresh.track.thread += static_cast<std::uint32_t>(lanes.size()) * further_lanes;
    if (!lanes.empty()) name_row(fresh.track, fmt::format("{} ({})", titles_[s.track], lanes.size() + 1));
    lanes.push_back(fresh);
    return fresh.track;
}

timeline_track timeline_writer::track_of(const message_flows::point& p) {
    const auto moved = moved_.find({p.where, p.at});
    return moved == moved_.end() ? tracks_.at(p.where) : moved->second;
}

void timeline_writer::draw_flow(const message_flows::flow& f) {
    if (full_at_) return;
    // They come in order of time.
    const auto first = std::ranges::lower_bound(f.points, from_, {}, &message_flows::point::at);
    const auto last = std::ranges::upper_bound(f.points, to_, {}, &message_flows::point::at);
    const std::span points(first, last > first ? last : first);
    if (points.size() < 2) return;
    ++drawn_flows_;
    for (const auto& p : points) {
        const auto what = &p == &points.front()  ? trace_events::flow::start
                          : &p == &points.back() ? trace_events::flow::finish
                                                 : trace_events::flow::step;
        events_.flow_point(what, drawn_flows_, f.name, track_of(p), p.at);
    }
}

void timeline_writer::value(row_state& state, const record& r) {
    const auto& probe = static_cast<const sim::value_probe&>(*probes()[r.probe]);
    switch (state.row.what) {
        case timeline_row::kind::function:
            return enter(state, r.bits == 0 ? nullptr : probe.states()[r.bits], r.at);
        case timeline_row::kind::level:
            if (r.bits != 0 && state.depth == 0) events_.begin(state.row.track, system_call, r.at);
            if (r.bits == 0 && state.depth != 0) events_.end(state.row.track, system_call, r.at);
            state.depth = r.bits;
            return;
        case timeline_row::kind::processor:
            if (state.has)
                events_.complete(state.row.track, fmt::format("process {}", state.has->first - 1),
                                 state.has->second, r.at, {});
            state.has.reset();
            if (r.bits) state.has.emplace(r.bits, r.at);
            return;
        default: {
            if (state.depth == r.bits) return;
            state.depth = r.bits;
            return show_depth(state, r.at);
        }
    }
}

void timeline_writer::show_depth(const row_state& state, sim::picoseconds at) {
    const sim::field series[] = {{"depth", state.depth}};
    events_.counter(state.row.track.process, state.row.title, at, series);
}

/// The core says which function the instruction belongs to, or that it is in reset. One that is on the stack
/// is returned to, another one is called.
void timeline_writer::enter(row_state& state, const char* function, sim::picoseconds at) {
    auto& calls = state.calls;
    const bool returns = function == nullptr || std::ranges::find(calls, function) != calls.end();
    while (returns && !calls.empty() && calls.back() != function) {
        events_.end(state.row.track, calls.back(), at);
        calls.pop_back();
    }
    if (returns) return;
    events_.begin(state.row.track, function, at);
    calls.push_back(function);
}

void timeline_writer::close_open(sim::picoseconds at) {
    for (row_state& state : rows_) {
        for (; !state.calls.empty(); state.calls.pop_back())
            events_.end(state.row.track, state.calls.back(), at);
        if (state.row.what == timeline_row::kind::level && state.depth != 0)
            events_.end(state.row.track, system_call, at);
        state.depth = 0;
        if (state.has)
            events_.complete(state.row.track, fmt::format("process {}", state.has->first - 1),
                             state.has->second, at, {});
        state.has.reset();
    }
}

/// Descriptors that a VI's queues hold.
void timeline_writer::count(const record& r) {
    const std::uint32_t process = rows_[r.probe].row.track.process;
    const std::uint64_t card = get(r.fields, "card"), vi = get(r.fields, "vi");
    const auto [at, fresh] = posted_.try_emplace({process, card << 32 | vi});
    descriptors& of = at->second;
    if (fresh) {
        of.process = process;
        of.vi = card ? fmt::format("nic{} VI {}", card, vi) : fmt::format("VI {}", vi);
    }
    std::uint64_t& queue = r.text.ends_with("Recv") || r.text == "VipRecvDone" ? of.receives : of.sends;
    if (r.text.starts_with("VipPost"))
        ++queue;
    else if (queue > 0)
        --queue;
    show(of, r.at);
}

void timeline_writer::show(const descriptors& of, sim::picoseconds at) {
    const sim::field series[] = {{"send", of.sends}, {"receive", of.receives}};
    events_.counter(of.process, of.vi + " descriptors", at, series);
}

}  // namespace vinic::traces
