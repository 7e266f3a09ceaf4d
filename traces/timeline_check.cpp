// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "traces/trace_check.h"
#include "traces/trace_events.h"

namespace vinic::traces {

namespace {

using nlohmann::json;

/// Reads a timeline, one event a line, and holds it to the rules of the trace event format: slices of a row
/// come in order and nest, an arrow starts, goes on and ends in slices and never goes back.
class timeline_reader {
public:
    explicit timeline_reader(std::string_view file) : lines_(file) { found_.kind = "timeline"; }

    trace_summary operator()() {
        if (!lines_.next() || lines_.line() != "[") fault("the array does not begin");
        bool closed = false;
        while (lines_.next()) {
            if (closed) fault("something behind the end of the array");
            if (lines_.line() == "]")
                closed = true;
            else
                line();
        }
        at_end(closed);
        return std::move(found_);
    }

private:
    struct slice {
        sim::picoseconds begin, end;
    };
    struct row {
        std::vector<slice> slices;  ///< of kind X
        std::vector<sim::picoseconds> open;
        sim::picoseconds last = 0;
        bool named = false;
    };
    struct flow {
        sim::picoseconds last = 0;
        bool finished = false;
    };

    template <typename... Args>
    void fault(fmt::format_string<Args...> format, Args&&... args) {
        found_.fault(
            fmt::format("line {}: {}", lines_.number(), fmt::format(format, std::forward<Args>(args)...)));
    }

    void line() {
        std::string_view text = lines_.line();
        if (text.ends_with(',')) text.remove_suffix(1);
        const json event = json::parse(text, nullptr, false);
        if (!lines_.has_end() && !event.is_object())
            return found_.notes.push_back("the last event is cut off");
        if (!event.is_object() || !event.contains("ph") || !event.contains("pid")) return fault("no event");
        try {
            take(event);
        } catch (const json::exception& error) {
            fault("{}", error.what());
        }
    }

    static sim::picoseconds picoseconds_of(const json& microseconds) {
        constexpr double picoseconds_each = 1e6;
        return static_cast<sim::picoseconds>(std::llround(microseconds.get<double>() * picoseconds_each));
    }

    void take(const json& event) {
        const std::string phase = event.at("ph");
        const timeline_track on{event.at("pid"), event.value("tid", 0u)};
        processes_.insert(on.process);
        if (phase == "M") {
            if (event.at("name") == "thread_name") rows_[on].named = true;
            return;
        }
        const sim::picoseconds at = picoseconds_of(event.at("ts"));
        found_.see(at);
        if (phase == "C") {
            ++samples_;
            counters_.emplace(on.process, event.at("name"));
        } else if (phase == "X") {
            const sim::picoseconds end = at + picoseconds_of(event.at("dur"));
            found_.see(end);
            enter(rows_[on], at, end);
            rows_[on].slices.push_back({at, end});
        } else if (phase == "B") {
            enter(rows_[on], at, sim::never);
        } else if (phase == "E") {
            leave(rows_[on], at);
        } else if (phase == "s" || phase == "t" || phase == "f") {
            arrow(event, phase, on, at);
        } else {
            fault("event of kind {}", phase);
        }
    }

    void enter(row& of, sim::picoseconds at, sim::picoseconds end) {
        ++slices_;
        if (at < of.last) fault("{} ps after {} ps on its row", at, of.last);
        of.last = at;
        while (!of.open.empty() && of.open.back() <= at) of.open.pop_back();
        if (!of.open.empty() && of.open.back() < end)
            fault("a slice that ends at {} ps in one that ends at {} ps", end, of.open.back());
        of.open.push_back(end);
    }

    void leave(row& of, sim::picoseconds at) {
        if (at < of.last) fault("{} ps after {} ps on its row", at, of.last);
        of.last = at;
        if (of.open.empty() || of.open.back() != sim::never) return fault("an end without its begin");
        of.open.pop_back();
    }

    void arrow(const json& event, const std::string& phase, timeline_track on, sim::picoseconds at) {
        const std::uint64_t id = event.at("id");
        const auto [found, fresh] = flows_.try_emplace(id);
        flow& of = found->second;
        if (fresh != (phase == "s")) fault("arrow {} {}", id, fresh ? "without its start" : "starts twice");
        if (of.finished) fault("arrow {} goes on behind its end", id);
        if (at < of.last) fault("arrow {} goes back from {} ps to {} ps", id, of.last, at);
        of.last = at;
        of.finished = phase == "f";
        if (!in_slice(rows_[on], at)) fault("arrow {} at {} ps is in no slice", id, at);
    }

    /// Slices nest, so the one that holds the instant begins few slices before it.
    static bool in_slice(const row& of, sim::picoseconds at) {
        auto behind = std::ranges::upper_bound(of.slices, at, {}, &slice::begin);
        constexpr int deepest = 64;
        for (int i = 0; i < deepest && behind != of.slices.begin(); ++i)
            if (at < (--behind)->end) return true;
        return false;
    }

    void at_end(bool closed) {
        if (!closed) found_.notes.push_back("the run broke off: the array is not closed");
        std::uint64_t shown = 0;
        for (const auto& [track, r] : rows_) {
            shown += r.last != 0 || !r.slices.empty();
            const bool open = std::ranges::find(r.open, sim::never) != r.open.end();
            if (closed && open)
                found_.fault(fmt::format("row {}/{}: a slice does not end", track.process, track.thread));
            if (!r.named && !r.slices.empty())
                found_.fault(fmt::format("row {}/{} has no name", track.process, track.thread));
        }
        for (const auto& [id, f] : flows_)
            if (!f.finished) found_.fault(fmt::format("arrow {} does not end", id));
        found_.counts = {{"processes", processes_.size()},
                         {"rows", shown},
                         {"slices", slices_},
                         {"messages", flows_.size()},
                         {"counters", counters_.size()},
                         {"samples", samples_}};
    }

    line_reader lines_;
    trace_summary found_;
    std::map<timeline_track, row> rows_;
    std::map<std::uint64_t, flow> flows_;
    std::set<std::uint32_t> processes_;
    std::set<std::pair<std::uint32_t, std::string>> counters_;
    std::uint64_t slices_ = 0, samples_ = 0;
};

}  // namespace

trace_summary check_timeline(std::string_view file) { return timeline_reader(file)(); }

}  // namespace vinic::traces
