// SPDX-License-Identifier: Apache-2.0
// A block of the hardwired engine with the bus and host memory that it needs: PCI 32/33 (30 ns), engine at
// 33 MHz in step with it.
#pragma once

#include <functional>
#include <vector>

#include "hw/nic/vi_engine/host_transfers.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/nic/vi_engine/vi_context.h"
#include "testbench/tests/bus/bus_fixture.h"
#include "testbench/tests/nic/timeline.h"

namespace vinic::nic::test {

constexpr std::uint32_t host_base = 0x10000000, host_size = 1 << 16;
constexpr sim::picoseconds clock_ps = 30'000;

inline settings on_pci_33(settings given) {
    given.emplace_back("bus.clock_mhz", "33");
    return given;
}

struct engine_bench {
    explicit engine_bench(const settings& given = {}, std::uint64_t memory_clocks = 0)
        : simulation(configured(on_pci_33(given))),
          order(sim::clock_domain::from_mhz(33), memory_clocks),
          bus("bus"),
          master("master", bus.properties(), {0, 4, 0}),
          dma("dma", order, master),
          host("host", bus.properties(), host_base, host_size) {
        bus.attach(master);
        bus.map(bus.attach(host.port, {{0, 1, 0}}), host_base, host_size);
    }
    sim::simulation simulation;
    sequencer order;
    bus::pci_bus bus;
    bus::master master;
    host_transfers dma;
    bus::test::memory_target host;
    timeline script;

    /// Something from outside at edge n.
    void at(sequencer::edge n, std::function<void()> what) {
        script.at(n * clock_ps, [this, what] { order.input(rank::host, what); });
    }
    static sequencer::edge edge_now() { return sim::now() / clock_ps; }
};

}  // namespace vinic::nic::test
