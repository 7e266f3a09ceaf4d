// SPDX-License-Identifier: Apache-2.0
#include "traces/path_builder.h"

#include <algorithm>
#include <array>

#include "firmware/abi/card_map.h"

namespace vinic::traces {

namespace {

using core_event = history::core_event;
using kind = core_event::kind;

/// What happens on one edge of the card's clock is a few picoseconds apart, in order.
constexpr sim::picoseconds within_an_edge = 2;

/// The first element that ends at or after `when`; ends ascend.
template <typename T>
auto ending_from(const std::deque<T>& all, sim::picoseconds when) {
    return std::ranges::lower_bound(all, when, {}, &T::end);
}

auto first_from(const std::deque<core_event>& core, sim::picoseconds when) {
    return std::ranges::lower_bound(core, when, {}, &core_event::at);
}

}  // namespace

void path_builder::to(sim::picoseconds when, journey part, activity what) {
    if (when <= at_) return;
    const stage s{part, what};
    if (!path.empty() && path.back().what == s)
        path.back().end = when;
    else
        path.push_back({s, at_, when});
    at_ = when;
}

void path_builder::off_path(journey part, activity what, sim::picoseconds begin, sim::picoseconds end) {
    if (end > begin) beside.push_back({{part, what}, begin, end});
}

void path_builder::build() {
    constexpr std::size_t usual_stages = 48;
    path.reserve(usual_stages);
    doorbell();
    if (sender_.engine) {
        engine_descriptor();
        engine_payload();
        engine_send();
    } else {
        descriptor();
        payload();
        send();
    }
    wire();
    if (receiver_.engine) return engine_delivery();
    delivery();
    take(events_.completion.end);
}

void path_builder::doorbell() {
    const sim::picoseconds arrived = events_.doorbell.begin;
    const auto& on = *sender_.on;
    const auto store = ending_from(on.stores, arrived);
    if (store != on.stores.end() && store->end == arrived) {
        to(store->begin, journey::post, activity::library);
        off_path(journey::post, activity::meanwhile, store->begin, events_.post.end);
    }
    const auto t = ending_from(on.tenures, arrived);
    if (t != on.tenures.end() && t->end == arrived) {
        to(t->asked, journey::doorbell, activity::posting);
        to(t->begin, journey::doorbell, activity::grant);
        to(t->first_data, journey::doorbell, activity::address);
    }
    to(arrived, journey::doorbell, activity::transfer);
    to(events_.doorbell.end, journey::doorbell, sender_.engine ? activity::logic : activity::place);
}

/// From here, where something is there for the core to find, to `until`, where its effect shows: first
/// whatever keeps the core from finding it. It polls if nothing happened between its last look and the next
/// one, or the next word that it finds; else it is busy with other work. It finds it in the words `where`, in
/// the turn that begins with its last look before. Returns when it loads the first of these words, or `at_`.
sim::picoseconds path_builder::notice(const history::card& by, journey part, sim::picoseconds until,
                                      std::span<const range> where) {
    const auto next = first_from(by.core, at_);
    const auto end = first_from(by.core, until + 1);
    const auto found = std::find_if(next, end, [&](const core_event& e) {
        return e.what == kind::seen &&
               std::ranges::any_of(where, [&](const range& r) { return r.holds(e.address); });
    });
    const sim::picoseconds taken_up = found == end ? until : found->at;
    const bool polls = next == end || next->what == kind::look || next == found;
    const bool polled = next == by.core.begin() || std::prev(next)->what == kind::look;
    if (polls && polled && next != end) to(std::min(next->at, taken_up), part, activity::look);
    auto last_look = found == end ? first_from(by.core, until) : found;
    while (last_look != next && std::prev(last_look)->what != kind::look) --last_look;
    if (last_look != next) to(std::prev(last_look)->at, part, activity::busy);
    return found == end ? at_ : found->at;
}

void path_builder::descriptor() {
    const history::dma_block* b =
        events_.descriptor.by ? all_.block(*events_.descriptor.by, events_.descriptor.end) : nullptr;
    if (!b) return;
    const auto w = ending_from(sender_.writes, events_.doorbell.end);
    const bool known = w != sender_.writes.end() && w->end == events_.doorbell.end;
    const std::array<range, 1> bell{{{known ? w->address : 0, known ? sizeof(std::uint32_t) : 0}}};
    const sim::picoseconds seen = notice(sender_, journey::descriptor, b->pulse, bell);
    to(seen, journey::descriptor, activity::look);
    to(b->pulse, journey::descriptor, activity::firmware);
    block(sender_, journey::descriptor, *b);
    to(b->finish, journey::descriptor, activity::finish);
}

void path_builder::payload() {
    const auto fetched = [&](const message_events::span& s) {
        return s.by ? all_.block(*s.by, s.end) : nullptr;
    };
    const history::dma_block* first = fetched(events_.first_payload);
    const history::dma_block* last = fetched(events_.last_payload);
    if (!first || !last) return;
    const history::dma_block* d = fetched(events_.descriptor);
    const std::array<range, 2> words{
        {{d ? d->descriptor : 0, d ? sizeof(abi::dma_block) : 0}, {d ? d->local : 0, d ? d->bytes : 0}}};
    notice(sender_, journey::payload, first->pulse, words);
    to(first->pulse, journey::payload, activity::firmware);
    to(last->pulse, journey::payload, activity::earlier);
    block(sender_, journey::payload, *last);
    to(last->finish, journey::payload, activity::finish);
    const auto done = std::find_if(first_from(sender_.core, last->pulse + 1), sender_.core.end(),
                                   [](const core_event& e) { return e.what == kind::look; });
    if (done != sender_.core.end())
        off_path(journey::payload, activity::meanwhile, last->pulse, std::min(done->at, last->finish));
}

void path_builder::send() {
    const history::dma_block* last =
        events_.last_payload.by ? all_.block(*events_.last_payload.by, events_.last_payload.end) : nullptr;
    const history::dma_block* d =
        events_.descriptor.by ? all_.block(*events_.descriptor.by, events_.descriptor.end) : nullptr;
    const history::dma_block* from = last ? last : d;
    auto part = std::ranges::upper_bound(sender_.parts, events_.sent.at, {}, &history::access::begin);
    const sim::picoseconds started = part == sender_.parts.begin() ? events_.sent.at : std::prev(part)->begin;
    if (part != sender_.parts.begin()) --part;
    if (part != sender_.parts.begin() && std::prev(part)->end > at_)
        to(std::min(std::prev(part)->end, started), journey::send, activity::engine);
    const std::array<range, 2> words{{{from ? from->descriptor : 0, from ? sizeof(abi::dma_block) : 0},
                                      {from ? from->local : 0, from ? from->bytes : 0}}};
    notice(sender_, journey::send, started, words);
    to(started, journey::send, activity::firmware);
    to(events_.sent.at, journey::send, activity::start);
}

void path_builder::wire() {
    const auto r = ending_from(receiver_.receptions, events_.received.at);
    if (r != receiver_.receptions.end() && r->end == events_.received.at)
        to(r->begin, journey::wire, activity::head);
    to(events_.received.at, journey::wire, activity::body);
}

/// Data and completion go through one channel in order, as a rule: then the completion's start lies beside
/// the path. When the channel had nothing to do at its PULSE, the data lie beside it.
void path_builder::delivery() {
    const auto moved = [&](const message_events::span& s) {
        return s.by ? all_.block(*s.by, s.end) : nullptr;
    };
    const history::dma_block* data = moved(events_.data);
    const history::dma_block* completion = moved(events_.completion);
    const history::dma_block* first = data ? data : completion;
    if (!completion) return;
    const std::array<range, 1> packet{{{events_.received.address, events_.received.bytes}}};
    const journey part = data ? journey::data : journey::completion;
    notice(receiver_, part, first->pulse, packet);
    to(first->pulse, part, activity::firmware);
    if (data && completion->pulse <= data->finish) {
        block(receiver_, journey::data, *data);
        to(data->finish, journey::data, activity::finish);
        off_path(journey::completion, activity::meanwhile, data->pulse, completion->pulse);
    } else if (data) {
        off_path(journey::data, activity::meanwhile, data->pulse, data->finish);
        to(completion->pulse, journey::completion, activity::firmware);
    }
    block(receiver_, journey::completion, *completion);
    off_path(journey::completion, activity::finish, completion->placed, completion->finish);
}

void path_builder::take(sim::picoseconds completed) {
    const auto& writes = receiver_.on->writes;
    const auto w = std::ranges::lower_bound(writes, completed, {}, &history::access::begin);
    if (w != writes.end() && w->begin == completed)
        to(std::min(w->end, events_.taken.begin), journey::take, activity::visible);
    to(events_.taken.begin, journey::take, activity::poll);
    to(events_.taken.end, journey::take, activity::returns);
}

/// From its PULSE, or from where the path already is, to its last byte in place.
void path_builder::block(const history::card& of, journey part, const history::dma_block& b) {
    to(b.asked, part, b.behind ? activity::channel : activity::start);
    if (b.fetch > b.asked + within_an_edge) to(b.fetch, part, activity::engine);
    to(b.fetched, part, activity::fetch);
    to(b.setup, part, activity::engine);
    to(b.transfer, part, activity::setup);
    on_bus(of, part, b);
    to(b.placed, part, b.to_card ? activity::place : activity::transfer);
}

void path_builder::on_bus(const history::card& of, journey part, const history::dma_block& b) {
    const auto& tenures = of.on->tenures;
    bool waits_for_host = false;
    for (auto t = ending_from(tenures, b.transfer + 1); t != tenures.end() && t->end <= b.placed; ++t) {
        if (t->address < b.host || t->address >= b.host + b.bytes) continue;
        if (!waits_for_host) {
            to(t->asked, part, activity::request);
            to(t->begin, part, activity::grant);
        }
        waits_for_host = t->bytes == 0;
        if (waits_for_host) {
            to(t->end, part, activity::latency);
            continue;
        }
        to(t->begin, part, activity::latency);
        to(t->first_data, part, activity::address);
        to(t->end, part, activity::transfer);
    }
}

}  // namespace vinic::traces
