// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace vinic::bus {
namespace {

constexpr std::uint64_t low_half = 0xFFFF'FFFF;
constexpr std::uint64_t later_limit_clocks = 8;  ///< PCI: from one data phase to the next
constexpr std::uint64_t irdy_limit_clocks = 8;   ///< PCI: the initiator's part of it
constexpr std::uint64_t retry_limit_clocks = 8;  ///< PCI-X
constexpr std::uint64_t released_clocks = 2;     ///< PCI: REQ# after a target termination
constexpr std::uint64_t adb_notice_phases = 4;   ///< PCI-X

bool quiet(const bus_clock& w) { return !w.frame && !w.irdy; }
bool driven(const bus_clock& w) { return (w.ad_floating & low_half) == 0; }

}  // namespace

void protocol_checker::broken(std::uint64_t clock, const std::string& rule) {
    violations_.push_back(fmt::format("clock {}: {}", clock, rule));
}

void protocol_checker::sample(const bus_clock& w) {
    if (w.clock > before_.clock + 1 && !quiet(before_)) {
        bus_clock none;
        none.clock = before_.clock + 1;
        sample(none);
    }
    if (w.clock > before_.clock + 1) {
        before_ = {};
        before_.clock = w.clock - 1;
    }
    if (std::popcount(w.gnt) > 1) broken(w.clock, "more than one GNT#");
    release(w);
    if (t_)
        step(w);
    else
        idle(w);
    before_ = w;
}

void protocol_checker::finish() {
    if (!quiet(before_)) {
        bus_clock none;
        none.clock = before_.clock + 1;
        sample(none);
    }
    if (t_) broken(before_.clock, "the last transaction does not end");
    for (const auto& [who, clock] : retried_)
        broken(clock, fmt::format("master {} never repeats what was retried at {:#x}", std::get<0>(who),
                                  std::get<2>(who)));
    for (const auto& [sequence, bytes] : owed_)
        broken(before_.clock,
               fmt::format("tag {} never gets its last {} bytes", std::get<1>(sequence), bytes));
}

// --- both kinds
// ----------------------------------------------------------------------------------------------

void protocol_checker::idle(const bus_clock& w) {
    if (w.frame) {
        begin(w);
    } else if (w.irdy || w.devsel || w.trdy || w.stop) {
        broken(w.clock, "a control signal outside of a transaction");
    }
}

void protocol_checker::begin(const bus_clock& w) {
    t_ = seen{.start = w.clock, .last_address = w.clock, .last_event = w.clock};
    if (!quiet(before_)) broken(w.clock, "FRAME# without an idle clock before");
    if (std::popcount(before_.gnt) == 1)
        t_->owner = static_cast<unsigned>(std::countr_zero(before_.gnt));
    else
        broken(w.clock, "FRAME# without GNT#");
    if (w.irdy || w.devsel || w.trdy || w.stop) broken(w.clock, "a control signal in the address phase");
    if (!driven(w) || (w.cbe_floating & 0xF)) broken(w.clock, "nobody drives the address");
    t_->dual = (w.cbe & 0xF) == static_cast<unsigned>(command::dual_address);
    t_->command = static_cast<command>(w.cbe & 0xF);
    t_->address = w.ad & low_half;
    t_->asked_wide = w.req64;
    if (w.req64 && bus_.width_bytes == 4) broken(w.clock, "REQ64# on a 32-bit bus");
}

void protocol_checker::second_address(const bus_clock& w) {
    t_->last_address = t_->last_event = w.clock;
    t_->command = static_cast<command>(w.cbe & 0xF);
    t_->address |= (w.ad & low_half) << 32;
    if (t_->address >> 32 == 0) broken(w.clock, "a dual address cycle below 4 GiB");
    if (!w.frame || w.irdy || w.devsel) broken(w.clock, "a control signal in the second address phase");
}

void protocol_checker::step(const bus_clock& w) {
    if (t_->dual && w.clock == t_->start + 1) {
        second_address(w);
        return;
    }
    if (w.clock == t_->last_address + 1) repetition();
    if (quiet(w)) {
        if (w.devsel || w.trdy || w.stop) broken(w.clock, "the target does not let go");
        if (!pcix() && before_.frame) broken(w.clock, "FRAME# rises without IRDY#");
        end();
        return;
    }
    if (w.frame && t_->frame_up) broken(w.clock, "FRAME# falls again");
    t_->frame_up |= !w.frame;
    if (w.cbe_floating & 0xF) broken(w.clock, "nobody drives C/BE#");
    target_rules(w);
    pcix() ? pcix_rules(w) : pci_rules(w);
}

