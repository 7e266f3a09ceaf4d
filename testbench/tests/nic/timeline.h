// SPDX-License-Identifier: Apache-2.0
// What the tests of the card share: settings, and a script that does things at given times.
#pragma once

#include <systemc>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hw/nic/card_clock.h"
#include "hw/sim/module.h"
#include "hw/sim/simulation.h"

namespace vinic::nic::test {

using settings = std::vector<std::pair<std::string, std::string>>;

inline sim::configuration configured(const settings& given) {
    sim::configuration config;
    for (const auto& [name, value] : given) config.set(name, {value, "test", ""});
    return config;
}

/// 133 MHz: 7500 ps.
inline card_clock clock_133() { return card_clock(sim::clock_domain::from_mhz(133)); }

class timeline : public sim::module {
public:
    explicit timeline(const char* name = "script") : module(name) {
        SC_HAS_PROCESS(timeline);
        SC_METHOD(act);
        sensitive << event_;
        dont_initialize();
    }
    void at(sim::picoseconds when, std::function<void()> what) {
        todo_.emplace(when, std::move(what));
        event_.notify(sim::delay_until(todo_.begin()->first));
    }

private:
    void act() {
        while (!todo_.empty() && todo_.begin()->first <= sim::now()) {
            const auto what = std::move(todo_.begin()->second);
            todo_.erase(todo_.begin());
            what();
        }
        if (!todo_.empty()) event_.notify(sim::delay_until(todo_.begin()->first));
    }
    std::multimap<sim::picoseconds, std::function<void()>> todo_;
    sc_core::sc_event event_;
};

inline std::vector<std::uint8_t> counted(std::size_t size, unsigned seed = 1) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(seed + i * 7 + (i >> 8) * 13);
    return bytes;
}

}  // namespace vinic::nic::test
