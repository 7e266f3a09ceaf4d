// SPDX-License-Identifier: Apache-2.0
// What the tests of the core share: registers to play with, random programs, and the protocol of core.h in
// miniature.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <tuple>
#include <vector>

#include "hw/nic/lanai/core.h"
#include "hw/nic/lanai/isa.h"

namespace vinic::lanai::testing {

// Registers at 0xFFFFFE00: a FIFO (reading takes), a clock that ticks, a status that events change, and a log
// of stores.
class test_registers final : public device_port {
public:
    static constexpr std::uint32_t base = 0xFFFFFE00, fifo = base, clock = base + 0x40, status = base + 0x50;
    std::uint64_t tick_cycles = 16;
    std::uint32_t status_value = 0;
    std::uint32_t taken = 0;
    std::vector<std::tuple<std::uint32_t, std::uint32_t, cycle>> stores;

    bool mapped(std::uint32_t address, unsigned) const override { return address >= base; }
    std::uint32_t load(std::uint32_t address, unsigned bytes, cycle at) override {
        if (const auto known = peek(address, bytes, at)) return known->value;
        return low(0x1000 + ++taken * 4, bytes);
    }
    void store(std::uint32_t address, unsigned, std::uint32_t value, cycle at) override {
        stores.emplace_back(address, value, at);
    }
    std::optional<register_value> peek(std::uint32_t address, unsigned bytes, cycle at) const override {
        if (address == clock)
            return register_value{low(at / tick_cycles, bytes), (at / tick_cycles + 1) * tick_cycles};
        if (address == status) return register_value{low(status_value, bytes), never};
        return std::nullopt;
    }

private:
    static std::uint32_t low(std::uint64_t value, unsigned bytes) {
        return static_cast<std::uint32_t>(value & ((std::uint64_t{1} << 8 * bytes) - 1));
    }
};

struct event {
    cycle at;
    std::function<void()> act;         // may be empty: a mere sync
    std::function<bool()> needs_sync;  // empty: it does
};

// Runs a core up to `end`, as a wrapper would: events in order of time, each after sync; slices of random
// length, which may go past the next event so that the core has to rewind. `check` is called at each event,
// after its sync; `quiet` at one that needs none.
inline void drive(core& c, std::vector<event> events, cycle end, std::mt19937& random, cycle longest_slice,
                  const std::function<void(cycle)>& check, const std::function<void(cycle)>& quiet = {}) {
    events.push_back({end, {}, {}});
    std::size_t next = 0;
    cycle now = 0;
    while (next < events.size()) {
        const cycle enough = c.config().lockstep ? now + 1 : now + 1 + random() % longest_slice;
        const run_result r = c.run_ahead(enough, enough + random() % 64);
        const cycle event_at = events[next].at;
        if (r.reason == stop_reason::device_access && r.at < event_at) {
            now = r.at;
            c.sync(now);
            c.execute_device_access(now);
        } else if (r.reason == stop_reason::limit && r.at < event_at) {
            now = r.at;  // the slice is over; the next one starts there, committed
            c.sync(now);
        } else {
            now = event_at;
            const event& e = events[next++];
            if (!e.needs_sync || e.needs_sync()) {
                c.sync(now);
                check(now);
            } else {
                quiet(now);
            }
            if (e.act) e.act();
        }
    }
}

}  // namespace vinic::lanai::testing
