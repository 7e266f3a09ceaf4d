// SPDX-License-Identifier: Apache-2.0
#include "hw/link/checker.h"

#include <fmt/format.h>

#include <utility>

#include "hw/link/crc.h"

namespace vinic::link {

void checker::see(const symbol& s) {
    if (s.at < last_seen_) report(s, rule::time, fmt::format("earlier than {} ps", last_seen_));
    last_seen_ = s.at;
    switch (s.what) {
        case symbol::kind::data:
            see_character(s);
            if (in_packet_ == 0) see_first(s);
            ++in_packet_;
            crc_ = crc8({&s.byte, 1}, crc_);
            break;
        case symbol::kind::gap:
            see_character(s);
            see_gap(s);
            break;
        case symbol::kind::stop:
            if (!stopped_) stopped_at_ = s.at;
            stopped_ = true;
            break;
        case symbol::kind::go:
            stopped_ = false;
            break;
    }
}

void checker::see_character(const symbol& s) {
    if (last_character_ != sim::never && s.at < last_character_ + settings_.byte_ps)
        report(s, rule::spacing, fmt::format("{} ps after the character before", s.at - last_character_));
    last_character_ = s.at;
    // STOP travels to the sender, the character that starts just then is finished and travels here.
    const sim::picoseconds reaction = 2 * settings_.delay_ps + settings_.byte_ps;
    if (stopped_ && s.at > stopped_at_ + reaction)
        report(s, rule::flow,
               fmt::format("a character {} ps after STOP, allowed are {}", s.at - stopped_at_, reaction));
}

void checker::see_first(const symbol& s) {
    const bool route = (s.byte & 0x80) != 0;
    if (settings_.to == leads_to::a_switch && !route)
        report(s, rule::route,
               fmt::format("a packet for a switch begins with {:#04x}, no route byte", s.byte));
    if (settings_.to == leads_to::node && route)
        report(s, rule::route, fmt::format("a packet for a node begins with the route byte {:#04x}", s.byte));
}

void checker::see_gap(const symbol& s) {
    if (in_packet_ < 2) report(s, rule::empty_packet, fmt::format("GAP after {} bytes", in_packet_));
    if (settings_.crc8 && in_packet_ >= 2 && crc_ != 0)
        report(s, rule::crc,
               fmt::format("a packet of {} bytes with the remainder {:#04x}", in_packet_, crc_));
    ++packets_;
    in_packet_ = 0;
    crc_ = 0;
}

void checker::report(const symbol& s, rule broken, std::string text) {
    violations_.push_back({s.at, broken, std::move(text)});
}

}  // namespace vinic::link
