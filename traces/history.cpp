// SPDX-License-Identifier: Apache-2.0
#include "traces/history.h"

#include <algorithm>
#include <optional>

#include "firmware/abi/card_map.h"
#include "hw/sim/simulation.h"
#include "traces/fields.h"

namespace vinic::traces {

namespace {

/// What stands between a prefix and a suffix of `name`; "" where a number is expected stands for none.
std::optional<std::string> between(const std::string& name, std::string_view infix, std::string_view suffix) {
    const std::size_t at = name.find(infix);
    if (at == std::string::npos || !name.ends_with(suffix)) return std::nullopt;
    const std::size_t from = at + infix.size();
    if (from > name.size() - suffix.size()) return std::nullopt;
    return name.substr(from, name.size() - suffix.size() - from);
}

constexpr std::size_t most_kept = 1u << 20;  // of messages that never arrive

template <typename T, typename When>
void drop(std::deque<T>& all, sim::picoseconds before, When when) {
    while (!all.empty() && (when(all.front()) < before || all.size() > most_kept)) all.pop_front();
}

}  // namespace

history::history() {
    for (const auto& [name, probe] : sim::simulation::current().probes()) watch(name, *probe);
}

void history::watch(const std::string& name, sim::probe& probe) {
    node& on = nodes_[name.substr(0, name.find('.'))];
    const std::size_t dot = name.find('.');
    const std::size_t second = dot == std::string::npos ? dot : name.find('.', dot + 1);
    const std::string owner = name.substr(0, second);
    const auto keep = [&](source what, unsigned number = 0, bool of_card = false) {
        card* in = of_card ? &cards_[owner] : nullptr;
        if (in) in->on = &on;
        watcher& w = watchers_.emplace_back();
        w.what = what;
        w.number = number;
        w.on = &on;
        w.in = in;
        if (what == source::dma_payload) channels_.emplace(&probe, &in->channels.at(number));
        probe.attach(w);
    };
    if (const auto master = between(name, ".bus.req", "_n"); master && *master != "64") {
        const auto number = static_cast<unsigned>(std::stoul(*master));
        if (on.masters.size() <= number) on.masters.resize(number + 1);
        return keep(source::request, number);
    }
    if (name.ends_with(".bus.transaction")) return keep(source::transaction);
    if (name.ends_with(".host.bridge.store")) return keep(source::store);
    if (name.ends_with(".host.bridge.write")) return keep(source::write);
    if (name.ends_with(".pci.write")) return keep(source::card_write, 0, true);
    if (name.ends_with(".doorbells.doorbell")) return keep(source::doorbell, 0, true);
    if (name.ends_with(".lanai.exchange")) return keep(source::exchange, 0, true);
    if (name.ends_with(".send.part")) return keep(source::part, 0, true);
    if (name.ends_with(".receive.reception")) return keep(source::reception, 0, true);
    constexpr std::pair<const char*, source> of_channel[] = {{".state", source::dma_state},
                                                             {".pulse", source::dma_pulse},
                                                             {".payload", source::dma_payload},
                                                             {".block", source::dma_block}};
    for (const auto& [suffix, what] : of_channel)
        if (const auto number = between(name, ".dma.channel", suffix))
            return keep(what, static_cast<unsigned>(std::stoul(*number)), true);
}

const history::dma_block* history::block(const sim::probe& payload, sim::picoseconds placed) const {
    const auto where = channels_.find(&payload);
    if (where == channels_.end()) return nullptr;
    const channel& c = *where->second;
    if (c.now.placed == placed && placed != 0) return &c.now;
    const auto found = std::ranges::lower_bound(c.blocks, placed, {}, &dma_block::placed);
    return found != c.blocks.end() && found->placed == placed ? &*found : nullptr;
}

void history::forget(sim::picoseconds before) {
    for (auto& [name, on] : nodes_) {
        drop(on.tenures, before, [](const tenure& t) { return t.end; });
        drop(on.stores, before, [](const access& a) { return a.end; });
        drop(on.writes, before, [](const access& a) { return a.end; });
    }
    for (auto& [name, c] : cards_) {
        // The last event before then says what the core was doing.
        while (c.core.size() > 1 && (c.core[1].at < before || c.core.size() > most_kept)) c.core.pop_front();
        drop(c.writes, before, [](const access& a) { return a.end; });
        drop(c.parts, before, [](const access& a) { return a.end; });
        drop(c.receptions, before, [](const access& a) { return a.end; });
        for (channel& one : c.channels) drop(one.blocks, before, [](const dma_block& b) { return b.finish; });
    }
}

void history::watcher::on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                                std::uint64_t) {
    if (what == source::dma_state) return entered(in->channels[number], at, p.states()[bits]);
    node::requests& r = on->masters[number];
    if (bits == 0) {
        r.asserted = at;
    } else {
        r.asked = r.asserted;
        r.begin = at;
    }
}