/// DEVSEL# comes first, stays, and only an abort (or a PCI-X termination) takes it away.
void protocol_checker::target_rules(const bus_clock& w) {
    if (w.devsel && !t_->devsel) {
        t_->devsel = w.clock;
        t_->wide = w.ack64;
        const std::uint64_t decode = w.clock - t_->last_address - (pcix() ? 1 : 0);
        const bool legal =
            pcix() ? decode == 1 || decode == 2 || decode == 3 || decode == 5 : decode >= 1 && decode <= 4;
        if (!legal) broken(w.clock, fmt::format("no decode speed has {} clocks", decode));
    }
    if (w.ack64 && (!w.devsel || bus_.width_bytes == 4)) broken(w.clock, "ACK64# without a 64-bit claim");
    if (w.ack64 && !t_->asked_wide) broken(w.clock, "ACK64# without REQ64#");
    if ((w.trdy || w.stop) && !t_->devsel) broken(w.clock, "TRDY# or STOP# before DEVSEL#");
    if (t_->devsel && !w.devsel && !w.stop && !w.trdy) broken(w.clock, "DEVSEL# does not stay");
}

void protocol_checker::end() {
    ++transactions_;
    pcix() ? pcix_end() : pci_end();
    t_.reset();
}

/// What was retried comes again with the same command and address.
void protocol_checker::repetition() {
    if (t_->owner) retried_.erase({*t_->owner, t_->command, t_->address});
}

// --- PCI
// -----------------------------------------------------------------------------------------------------

void protocol_checker::pci_rules(const bus_clock& w) {
    const std::uint64_t since = w.clock - t_->last_event;
    if (read() && w.clock == t_->last_address + 1) {
        if (driven(w)) broken(w.clock, "AD does not turn around after a read's address");
        if (w.trdy) broken(w.clock, "TRDY# in the turnaround clock");
    }
    if (!w.irdy && t_->devsel && since >= irdy_limit_clocks) broken(w.clock, "IRDY# later than 8 clocks");
    if (before_.irdy && !w.irdy && !(before_.trdy || before_.stop) && t_->devsel)
        broken(w.clock, "IRDY# rises before its data phase ends");
    if (before_.stop && before_.frame && !w.stop) broken(w.clock, "STOP# rises before FRAME#");
    if (w.stop && w.irdy && !t_->stop) {
        t_->stop = w.clock;
        // Who asks only now has had REQ# off since its address phase.
        const bool asking = t_->owner && (w.req >> *t_->owner & 1) != 0;
        if (t_->owner) released_ = {*t_->owner, w.clock + 1, w.clock + (asking ? released_clocks : 1)};
    }
    if (w.irdy && w.trdy) pci_data(w);
    const std::uint64_t limit = t_->phases == 0 ? bus_.initial_limit_clocks : later_limit_clocks;
    const std::uint64_t begin = t_->phases == 0 ? t_->start : t_->last_event + 1;
    if (!w.trdy && !w.stop && t_->devsel && w.frame && w.clock + 1 - begin >= limit)
        broken(w.clock, fmt::format("no data and no STOP# for {} clocks", limit));
}

void protocol_checker::pci_data(const bus_clock& w) {
    if (t_->stopped_with_data) broken(w.clock, "data after a disconnect");
    if (t_->phases > 0 && t_->frame_up && !before_.frame && before_.irdy && before_.trdy)
        broken(w.clock, "data after the last data phase");
    if (!driven(w)) broken(w.clock, "nobody drives the data");
    ++t_->phases;
    t_->last_event = w.clock;
    t_->stopped_with_data = w.stop;
}

void protocol_checker::pci_end() {
    const std::uint64_t now = before_.clock + 1;
    if (!t_->devsel) {
        if (now < t_->last_address + 5) broken(now, "master abort before the subtractive decoder");
        return;
    }
    const bool aborted = t_->stop && t_->phases == 0 && !before_.devsel;
    if (t_->phases == 0 && !t_->stop) broken(now, "the initiator leaves without data");
    if (!t_->owner || aborted) return;
    if (t_->phases == 0) retried_[{*t_->owner, t_->command, t_->address}] = now;
    if (t_->command == command::write_and_invalidate && !t_->stop) {
        const std::uint64_t next = t_->address / width() * width() + t_->phases * width();
        if (next % bus_.cache_line_bytes) broken(now, "write and invalidate ends inside a cache line");
    }
}

/// After a target termination REQ# stays off for two clocks.
void protocol_checker::release(const bus_clock& w) {
    if (pcix() || w.clock < released_.from || w.clock > released_.to) return;
    if (w.req >> released_.master & 1) broken(w.clock, "REQ# is not released after STOP#");
}

// --- PCI-X
// ---------------------------------------------------------------------------------------------------

