// SPDX-License-Identifier: Apache-2.0
// The parts of a message's path that a hardwired VI engine takes: its machines' steps, and its transfers.
#include <algorithm>

#include "traces/path_builder.h"

namespace vinic::traces {

namespace {

using step = history::engine_step;

/// Those that begin within a machine's work, the last of them; null: none.
const step* last_begun_in(const std::deque<step>& all, std::string_view what, sim::picoseconds begin,
                          sim::picoseconds end) {
    const step* found = nullptr;
    for (auto s = std::ranges::lower_bound(all, begin, {}, &step::end); s != all.end(); ++s)
        if (s->what == what && s->begin >= begin && s->begin <= end &&
            (found == nullptr || s->begin >= found->begin))
            found = &*s;
    return found;
}

const step* numbered(const std::deque<step>& all, std::uint64_t number) {
    const auto found = std::ranges::find(all, number, &step::address);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

/// The bus, for a transfer of an engine.
void path_builder::on_bus(const history::card& of, journey part, const step& s) {
    on_bus(of, part,
           history::dma_block{
               .transfer = s.begin, .placed = s.end, .host = s.address, .bytes = s.bytes, .to_card = true});
    to(s.end, part, activity::transfer);
}

/// A descriptor that was read ahead is no stage.
void path_builder::engine_descriptor() {
    const history::engine& did = *sender_.engine;
    const step* made = numbered(did.makings, events_.sent.address);
    const auto fetch = std::ranges::find_if(did.fetches, [&](const step& f) {
        return f.what == "send descriptor" && f.vi == events_.vi && f.end >= at_;
    });
    if (fetch == did.fetches.end() || made == nullptr || fetch->end > made->begin) return;
    to(fetch->begin, journey::descriptor, activity::engine);
    if (const step* read = last_begun_in(did.reads, "descriptor", fetch->begin, fetch->end)) {
        to(read->begin, journey::descriptor, activity::logic);
        on_bus(sender_, journey::descriptor, *read);
    }
    to(fetch->end, journey::descriptor, activity::logic);
}

void path_builder::engine_payload() {
    const history::engine& did = *sender_.engine;
    const step* made = numbered(did.makings, events_.sent.address);
    if (made == nullptr) return;
    to(made->begin, journey::payload, activity::engine);
    const step* read = last_begun_in(did.reads, "payload", made->begin, made->end);
    if (read == nullptr) return to(made->end, journey::payload, activity::logic);
    to(read->begin, journey::payload, activity::logic);
    if (read->end > events_.sent.at) return;  // cut through
    on_bus(sender_, journey::payload, *read);
    off_path(journey::payload, activity::meanwhile, read->begin, made->end);
}

void path_builder::engine_send() {
    const auto part = std::ranges::upper_bound(sender_.parts, events_.sent.at, {}, &history::access::begin);
    const bool others = part != sender_.parts.begin();
    const auto own = others ? std::prev(part) : part;
    if (others && own != sender_.parts.begin() && std::prev(own)->end > at_)
        to(std::min(std::prev(own)->end, events_.sent.at), journey::send, activity::engine);
    to(events_.sent.at, journey::send, activity::logic);
}

void path_builder::engine_delivery() {
    const history::engine& did = *receiver_.engine;
    const step* placing = numbered(did.placings, events_.received.address);
    const auto status = std::ranges::find_if(did.writes, [&](const step& w) {
        return w.what == "receive status" && w.begin >= events_.received.at &&
               w.address <= events_.receive_status && events_.receive_status < w.address + w.bytes;
    });
    if (placing != nullptr) {
        to(placing->begin, journey::data, activity::logic);
        if (const step* data = last_begun_in(did.writes, "payload", placing->begin, placing->end)) {
            to(data->begin, journey::data, activity::logic);
            on_bus(receiver_, journey::data, *data);
        }
        to(placing->end, journey::data, activity::logic);
    }
    if (status != did.writes.end()) {
        to(status->begin, journey::completion, activity::logic);
        on_bus(receiver_, journey::completion, *status);
        return take(status->end);
    }
    take(events_.taken.begin);
}

}  // namespace vinic::traces
