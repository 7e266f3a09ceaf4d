// SPDX-License-Identifier: Apache-2.0
// The slots of a card's SRAM: who takes which (facts/lanai_pcix.md B2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace vinic::lanai {

using cycle = std::uint64_t;  // number of an edge of the LANai clock
using slot = std::uint64_t;   // number of an SRAM slot; slot s belongs to cycle s / slots_per_cycle
inline constexpr std::uint64_t never = ~std::uint64_t{0};

// The users of the SRAM above the core, highest priority first; the core takes what they leave.
enum class sram_port : std::uint8_t { host_access, host_dma, receive, send };
inline constexpr std::size_t sram_ports = 4;

// Slots that a port asks for: access k is due at the first slot at or after first + k * period, for k <
// count. It is served there, or in the next slot that no access of higher priority, and no earlier one of its
// own, takes.
struct slot_pattern {
    slot first = 0;
    std::uint64_t period_numerator =
        1;  // period in slots, a ratio so that a byte time of the link does not drift
    std::uint64_t period_denominator = 1;
    std::uint64_t count = 0;  // count * period_numerator stays below 2^64

    slot due(std::uint64_t k) const {
        return first + (k * period_numerator + period_denominator - 1) / period_denominator;
    }
};

// How far a reader of the schedule has come: slots below `position` are decided.
struct slot_cursor {
    slot position = 0;
    slot next_due = never;  // the earliest due slot of an access not yet served
    std::array<slot, sram_ports> due{never, never, never, never};  // of each port's next access
    std::array<std::uint64_t, sram_ports>
        phase{};  // of each port's next access: k * period modulo 1, in denominators
    std::array<std::uint64_t, sram_ports> served{};  // accesses of each port's pattern that were served
};

class slot_schedule {
public:
    // The port's accesses from slot `now` on; what is left of its earlier pattern is dropped. Count 0: no
    // more.
    void set(sram_port port, const slot_pattern& pattern, slot now);
    const slot_pattern& pattern(sram_port port) const { return patterns_[static_cast<std::size_t>(port)]; }

    // To be told to every cursor when a port's pattern was replaced.
    void restart(slot_cursor& cursor, sram_port port) const;
    // Serves everything due below `to`; the cursor stands at `to` unless it was further.
    void advance(slot_cursor& cursor, slot to) const;
    // The first slot at or after `from` that the ports leave to the core; the cursor stands behind it.
    slot take(slot_cursor& cursor, slot from) const;

    // The first slot at or after `from` in which one more access of `port` would be served: after those of
    // higher priority and after its own pattern's. `from` is not before the last set().
    slot next_free(sram_port port, slot from) const;
    // The slot that serves access k of the port's pattern, with the patterns now in force.
    slot served_at(sram_port port, std::uint64_t k) const;

private:
    void serve(slot_cursor& cursor) const;
    slot_cursor cursor_of(std::size_t ports) const;

    std::array<slot_pattern, sram_ports> patterns_{};
    std::array<std::uint64_t, sram_ports> whole_{}, part_{};  // of the period, in slots and denominators
    // Where the ports stood when a pattern was last set. Lower ones never hold up higher ones, so it serves
    // for all.
    slot_cursor ports_;
};

}  // namespace vinic::lanai
