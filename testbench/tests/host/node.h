// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hw/host/cpu.h"
#include "hw/host/memory.h"
#include "hw/sim/simulation.h"

namespace vinic::host::test {

using settings = std::vector<std::pair<std::string, std::string>>;

inline sim::configuration configured(const settings& values) {
    sim::configuration config;
    for (const auto& [name, value] : values) config.set(name, {value, "test", ""});
    return config;
}

/// Round costs that tell themselves apart in a sum; a clock is a nanosecond.
inline settings round_costs(settings more = {}) {
    settings all{{"cpu.clock_mhz", "1000"},
                 {"cpu.count", "1"},
                 {"cpu.trap_entry_clocks", "200"},
                 {"cpu.trap_exit_clocks", "300"},
                 {"cpu.context_switch_clocks", "2000"},
                 {"cpu.process_wake_clocks", "5000"},
                 {"cpu.interrupt_delivery_ns", "1000"},
                 {"cpu.interrupt_entry_clocks", "500"},
                 {"cpu.interrupt_exit_clocks", "400"},
                 {"cpu.copy_call_clocks", "30"},
                 {"cpu.copy_bytes_per_clock", "0.5"},
                 {"cpu.dma_line_miss_ns", "150"},
                 {"cpu.barrier_clocks", "30"},
                 {"cpu.time_slice_us", "100"}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

/// A node without its bridge.
struct node {
    explicit node(const settings& values, bool free = false)
        : simulation(configured(values)), cpu("cpu", ram, free) {}

    sim::simulation simulation;
    memory ram{"memory"};
    vinic::host::cpu cpu;

    void run_us(std::uint64_t us) { sc_core::sc_start(sim::to_sc_time(us * 1'000'000)); }
};

inline constexpr sim::picoseconds ns = 1000;
inline constexpr sim::picoseconds us = 1000 * ns;

/// A SystemC thread of the test's own, hardware as far as the host is concerned.
template <typename F>
void hardware(F what) {
    sc_core::sc_spawn(what);
}

inline void wait_until(sim::picoseconds at) { sc_core::wait(sim::delay_until(at)); }

template <typename Word>
std::vector<std::byte> bytes_of(Word word) {
    const auto raw = std::as_bytes(std::span(&word, 1));
    return {raw.begin(), raw.end()};
}

inline std::uint32_t word_at(memory& ram, physical_address at) {
    std::array<std::byte, 4> raw;
    ram.read(at, raw);
    return std::bit_cast<std::uint32_t>(raw);
}

}  // namespace vinic::host::test
