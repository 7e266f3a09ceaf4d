// SPDX-License-Identifier: Apache-2.0
#include "hw/link/transmitter.h"

#include <algorithm>
#include <utility>

namespace vinic::link {

void transmitter::begin(packet_ptr what, std::size_t first_byte, unsigned hop) {
    packets_.push_back({std::move(what), first_byte, hop, ready_.end(), 0, false});
}

void transmitter::available(const run& characters, picoseconds now) {
    // What is there before the characters in front of it can as well be said to come with them.
    const picoseconds floor = ready_.empty() ? 0 : ready_.runs().back().last();
    run rest = characters;
    if (rest.at < floor) {
        const std::uint64_t early =
            rest.period ? (floor - rest.at + rest.period - 1) / rest.period : rest.count;
        const std::uint64_t with_them = std::min(rest.count, early);
        ready_.append({rest.first, with_them, floor, 0});
        rest = {rest.first + with_them, rest.count - with_them, rest.time_of(rest.first + with_them),
                rest.period};
    }
    ready_.append(rest);
    emit(now);
}

void transmitter::retract(std::uint64_t from, picoseconds) {
    ready_.truncate(from);
    cut(from);
}

void transmitter::close(std::uint64_t length, picoseconds) { packets_.back().length = length; }

void transmitter::stop(picoseconds now) {
    stopped_ = true;
    stopped_at_ = now;
    cut(emission_.passed(now));
}

void transmitter::go(picoseconds now) {
    stopped_ = false;
    emit(now);
}

picoseconds transmitter::free_from() const {
    return emission_.empty() ? 0 : emission_.runs().back().last() + cable_.byte_ps;
}

bool transmitter::starved(picoseconds now) const {
    return !packets_.empty() && packets_.front().launched && emission_.passed(now) == ready_.end();
}

picoseconds transmitter::launch_due() const {
    for (const queued& p : packets_)
        if (!p.launched) return emission_.time_of(p.base);
    return never;
}

picoseconds transmitter::tail_due() const {
    if (packets_.empty() || packets_.front().length == 0) return never;
    return emission_.time_of(packets_.front().base + packets_.front().length - cable_.gap);
}

void transmitter::launch(picoseconds) {
    for (queued& p : packets_) {
        if (p.launched) continue;
        p.launched = true;
        phase what = phase::head;
        emission_.for_each(p.base, p.length ? p.base + p.length : never, [&](const run& r) {
            announce(p, r, what);
            what = phase::more;
        });
        return;
    }
}

void transmitter::tail() {
    const queued done = packets_.front();
    packets_.pop_front();
    announce(done, {}, phase::tail);
}

/// Puts on the wire what is available and not held, behind what is already scheduled.
void transmitter::emit(picoseconds now) {
    if (stopped_ && stopped_at_ < now) return;
    const std::uint64_t before = emission_.end();
    // The last character stays remembered: the next one keeps its distance to it.
    const std::uint64_t gone = emission_.passed(now);
    if (gone > 0) emission_.forget(gone - 1);
    ready_.forget(gone);
    ready_.for_each(before, never, [&](const run& r) { emission_.follow(r, now, cable_.byte_ps); });
    if (stopped_) emission_.truncate(std::max(before, emission_.passed(now)));
    const std::uint64_t after = emission_.end();
    emission_.for_each(before, after, [&](const run& r) { host_.emission_appended(r); });
    if (queued* p = under_way(); p && before < after) {
        const std::uint64_t end = p->length ? std::min(after, p->base + p->length) : after;
        emission_.for_each(before, end, [&](const run& r) { announce(*p, r, phase::more); });
    }
}

void transmitter::cut(std::uint64_t from) {
    if (from >= emission_.end()) return;
    emission_.truncate(from);
    host_.emission_cut(from);
    const queued* p = under_way();
    if (!p || (p->length && from >= p->base + p->length)) return;
    transfer message;
    message.what = p->what;
    message.first_byte = p->first_byte;
    message.hop = p->hop;
    message.length = p->length;
    message.held_from = from - p->base;
    host_.announce(message, phase::hold, cable_.byte_ps);
}

void transmitter::announce(const queued& of, const run& characters, phase what) {
    transfer message;
    message.what = of.what;
    message.first_byte = of.first_byte;
    message.hop = of.hop;
    message.length = of.length;
    message.characters = {characters.first - of.base, characters.count, characters.at + cable_.byte_ps,
                          characters.period};
    host_.announce(message, what, what == phase::tail ? 0 : cable_.byte_ps);
}

transmitter::queued* transmitter::under_way() {
    for (auto p = packets_.rbegin(); p != packets_.rend(); ++p)
        if (p->launched) return &*p;
    return nullptr;
}

}  // namespace vinic::link
