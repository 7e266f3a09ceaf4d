// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/bus/bus_properties.h"
#include "hw/bus/protocol.h"

namespace vinic::bus {

/// What decides the clocks of one tenure: known when the target has answered.
struct tenure_terms {
    bus_kind kind = bus_kind::pci;
    bool read = false;
    bool dual = false;         ///< dual address cycle
    bool claimed = true;       ///< a target asserts DEVSEL#
    bool whole_lines = false;  ///< write and invalidate: the initiator ends at a cache line only
    unsigned width_bytes = 4;  ///< REQ64# and ACK64#: 8
    std::uint32_t decode_clocks = 2;
    std::uint32_t initiator_wait_clocks = 0;
    std::uint32_t cache_line_bytes = 32;
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    target_answer answer;
};

/// The rule that the target's answer breaks, as text for its author; null when it is legal.
/// `initial_limit_clocks`: from FRAME# to the end of the first data phase.
const char* fault_of(const tenure_terms& terms, std::uint64_t initial_limit_clocks);

/// One tenure of the bus in closed form: every phase as a clock number, computed once; it can only get
/// shorter. Pure arithmetic: knows neither SystemC nor who the parties are. (facts/lanai_pcix.md C1, C2)
class tenure {
public:
    tenure() = default;
    /// The address phase stands in clock `address_clock`.
    tenure(const tenure_terms& terms, std::uint64_t address_clock);

    /// The same, `clocks` later.
    tenure later(std::uint64_t clocks) const;

    const tenure_terms& terms() const { return terms_; }
    const tenure_schedule& clocks() const { return clocks_; }
    ending_kind ending() const;
    /// The clock of the last address phase.
    std::uint64_t last_address() const { return clocks_.address + (terms_.dual ? 1 : 0); }
    /// STOP# is asserted in the last data phase, or instead of data.
    bool stopped() const { return stopped_; }
    /// The target is ready for data phase `n` from this clock on, the initiator from that one.
    std::uint64_t target_ready(std::uint64_t n) const;
    std::uint64_t initiator_ready(std::uint64_t n) const;
    std::uint64_t data_clock(std::uint64_t n) const { return clocks_.first_data + n * clocks_.stride; }
    /// From this clock on the initiator knows that it must leave (latency timer expired, GNT# gone); 0: it need
    /// not.
    std::uint64_t leaves() const { return leaves_; }
    /// The last clock in which FRAME# is asserted.
    std::uint64_t last_frame() const;
    /// The last clock in which IRDY# is asserted.
    std::uint64_t last_irdy() const { return clocks_.end - 2; }

    /// The initiator knows from clock `clock` on that it must leave (latency timer expired, GNT# gone). True
    /// when the tenure became shorter.
    bool cut_by_initiator(std::uint64_t clock);
    /// The target asserts STOP# from clock `clock` on.
    bool cut_by_target(std::uint64_t clock);

private:
    std::uint64_t offset() const { return terms_.address % terms_.width_bytes; }
    std::uint64_t all_phases() const;
    std::uint64_t phases_to(std::uint64_t boundary) const;
    std::uint64_t phases_to_adb(std::uint64_t at_least) const;
    std::uint64_t phases_by_limit() const;
    std::uint64_t phases_by_boundary() const;
    void place_first();
    void end_without_data();
    void end_after(std::uint64_t phases);

    tenure_terms terms_;
    tenure_schedule clocks_;
    bool stopped_ = false;
    std::uint64_t leaves_ = 0;  ///< the clock from which on the initiator knew that it must leave
};

}  // namespace vinic::bus