void history::entered(channel& c, sim::picoseconds at, std::string_view state) {
    dma_block& b = c.now;
    if (state == "wait" && !c.fetching) b.asked = at;
    if (state == "wait" && c.fetching) b.fetched = at;
    if (state == "fetch") {
        b.fetch = at;
        c.fetching = true;
    }
    if (state == "setup") {
        b.setup = at;
        if (b.fetched < b.fetch) b.fetched = at;
    }
    if (state == "transfer") b.transfer = at;
}

void history::granted(node& on, sim::picoseconds begin, sim::picoseconds end,
                      std::span<const sim::field> fields) {
    tenure t{.asked = begin,
             .begin = begin,
             .first_data = end,
             .end = end,
             .address = get(fields, "address"),
             .bytes = get(fields, "bytes")};
    for (const node::requests& r : on.masters)
        if (r.begin == begin) t.asked = r.asked;
    const std::uint64_t clocks = get(fields, "clocks");
    if (t.bytes != 0 && clocks > 1)
        t.first_data = begin + (end - begin) * get(fields, "first_data") / (clocks - 1);
    on.tenures.push_back(t);
}

void history::finished(channel& c, sim::picoseconds end, std::string_view what,
                       std::span<const sim::field> fields) {
    dma_block& b = c.now;
    b.finish = end;
    b.pulse = c.pulses.empty() ? b.asked : c.pulses.front();
    if (!c.pulses.empty() && get(fields, "terminal") != 0) c.pulses.pop_front();
    b.behind = !c.blocks.empty() && c.blocks.back().finish > b.pulse;
    b.descriptor = get(fields, "descriptor");
    b.to_card = what == "to card";
    c.blocks.push_back(b);
    c.now = {};
    c.fetching = false;
}

void history::watcher::on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end,
                               std::string_view doing, std::span<const sim::field> fields) {
    const auto seen = [&] { return access{begin, end, get(fields, "address")}; };
    using kind = core_event::kind;
    switch (what) {
        case source::transaction:
            return granted(*on, begin, end, fields);
        case source::store:
            on->stores.push_back(seen());
            return;
        case source::write:
            on->writes.push_back(seen());
            return;
        case source::card_write: {
            // A doorbell stands in the FIFO when its write has taken effect.
            const bool queued = get(fields, "offset") >= abi::card_map::doorbells && in->doorbell.end == end;
            in->writes.push_back({begin, end, queued ? in->doorbell.address : get(fields, "offset")});
            return;
        }
        case source::doorbell:
            in->doorbell = {begin, end, get(fields, "entry")};
            return;
        case source::exchange:
            in->core.push_back({begin,
                                doing == "look"    ? kind::look
                                : doing == "store" ? kind::store
                                                   : kind::seen,
                                static_cast<std::uint32_t>(get(fields, "address"))});
            return;
        case source::dma_pulse:
            in->channels[number].pulses.push_back(begin);
            return;
        case source::dma_payload: {
            dma_block& b = in->channels[number].now;
            b.placed = end;
            b.host = get(fields, "host_address");
            b.local = get(fields, "local_address");
            b.bytes = get(fields, "bytes");
            return;
        }
        case source::dma_block:
            return finished(in->channels[number], end, doing, fields);
        case source::part:
            in->parts.push_back(seen());
            return;
        case source::reception:
            in->receptions.push_back(seen());
            return;
        case source::request:
        case source::dma_state:
            return;
    }
}

}  // namespace vinic::traces
