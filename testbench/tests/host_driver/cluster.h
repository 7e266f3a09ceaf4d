// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host_driver/fabric_directory.h"
#include "host_driver/kernel_agent.h"
#include "host_driver/myvia/myvia_driver.h"
#include "hw/host/address_space.h"
#include "hw/host/cpu.h"
#include "hw/host/memory.h"
#include "hw/sim/module.h"
#include "hw/sim/simulation.h"
#include "testbench/tests/host_driver/fake_card.h"

namespace vinic::driver::test {

/// A machine with a fake card and the real kernel agent.
struct machine : sim::module {
    machine(const sc_core::sc_module_name& name, unsigned index, fake_network& network,
            const fabric_directory& fabric, sim::picoseconds byte_ps)
        : sim::module(name),
          number(index),
          cpu("cpu", ram, false),
          card(cpu, network),
          driver("driver", cpu, card.window(), fake_card::image(),
                 {.sram_bytes = 2u << 20, .byte_time = byte_ps}),
          agent("agent", cpu, driver, fabric, make_node_address(index, 0), 0) {}

    unsigned number;
    host::memory ram{"memory"};
    host::cpu cpu;
    fake_card card;
    myvia_driver driver;
    kernel_agent agent;
    std::vector<std::unique_ptr<host::address_space>> spaces;
};

using settings = std::vector<std::pair<std::string, std::string>>;

inline sim::configuration configured(const settings& values) {
    sim::configuration config;
    for (const auto& [name, value] : values) config.set(name, {value, "test", ""});
    return config;
}

/// Machines m0, m1, ... with a wire from each to each.
struct cluster {
    explicit cluster(unsigned count = 2, const settings& values = {}, sim::picoseconds byte_ps = 4000)
        : simulation(configured(values)) {
        for (unsigned i = 0; i < count; ++i)
            fabric.add_card("m" + std::to_string(i), 0, make_node_address(i, 0));
        for (unsigned from = 0; from < count; ++from)
            for (unsigned to = 0; to < count; ++to)
                if (from != to)
                    fabric.set_route(make_node_address(from, 0), make_node_address(to, 0),
                                     {static_cast<std::uint8_t>(to)});
        for (unsigned i = 0; i < count; ++i)
            machines.push_back(
                std::make_unique<machine>(("m" + std::to_string(i)).c_str(), i, network, fabric, byte_ps));
    }

    sim::simulation simulation;
    fake_network network;
    fabric_directory fabric;
    std::vector<std::unique_ptr<machine>> machines;
    std::vector<host::process*> running;

    using body = std::function<void(host::process&, host::address_space&)>;

    /// A process of its own on that machine.
    void spawn(unsigned on, const body& what) {
        machine& m = *machines[on];
        m.spaces.push_back(
            std::make_unique<host::address_space>(m.ram, on, static_cast<unsigned>(m.spaces.size())));
        host::address_space& space = *m.spaces.back();
        running.push_back(&m.cpu.spawn("p" + std::to_string(running.size()), &space,
                                       [what, &space](host::process& self) { what(self, space); }));
    }

    /// Until all spawned processes have ended; fails the test when that takes longer than `limit_us`.
    void run(std::uint64_t limit_us = 10'000'000) {
        constexpr sim::picoseconds step = 1'000'000'000;
        while (!finished() && sim::now() < limit_us * 1'000'000) {
            sc_core::sc_start(sim::to_sc_time(step));
            for (const auto& m : machines)
                for (const auto& p : m->cpu.processes())
                    if (p->failure()) std::rethrow_exception(p->failure());
        }
        for (const host::process* p : running)
            EXPECT_TRUE(p->finished()) << p->name() << ' ' << p->activity();
    }
    bool finished() const {
        for (const host::process* p : running)
            if (!p->finished()) return false;
        return true;
    }
};

}  // namespace vinic::driver::test
