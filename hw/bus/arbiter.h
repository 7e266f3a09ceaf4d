// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace vinic::bus {

/// Who gets the bus next. A request is a master's number and the clock in which its REQ# is asserted; nothing
/// depends on the order in which requests are reported.
class arbiter {
public:
    enum class rule { round_robin, fixed };
    enum class park { none, last, first };

    arbiter() = default;
    /// `latency`: clocks from REQ# to the address phase on an idle bus.
    arbiter(rule by, park where, std::uint64_t latency) : rule_(by), park_(where), latency_(latency) {}

    void add_master() { requests_.emplace_back(); }
    void request(unsigned master, std::uint64_t clock) { requests_[master] = clock; }
    bool requests(unsigned master) const { return requests_[master].has_value(); }
    std::uint64_t requested(unsigned master) const { return *requests_[master]; }
    void withdraw(unsigned master) { requests_[master].reset(); }
    void granted(unsigned master) { last_ = master; }
    /// No request of this master is seen before `clock`: it had to release REQ#.
    void release_until(unsigned master, std::uint64_t clock);

    /// The earliest clock at whose edge a decision is due, when the bus is free for an address phase in clock
    /// `free` and later; nothing when nobody requests.
    std::optional<std::uint64_t> decision(std::uint64_t free) const;

    struct choice {
        unsigned master;
        std::uint64_t address_clock;
    };
    /// The winner of the decision at the edge of `clock`, if anybody is due.
    std::optional<choice> decide(std::uint64_t clock, std::uint64_t free) const;

    /// Whether an owner that asks again keeps its GNT# from others.
    bool prefers_owners() const { return rule_ == rule::fixed; }
    /// Somebody else takes the bus from `owner` after its tenure: the clock from which its GNT# is gone. Only
    /// requests in clock `seen_by` and before count; who asks again no later than others of less priority
    /// keeps it.
    std::optional<std::uint64_t> grant_lost(unsigned owner, std::uint64_t seen_by) const;
    /// Whether there is a request in a clock after this one.
    bool requested_after(std::uint64_t clock) const;

private:
    std::optional<unsigned> parked() const;
    std::optional<unsigned> winner(std::uint64_t seen_by) const;

    rule rule_ = rule::round_robin;
    park park_ = park::none;
    std::uint64_t latency_ = 2;
    std::vector<std::optional<std::uint64_t>> requests_;
    std::optional<unsigned> last_;
};

}  // namespace vinic::bus
