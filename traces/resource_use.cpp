// SPDX-License-Identifier: Apache-2.0
#include "traces/resource_use.h"

#include <algorithm>

#include "hw/sim/simulation.h"

namespace vinic::traces {

namespace {

struct kind {
    const char* suffix;
    const char* name;
};
constexpr kind kinds[] = {{".vipl.call", ".host (VIPL calls)"},
                          {".bus.transaction", ".bus"},
                          {".lanai.exchange", ".lanai (core)"},
                          {".dma.channel0.block", ".dma.channel0"},
                          {".dma.channel1.block", ".dma.channel1"},
                          {".dma.channel2.block", ".dma.channel2"},
                          {".dma.channel3.block", ".dma.channel3"},
                          {".sram.host_dma.grant", ".sram (bursts of DMA)"},
                          {".sram.host_access.grant", ".sram (bursts of the host)"},
                          {".transmit.frame", ".transmit (link)"},
                          {".transmit.part", ".transmit (host memory)"},
                          {".receive.data", ".receive (host memory)"},
                          {".send.part", ".send (link)"},
                          {".receive.reception", ".receive (link)"}};

}  // namespace

resource_use::resource_use() {
    for (const auto& [name, probe] : sim::simulation::current().probes()) {
        if (name == "workload.measuring" || name.ends_with(".vipl.call") || name.ends_with(".sockets.call"))
            probe->attach(*this);
        for (const kind& k : kinds) {
            if (!name.ends_with(k.suffix)) continue;
            resource& r = resources_.emplace_back();
            r.of = this;
            r.name = name.substr(0, name.size() - std::string_view(k.suffix).size()) + k.name;
            r.core = name.ends_with(".exchange");
            probe->attach(r);
        }
    }
    measured_.push_back({0, sim::never});
}

void resource_use::on_value(const sim::value_probe&, sim::picoseconds at, std::uint64_t bits, std::uint64_t) {
    if (!marked_) forget();
    marked_ = true;
    if (bits != 0)
        measured_.push_back({at, sim::never});
    else if (!measured_.empty())
        measured_.back().end = at;
}

void resource_use::on_span(const sim::span_probe&, sim::picoseconds, sim::picoseconds end, std::string_view,
                           std::span<const sim::field>) {
    if (marked_ || talks_) return;
    forget();
    measured_.push_back({end, sim::never});
    talks_ = true;
}

/// What came before was no measurement.
void resource_use::forget() {
    measured_.clear();
    for (resource& r : resources_) r.busy.clear();
}

/// Spans are reported when they end: at most the last two intervals can have begun before.
void resource_use::add(resource& to, sim::picoseconds begin, sim::picoseconds end) {
    if (to.busy.size() != measured_.size()) to.busy.resize(measured_.size());
    for (std::size_t i = measured_.size(); i > 0 && measured_[i - 1].end > begin; --i) {
        const sim::picoseconds from = std::max(begin, measured_[i - 1].begin);
        const sim::picoseconds until = std::min(end, measured_[i - 1].end);
        if (until > from) to.busy[i - 1] += until - from;
    }
}

void resource_use::resource::on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end,
                                     std::string_view what, std::span<const sim::field>) {
    if (!core) return of->add(*this, begin, end);
    if (!polls || what == "store") of->add(*this, last, begin);
    polls = what == "look";
    last = begin;
}

std::vector<resource_use::interval> resource_use::intervals() const {
    std::vector<interval> all;
    for (std::size_t i = 0; i < measured_.size(); ++i) {
        interval& one =
            all.emplace_back(interval{measured_[i].begin, std::min(measured_[i].end, sim::now()), {}});
        for (const resource& r : resources_) one.busy[r.name] = i < r.busy.size() ? r.busy[i] : 0;
    }
    return all;
}

}  // namespace vinic::traces
