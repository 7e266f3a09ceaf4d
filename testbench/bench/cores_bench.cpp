// SPDX-License-Identifier: Apache-2.0
// Speed of busy LANai cores in one SystemC simulation. items_per_second are instructions executed per second
// by all of them together.
#include <benchmark/benchmark.h>

#include <systemc>

#include <memory>
#include <string>
#include <vector>

#include "firmware/linker/image.h"
#include "hw/nic/lanai_core.h"
#include "hw/nic/special_registers.h"
#include "hw/nic/sram.h"
#include "hw/sim/simulation.h"

namespace vinic::nic {
namespace {

const char* const firmware = VINIC_BINARY_DIR "/testbench/bench/firmware_loop.elf";

/// As much of a card as a core needs that never stops.
struct busy_card : sim::module {
    busy_card(const sc_core::sc_module_name& name, const linker::image& image)
        : sim::module(name),
          memory("sram", clock, traits_of("lanai9")),
          registers("registers", clock, traits_of("lanai9"), memory),
          core("lanai", clock, memory, registers) {
        memory.attach(core);
        registers.attach(core);
        for (const linker::image_segment& s : image.segments()) memory.poke(s.address, s.bytes);
        core.release_reset();
    }
    std::uint64_t executed() { return core.core().counters().executed; }

    card_clock clock{sim::clock_domain::from_mhz(133)};
    sram memory;
    special_registers registers;
    lanai_core core;
};

void busy_cores(benchmark::State& state) {
    sim::simulation simulation;
    const linker::image image(firmware);
    std::vector<std::unique_ptr<busy_card>> cards;
    for (std::int64_t n = 0; n < state.range(0); ++n)
        cards.push_back(std::make_unique<busy_card>(("card" + std::to_string(n)).c_str(), image));
    const auto executed = [&cards] {
        sim::simulation::current().commit();
        std::uint64_t all = 0;
        for (const auto& c : cards) all += c->executed();
        return all;
    };
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    const std::uint64_t before = executed();
    for (auto _ : state) sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_MS));
    state.SetItemsProcessed(static_cast<std::int64_t>(executed() - before));
}
BENCHMARK(busy_cores)->Arg(1)->Arg(2)->Arg(8);

}  // namespace
}  // namespace vinic::nic

BENCHMARK_MAIN();
