// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/bus/arbiter.h"
#include "hw/bus/tenure.h"

namespace vinic::bus {

/// Retries of a delayed read in closed form. While the target has not fetched the bytes, the initiator does
/// nothing but repeat and nobody else asks for the bus, each tenure is the one before it, `period` clocks
/// later:
///
///          REQ#         GNT#        address phase          STOP# seen        REQ#
///     requested(n)   decided(n)   tenure_of(n) ... first data + 1 ... requested(n + 1) ...
///     |<----------------------------- period --------------------------->|
///
/// Repetition 1 follows the tenure that was retried; its clocks are the arbiter's, all others follow. Whoever
/// disturbs asks how many are whole before the clock at hand and goes on from there. Pure arithmetic.
class repetition {
public:
    /// `requested` and `decided`: of repetition 1, whose address phase stands in `address`.
    repetition(unsigned master, const tenure& retried, std::uint64_t requested, std::uint64_t decided,
               std::uint64_t address)
        : master_(master),
          retried_(retried),
          requested_(requested),
          decided_(decided),
          period_(address - retried.clocks().address) {}

    unsigned master() const { return master_; }
    std::uint64_t requested(std::uint64_t n) const { return requested_ + (n - 1) * period_; }
    std::uint64_t decided(std::uint64_t n) const { return decided_ + (n - 1) * period_; }
    std::uint64_t address(std::uint64_t n) const { return retried_.clocks().address + n * period_; }
    std::uint64_t end(std::uint64_t n) const { return retried_.clocks().end + n * period_; }
    tenure tenure_of(std::uint64_t n) const { return retried_.later(n * period_); }

    /// Repetitions whose STOP# was seen before clock `clock`.
    std::uint64_t whole_before(std::uint64_t clock) const {
        const std::uint64_t seen = retried_.clocks().first_data + 1;
        return clock > seen ? (clock - 1 - seen) / period_ : 0;
    }
    /// Repetitions whose address phase stands before clock `clock`.
    std::uint64_t begun_before(std::uint64_t clock) const {
        const std::uint64_t begin = retried_.clocks().address;
        return clock > begin ? (clock - 1 - begin) / period_ : 0;
    }

private:
    unsigned master_;
    tenure retried_;
    std::uint64_t requested_;
    std::uint64_t decided_;
    std::uint64_t period_;
};

}  // namespace vinic::bus