void protocol_checker::pcix_rules(const bus_clock& w) {
    if (w.clock == t_->last_address + 1) {
        if (w.irdy || w.devsel) broken(w.clock, "a control signal in the attribute phase");
        if (!driven(w)) broken(w.clock, "nobody drives the attributes");
        t_->attributes = w.ad & low_half;
        t_->byte_count = static_cast<std::uint32_t>((w.cbe & 0xF) << 8 | (w.ad & 0xFF));
        if (t_->byte_count == 0) t_->byte_count = max_sequence_bytes;
        return;
    }
    if (!w.irdy) broken(w.clock, "an initiator wait state");
    if (w.stop && !t_->stop) t_->stop = w.clock;
    if (w.trdy && !w.devsel && !w.stop) {
        t_->split = true;
        if (!read()) broken(w.clock, "a split response to something other than a read");
        return;
    }
    if (w.trdy) pcix_data(w);
    const std::uint64_t limit = bus_.initial_limit_clocks;
    if (t_->phases == 0 && t_->devsel && !w.stop && w.clock + 1 - t_->start >= limit)
        broken(w.clock, fmt::format("no data and no STOP# for {} clocks", limit));
}

void protocol_checker::pcix_data(const bus_clock& w) {
    if (!driven(w)) broken(w.clock, "nobody drives the data");
    if (t_->phases > 0 && w.clock != t_->last_event + 1)
        broken(w.clock, "a target wait state after the first data");
    if (t_->phases == 0 && !read() && t_->devsel && (w.clock - *t_->devsel - 1) % 2 != 0)
        broken(w.clock, "an odd number of wait states in a write");
    ++t_->phases;
    t_->last_event = w.clock;
    t_->stopped_with_data = w.stop;
}

void protocol_checker::pcix_end() {
    const std::uint64_t now = before_.clock + 1;
    const bool completion = t_->command == command::split_completion;
    const std::tuple sequence{t_->attributes >> 8 & 0xFFFF,
                              static_cast<std::uint8_t>(t_->attributes >> 24 & 31)};
    if (!t_->devsel) {
        if (now < t_->last_address + 7) broken(now, "master abort before the subtractive decoder");
        return;
    }
    if (t_->split) return pcix_split(sequence);
    if (t_->phases == 0) {
        if (!t_->stop) broken(now, "the initiator leaves without data");
        if (!before_.devsel) return;  // target abort
        if (completion) broken(now, "a requester retries its completion");
        if (t_->stop && *t_->stop + 1 - t_->start > retry_limit_clocks)
            broken(now, "retry later than 8 clocks");
        if (t_->owner) retried_[{*t_->owner, t_->command, t_->address}] = now;
        return;
    }
    const std::uint64_t bytes = t_->phases * width() - t_->address % width();
    if (completion) pcix_completion();
    if (!is_dword(t_->command) && bytes < t_->byte_count) pcix_disconnect(bytes);
    if (!is_dword(t_->command) && bytes >= t_->byte_count + width())
        broken(now, "more data than the byte count");
}

void protocol_checker::pcix_split(const std::tuple<std::uint64_t, std::uint8_t>& sequence) {
    const std::uint32_t bytes = is_dword(t_->command) ? 4 : t_->byte_count;
    if (!owed_.emplace(sequence, bytes).second)
        broken(before_.clock,
               fmt::format("tag {} is used while its completion is awaited", std::get<1>(sequence)));
}

/// The address phase of a completion carries the requester and tag in AD[28:8].
void protocol_checker::pcix_completion() {
    const std::uint64_t now = before_.clock + 1;
    const std::tuple sequence{t_->address >> 8 & 0xFFFF, static_cast<std::uint8_t>(t_->address >> 24 & 31)};
    const auto owed = owed_.find(sequence);
    if (owed == owed_.end()) {
        broken(now, "a completion that nobody awaits");
        return;
    }
    const bool error = t_->attributes >> 30 & 1;
    const std::uint64_t here =
        std::min<std::uint64_t>(t_->byte_count, t_->phases * width() - t_->address % width());
    if (!error && t_->byte_count > owed->second) broken(now, "a completion of more bytes than are owed");
    if (error || here >= owed->second)
        owed_.erase(owed);
    else
        owed->second -= static_cast<std::uint32_t>(here);
}

/// Before its byte count a burst ends at an ADB, at least four data phases after its start, or after a single
/// data phase.
void protocol_checker::pcix_disconnect(std::uint64_t bytes) {
    const std::uint64_t now = before_.clock + 1;
    if (t_->phases == 1 && t_->stopped_with_data) return;
    if ((t_->address + bytes) % adb_bytes != 0) broken(now, "a disconnection that is not at an ADB");
    if (t_->phases < adb_notice_phases)
        broken(now, "a disconnection fewer than four data phases after the start");
}

}  // namespace vinic::bus
