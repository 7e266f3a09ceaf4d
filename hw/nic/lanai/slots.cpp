// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/lanai/slots.h"

#include <algorithm>

namespace vinic::lanai {

namespace {
slot earliest(const std::array<slot, sram_ports>& due) {
    return std::min(std::min(due[0], due[1]), std::min(due[2], due[3]));
}

// What is due before `to` of the port, each access when it is due.
void serve_on_time(slot_cursor& cursor, std::size_t port, const slot_pattern& p, slot to) {
    std::uint64_t k = p.count;
    if (p.due(k - 1) >= to) k = (to - 1 - p.first) * p.period_denominator / p.period_numerator + 1;
    cursor.served[port] = k;
    cursor.phase[port] = k * p.period_numerator % p.period_denominator;
    cursor.due[port] = k != p.count ? p.due(k) : never;
    cursor.next_due = earliest(cursor.due);
    cursor.position = to;
}
}  // namespace

// Slot `position` goes to the port of highest priority that has an access due.
void slot_schedule::serve(slot_cursor& cursor) const {
    std::size_t port = 0;
    while (cursor.due[port] > cursor.position) ++port;
    ++cursor.position;
    const slot_pattern& p = patterns_[port];
    if (++cursor.served[port] == p.count) {
        cursor.due[port] = never;
    } else {
        // ceil((k + 1) * period) from ceil(k * period), without a division.
        std::uint64_t& phase = cursor.phase[port];
        const bool rounded_up = phase != 0;
        std::uint64_t whole = whole_[port];
        phase += part_[port];
        if (phase >= p.period_denominator) {
            phase -= p.period_denominator;
            ++whole;
        }
        cursor.due[port] += whole + (phase != 0 ? 1 : 0) - (rounded_up ? 1 : 0);
    }
    cursor.next_due = earliest(cursor.due);
}

void slot_schedule::restart(slot_cursor& cursor, sram_port port) const {
    const auto p = static_cast<std::size_t>(port);
    cursor.served[p] = cursor.phase[p] = 0;
    cursor.due[p] = patterns_[p].count != 0 ? patterns_[p].first : never;
    cursor.next_due = earliest(cursor.due);
}

void slot_schedule::advance(slot_cursor& cursor, slot to) const {
    constexpr slot far = 32;  // where it costs less not to go access by access
    if (cursor.next_due < to && to - cursor.next_due > far && cursor.position <= cursor.next_due) {
        const auto port = std::ranges::find(cursor.due, cursor.next_due) - cursor.due.begin();
        const slot_pattern& p = patterns_[static_cast<std::size_t>(port)];
        if (std::ranges::count(cursor.due, never) == static_cast<std::ptrdiff_t>(sram_ports) - 1 &&
            p.period_numerator >= p.period_denominator)
            return serve_on_time(cursor, static_cast<std::size_t>(port), p, to);
    }
    while (cursor.position < to) {
        if (cursor.next_due >= to) {
            cursor.position = to;
            return;
        }
        cursor.position = std::max(cursor.position, cursor.next_due);
        serve(cursor);
    }
}

slot slot_schedule::take(slot_cursor& cursor, slot from) const {
    advance(cursor, from);
    while (cursor.next_due <= cursor.position) serve(cursor);
    return cursor.position++;
}

void slot_schedule::set(sram_port port, const slot_pattern& pattern, slot now) {
    advance(ports_, now);
    const auto p = static_cast<std::size_t>(port);
    patterns_[p] = pattern;
    whole_[p] = pattern.period_numerator / pattern.period_denominator;
    part_[p] = pattern.period_numerator % pattern.period_denominator;
    restart(ports_, port);
}

// The first so many ports, without the ones of lower priority.
slot_cursor slot_schedule::cursor_of(std::size_t ports) const {
    slot_cursor cursor = ports_;
    std::fill(cursor.due.begin() + static_cast<std::ptrdiff_t>(ports), cursor.due.end(), never);
    cursor.next_due = earliest(cursor.due);
    return cursor;
}

slot slot_schedule::next_free(sram_port port, slot from) const {
    slot_cursor cursor = cursor_of(static_cast<std::size_t>(port) + 1);
    return take(cursor, from);
}

slot slot_schedule::served_at(sram_port port, std::uint64_t k) const {
    const auto p = static_cast<std::size_t>(port);
    const auto due = ports_.due.begin();
    const bool undisturbed = std::all_of(due, due + p, [](slot other) { return other == never; });
    const slot_pattern& own = patterns_[p];
    // Not asking for more than one access a slot either: served when due.
    if (undisturbed && due[p] != never && own.period_numerator >= own.period_denominator &&
        own.first >= ports_.position)
        return own.due(k);
    slot_cursor cursor = cursor_of(p + 1);
    while (cursor.served[p] <= k && cursor.next_due != never) {
        cursor.position = std::max(cursor.position, cursor.next_due);
        serve(cursor);
    }
    return cursor.position - 1;
}

}  // namespace vinic::lanai
