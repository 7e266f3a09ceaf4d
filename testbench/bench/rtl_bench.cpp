// SPDX-License-Identifier: Apache-2.0
// Blocks in RTL beside their models: clocks of the LANai, doorbells, blocks of the host DMA, and characters of a link,
// in a second.
#include <benchmark/benchmark.h>

#include <systemc>

#include "firmware/abi/card_map.h"
#include "hw/nic/bytes.h"
#include "hw/nic/doorbell_region.h"
#include "hw/nic/host_dma.h"
#include "hw/rtl/lanai/lanai_block.h"
#include "hw/rtl/link/deframer_block.h"
#include "hw/rtl/link/framer_block.h"
#include "hw/sim/simulation.h"
#include "testbench/tests/bus/bus_fixture.h"
#include "testbench/tests/firmware/card.h"

namespace vinic {
namespace {

/// A doorbell in every tenth clock of the card into a queue that firmware empties.
void doorbells(benchmark::State& state, const char* impl, bool gated) {
    sim::configuration config;
    config.set("doorbells.impl", {impl, "bench", ""});
    if (!gated) config.set("doorbells.rtl.gated", {"false", "bench", ""});
    sim::simulation simulation(config);
    const nic::card_clock clock(sim::clock_domain::from_mhz(133));
    nic::sram memory("sram", clock, nic::traits_of("lanai9"));
    nic::special_registers registers("registers", clock, nic::traits_of("lanai9"), memory);
    nic::doorbell_region region("doorbells", memory, registers);
    const std::vector<std::uint8_t> free(8, 0xFF);
    std::uint32_t entry = 0;
    memory.poke(0, std::vector<std::uint8_t>(4096, 0xFF));
    sim::timer ring([&] {
        region.ring(entry, entry, [&] { memory.poke(entry++ % 512 * 8, free); });
        ring.set(clock.time_of(clock.seen() + 9));
    });
    ring.set(clock.time_of(1));
    for (auto _ : state) sc_core::sc_start(sim::to_sc_time(clock.time_of(10'000)));
    state.counters["doorbells/s"] =
        benchmark::Counter(static_cast<double>(region.doorbells.value()), benchmark::Counter::kIsRate);
    state.counters["clocks/s"] =
        benchmark::Counter(static_cast<double>(state.iterations()) * 10'000, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(doorbells, model, "model", true);
BENCHMARK_CAPTURE(doorbells, rtl, "rtl", true);
BENCHMARK_CAPTURE(doorbells, rtl_free_running, "rtl", false);

/// Blocks of 1 KB from host to card and back, without a pause, on PCI 64/66; clocks are those of the bus.
void blocks(benchmark::State& state, bus::implementation how, bool gated) {
    sim::configuration config;
    if (!gated) {
        config.set("dma.rtl.gated", {"false", "bench", ""});
        config.set("master.rtl.gated", {"false", "bench", ""});
    }
    sim::simulation simulation(config);
    const nic::card_clock clock(sim::clock_domain::from_mhz(133));
    bus::pci_bus bus("bus");
    nic::sram memory("sram", clock, nic::traits_of("lanai9"));
    nic::special_registers registers("registers", clock, nic::traits_of("lanai9"), memory);
    bus::master master("master", bus.properties(), {0, 4, 0}, how);
    nic::host_dma dma("dma", clock, memory, registers, master, how);
    bus::test::memory_target host("host", bus.properties(), 0, 0x10000);
    bus.attach(master);
    bus.map(bus.attach(host.port, {{0, 1, 0}}), 0, 0x10000);
    for (std::uint32_t i = 0; i < 2; ++i) {
        std::uint8_t raw[sizeof(abi::dma_block)] = {};
        nic::store_big(raw, (0x1000 + 24 * (1 - i)) | (i == 0 ? abi::dma_flag_host_to_lanai : 0));
        nic::store_big(raw + 8, 1024);
        nic::store_big(raw + 12, 0x4000);
        nic::store_big(raw + 20, 0x1000 * i);
        memory.poke(0x1000 + 24 * i, raw);
    }
    dma.channel0.set_base(0x1000);
    dma.pulse(1);
    for (auto _ : state) {
        sc_core::sc_start(sim::to_sc_time(bus.properties().clock.edge(10'000)));
        host.scheduled.clear();
        host.moved.clear();
    }
    state.counters["blocks/s"] =
        benchmark::Counter(static_cast<double>(dma.channel0.blocks.value()), benchmark::Counter::kIsRate);
    state.counters["clocks/s"] =
        benchmark::Counter(static_cast<double>(state.iterations()) * 10'000, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(blocks, model, bus::implementation::model, true);
BENCHMARK_CAPTURE(blocks, rtl, bus::implementation::rtl, true);
BENCHMARK_CAPTURE(blocks, rtl_free_running, bus::implementation::rtl, false);

/// Framer and deframer back to back, packets of 64 bytes without a pause; a clock is two blocks.
void characters(benchmark::State& state) {
    sim::simulation simulation;
    rtl::framer_block framer("framer");
    rtl::deframer_block deframer("deframer");
    deframer.set_thresholds(56, 40);
    std::uint64_t clocks = 0, offered = 0;
    rtl::framer_block::outputs before;
    for (auto _ : state) {
        const auto out = framer.drive(
            {.valid = true, .byte = static_cast<std::uint8_t>(offered), .last = offered % 64 == 63});
        offered += out.ready;
        deframer.drive({.valid = before.valid, .gap = before.gap, .byte = before.byte, .take = true});
        framer.clock();
        deframer.clock();
        before = out;
        ++clocks;
    }
    state.counters["clocks/s"] = benchmark::Counter(static_cast<double>(clocks), benchmark::Counter::kIsRate);
}
BENCHMARK(characters);

/// The firmware of core_bench, `slice` cycles from one sync to the next; in lock-step and RTL one.
void firmware(benchmark::State& state, lanai::cycle slice, const lanai::testing::card::maker& make) {
    const sim::simulation simulation;
    lanai::testing::card card(VINIC_BINARY_DIR "/testbench/bench/firmware_loop.elf", {}, 1u << 20, make);
    lanai::cycle now = 0;
    for (auto _ : state)
        for (const lanai::cycle end = now + 20'000; now < end;) {
            card.core().run_ahead(now + slice);
            now += slice;
            card.core().sync(now);
        }
    state.counters["clocks/s"] = benchmark::Counter(static_cast<double>(now), benchmark::Counter::kIsRate);
    state.counters["CPI"] = static_cast<double>(now) / static_cast<double>(card.core().counters().retired);
}
std::unique_ptr<lanai::processor> model(lanai::core_config config, bool lockstep,
                                        std::span<std::uint8_t> sram, lanai::device_port& devices) {
    config.lockstep = lockstep;
    return std::make_unique<lanai::core>(config, sram, devices);
}
void firmware_model(benchmark::State& state) {
    firmware(state, 20'000, [](const auto& c, auto sram, auto& d) { return model(c, false, sram, d); });
}
void firmware_model_lockstep(benchmark::State& state) {
    firmware(state, 1, [](const auto& c, auto sram, auto& d) { return model(c, true, sram, d); });
}
void firmware_rtl(benchmark::State& state) {
    firmware(state, 1, [](const auto& c, auto sram, auto& d) {
        return rtl::make_lanai(c, sram, d, sim::clock_domain::from_mhz(133));
    });
}
BENCHMARK(firmware_model);
BENCHMARK(firmware_model_lockstep);
BENCHMARK(firmware_rtl);

}  // namespace
}  // namespace vinic

BENCHMARK_MAIN();
