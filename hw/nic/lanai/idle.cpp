// SPDX-License-Identifier: Apache-2.0
// Idle loops: recognised by recurrence of the whole state, skipped in whole iterations.
#include <algorithm>

#include "hw/nic/lanai/implementation.h"

namespace vinic::lanai {
namespace {
constexpr std::uint64_t first_back_off = 4, last_back_off = 16384, most_arrivals = 64, edges_elsewhere = 256;
}  // namespace

void core::implementation::reset_probe() {
    probe.armed = false;
    probe.edges_to_arm = probe.back_off = first_back_off;
    probe.pc = core_state::never32;
}

void core::implementation::arm_probe() {
    probe.armed = true;
    probe.pc = live.pc;
    probe.arrivals = 0;
    probe.next_snapshot = 1;
    probe.armed_at = live.retired;
    take_snapshot();
}

// Cursors lag behind where nobody asked; two of them compare only when both stand at their issue cycle.
void core::implementation::settle_slots() { schedule.advance(live.cursor, live.next_issue << slot_shift); }

void core::implementation::take_snapshot() {
    settle_slots();
    probe.snapshot = live;
    probe.dirty = 0;
    probe.next_change = never;
    probe.first_record = records.size();
    probe.first_region = region_changes.size();
}

bool core::implementation::same_state(const machine& a, const machine& b) const {
    // Only what the future depends on: r2 and the sink are scratch. At an edge no delay slot is open.
    return std::equal(a.r.begin() + reg_pc + 1, a.r.begin() + sink, b.r.begin() + reg_pc + 1) &&
           a.nzvc == b.nzvc && a.region == b.region && a.loading == b.loading && a.fetched == b.fetched &&
           same_slot_phase(a, b);
}

// Do the other ports look alike from both states, up to patterns_end()?
bool core::implementation::same_slot_phase(const machine& a, const machine& b) const {
    if (b.cursor.next_due == never) return a.cursor.next_due == never;
    const slot from_a = a.next_issue << slot_shift, from_b = b.next_issue << slot_shift;
    if (a.cursor.served == b.cursor.served && b.cursor.next_due >= from_b)
        return true;  // nothing due in between
    for (std::size_t p = 0; p < sram_ports; ++p) {
        const slot due_a = a.cursor.due[p], due_b = b.cursor.due[p];
        if ((due_a == never) != (due_b == never)) return false;
        if (due_a == never) continue;
        if (due_a - from_a != due_b - from_b || a.cursor.phase[p] != b.cursor.phase[p]) return false;
    }
    return true;
}

// The first cycle in which the patterns may stop looking alike.
cycle core::implementation::patterns_end() const {
    const slot_cursor& cursor = live.cursor;
    if (cursor.next_due == never) return never;
    if (probe.snapshot.cursor.served == cursor.served) return cursor.next_due >> slot_shift;
    slot end = never;
    for (std::size_t p = 0; p < sram_ports; ++p) {
        const slot_pattern& pattern = schedule.pattern(static_cast<sram_port>(p));
        if (cursor.due[p] != never) end = std::min(end, pattern.due(pattern.count - 1));
    }
    return end >> slot_shift;
}

idle_loop core::implementation::proven_loop() const {
    const machine& before = probe.snapshot;
    idle_loop loop;
    loop.head = live.next_issue;
    loop.period = live.next_issue - before.next_issue;
    loop.wake = std::min(probe.next_change, patterns_end());
    loop.instructions = live.retired - before.retired;
    loop.load_use = live.load_use - before.load_use;
    loop.slot_wait = live.slot_wait - before.slot_wait;
    loop.register_wait = live.register_wait - before.register_wait;
    loop.first_record = probe.first_record;
    loop.last_record = records.size();
    loop.first_region = probe.first_region;
    loop.last_region = region_changes.size();
    return loop;
}

// Skips the iterations that are over before `until`; the core stands at the head of the next one.
void core::implementation::skip(const idle_loop& loop, cycle until) {
    until = std::min(until, loop.wake);
    if (until < loop.head + loop.period) return;
    const std::uint64_t n = (until - loop.head) / loop.period;
    live.next_issue += n * loop.period;
    live.last_issue += n * loop.period;
    live.retired += n * loop.instructions;
    live.skipped += n * loop.instructions;
    live.load_use += n * loop.load_use;
    live.slot_wait += n * loop.slot_wait;
    live.register_wait += n * loop.register_wait;
    history.repeat(loop.instructions, n);
    schedule.advance(live.cursor, live.next_issue << slot_shift);
    for (std::size_t k = loop.first_record; k < loop.last_record; ++k) {
        slice_record again = records[k];
        again.times *= n;
        again.skipped = true;
        records.push_back(again);
    }
    if (loop.first_region == loop.last_region) return;
    for (std::uint64_t k = 1; k <= n; ++k)
        for (std::size_t i = loop.first_region; i < loop.last_region; ++i)
            region_changes.push_back({region_changes[i].issue + k * loop.period, region_changes[i].region});
}

// The core jumped backwards. True when it now stands parked at the head of a proven idle loop.
bool core::implementation::at_edge(cycle limit, bool may_park) {
    if (!skips_idle()) {
        probe.edges_to_arm = never;
        return false;
    }
    const bool watched = live.pc == (probe.armed ? probe.pc : probe.head);
    if (!watched && --probe.edges_to_arm != 0) return false;
    probe.edges_to_arm = edges_elsewhere;
    if (!watched && live.pc == probe.busy && probe.busy_passes != 0) {
        --probe.busy_passes;
        return false;
    }
    if (!watched || !probe.armed) {
        arm_probe();
        return false;
    }
    settle_slots();
    if (probe.dirty == 0 && same_state(probe.snapshot, live)) {
        idle_loop loop = proven_loop();
        reset_probe();
        probe.head = live.pc;
        if (may_park && loop.wake >= limit) {
            parked = std::move(loop);
            return true;
        }
        skip(loop, limit);
        return false;
    }
    // Brent: the snapshot moves on in powers of two, so a loop that has settled is found whatever came before
    // it.
    if (++probe.arrivals == probe.next_snapshot) {
        probe.next_snapshot *= 2;
        take_snapshot();
    } else if (probe.arrivals >= most_arrivals ||
               live.retired - probe.armed_at > config.idle_probe_instructions) {
        const std::uint64_t back_off = std::min(probe.back_off * 4, last_back_off);
        if (probe.head == live.pc) probe.head = core_state::never32;
        if (live.cursor.next_due == never) {  // it is not just that the patterns do not settle
            probe.busy = live.pc;
            probe.busy_passes = last_back_off / edges_elsewhere;
        }
        reset_probe();
        probe.edges_to_arm = probe.back_off = back_off;
    }
    return false;
}

}  // namespace vinic::lanai
