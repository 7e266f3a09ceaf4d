// SPDX-License-Identifier: Apache-2.0
// Speed of the LANai core in the loop that firmware runs. items_per_second are executed instructions per
// second.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "testbench/tests/firmware/card.h"
#include "testbench/tests/lanai/reference.h"

namespace vinic::lanai::testing {
namespace {

const char* const firmware = VINIC_BINARY_DIR "/testbench/bench/firmware_loop.elf";
constexpr cycle start_up = 50'000;

core_config lanai7() { return {.slots_per_cycle = 2, .slot_bytes = 8}; }

void report(benchmark::State& state, const core_counters& before, const core_counters& after, cycle cycles) {
    const auto executed = static_cast<double>(after.executed - before.executed);
    state.SetItemsProcessed(static_cast<std::int64_t>(executed));
    state.counters["CPI"] = static_cast<double>(cycles) / executed;
    state.counters["again_%"] = 100 * static_cast<double>(after.reexecuted - before.reexecuted) / executed;
}

// Slices of `slice` cycles, committed at their end.
void slices(benchmark::State& state, const core_config& config) {
    const auto slice = static_cast<cycle>(state.range(0));
    card c(firmware, config);
    cycle now = start_up;
    c.core().sync(now);
    const core_counters before = c.core().counters();
    for (auto _ : state) {
        c.core().run_ahead(now + slice);
        now += slice;
        c.core().sync(now);
    }
    report(state, before, c.core().counters(), now - start_up);
}
void core_lanai9(benchmark::State& state) { slices(state, {}); }
void core_lanai7(benchmark::State& state) { slices(state, lanai7()); }
BENCHMARK(core_lanai9)->Arg(200)->Arg(1000)->Arg(20000);
BENCHMARK(core_lanai7)->Arg(20000);

// Somebody touches the SRAM in the middle of each slice.
void core_rewinding(benchmark::State& state) {
    const auto slice = static_cast<cycle>(state.range(0));
    card c(firmware);
    cycle now = start_up;
    c.core().sync(now);
    const core_counters before = c.core().counters();
    for (auto _ : state) {
        c.core().run_ahead(now + slice);
        now += slice / 2;
        c.core().sync(now);
    }
    report(state, before, c.core().counters(), now - start_up);
}
BENCHMARK(core_rewinding)->Arg(1000)->Arg(20000);

// 250 MB/s come in and go out to the host: two engines take slots all the time.
void core_sharing_sram(benchmark::State& state) {
    const auto slice = static_cast<cycle>(state.range(0));
    card c(firmware);
    cycle now = start_up;
    c.core().sync(now);
    const core_counters before = c.core().counters();
    for (auto _ : state) {
        const slot_pattern words{.first = now * c.core().config().slots_per_cycle,
                                 .period_numerator = 64,
                                 .period_denominator = 15,
                                 .count = slice};
        c.core().set_slot_pattern(sram_port::receive, words, now);
        c.core().set_slot_pattern(sram_port::host_dma, words, now);
        c.core().run_ahead(now + slice);
        now += slice;
        c.core().sync(now);
    }
    report(state, before, c.core().counters(), now - start_up);
}
BENCHMARK(core_sharing_sram)->Arg(20000);

// Several cards in one simulation, in turns.
void cores_in_turns(benchmark::State& state) {
    std::vector<std::unique_ptr<card>> cards;
    for (std::int64_t n = 0; n < state.range(0); ++n) cards.push_back(std::make_unique<card>(firmware));
    cycle now = start_up;
    core_counters before, after;
    for (auto& c : cards) c->core().sync(now);
    before = cards[0]->core().counters();
    constexpr cycle slice = 2000;
    for (auto _ : state) {
        for (auto& c : cards) {
            c->core().run_ahead(now + slice);
            c->core().sync(now + slice);
        }
        now += slice;
    }
    after = cards[0]->core().counters();
    state.SetItemsProcessed(static_cast<std::int64_t>(after.executed - before.executed) * state.range(0));
}
BENCHMARK(cores_in_turns)->Arg(1)->Arg(2)->Arg(8);

void core_lockstep(benchmark::State& state) {
    card c(firmware, {.lockstep = true});
    c.core().sync(start_up);
    const core_counters before = c.core().counters();
    cycle at = start_up;
    for (auto _ : state) {
        at = c.core().run_ahead(never - 1).at;
        c.core().sync(at);
    }
    report(state, before, c.core().counters(), at - start_up);
}
BENCHMARK(core_lockstep);

// The tests' interpreter, which decodes every time: what a core without any of this would do.
void naive_interpreter(benchmark::State& state) {
    card loaded(firmware);
    std::vector<std::uint8_t> sram = loaded.sram();
    core_config config;
    reference_core reference(config, sram, loaded);
    reference.run_until(start_up);
    const std::uint64_t before = reference.retired();
    cycle now = start_up;
    for (auto _ : state) reference.run_until(now += 20'000);
    state.SetItemsProcessed(static_cast<std::int64_t>(reference.retired() - before));
    state.counters["CPI"] =
        static_cast<double>(now - start_up) / static_cast<double>(reference.retired() - before);
}
BENCHMARK(naive_interpreter);

}  // namespace
}  // namespace vinic::lanai::testing

BENCHMARK_MAIN();
