// SPDX-License-Identifier: Apache-2.0
// Speed of the bus model. items_per_second are transactions per second; `bare_kernel` are method events of
// SystemC itself, two of which each transaction costs.
#include <benchmark/benchmark.h>

#include <systemc>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hw/bus/master.h"
#include "hw/bus/pci_bus.h"
#include "hw/bus/target_port.h"
#include "hw/sim/simulation.h"

namespace vinic::bus {
namespace {

sim::configuration settings(const char* kind, const char* mhz) {
    sim::configuration c;
    for (const auto& [name, text] : {std::pair{"bus.kind", kind}, {"bus.clock_mhz", mhz}})
        c.set(name, {.text = text, .origin = "bench", .source = ""});
    return c;
}

/// Takes everything.
struct sink : target_device {
    explicit sink(const bus_properties& bus) : port("sink", bus, *this) {}
    target_answer on_address(const tlm::tlm_generic_payload&, const pci_extension&) override { return {}; }
    void on_write(const pci_extension&, std::uint64_t, std::span<const std::uint8_t>) override {}
    void on_read(const pci_extension&, std::uint64_t, std::span<std::uint8_t>) override {}
    target_port port;
};

/// A master that starts its write anew whenever it is done.
struct writer : job_client {
    writer(const std::string& name, const bus_properties& bus, std::uint8_t device, std::size_t size)
        : initiator(name.c_str(), bus, {0, device, 0}), bytes(size) {
        j = {.what = job::kind::write, .address = 0x1000, .bytes = bytes, .client = this};
    }
    void on_done(job& again, job_status) override { initiator.start(again); }
    master initiator;
    std::vector<std::uint8_t> bytes;
    job j;
};

void writes(benchmark::State& state, const char* kind, const char* mhz, unsigned masters) {
    sim::simulation simulation(settings(kind, mhz));
    pci_bus bus("bus");
    sink target(bus.properties());
    bus.map(bus.attach(target.port, {{0, 31, 0}}), 0, 1 << 20);
    std::vector<std::unique_ptr<writer>> writers;
    for (unsigned i = 0; i < masters; ++i) {
        writers.push_back(std::make_unique<writer>("writer" + std::to_string(i), bus.properties(),
                                                   static_cast<std::uint8_t>(i), state.range(0)));
        bus.attach(writers.back()->initiator);
    }
    sc_core::sc_spawn([&writers] {
        for (auto& w : writers) w->initiator.start(w->j);
    });
    for (auto _ : state) sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_US));
    state.SetItemsProcessed(static_cast<std::int64_t>(bus.transactions.value()));
    state.counters["events/transaction"] =
        static_cast<double>(sc_core::sc_delta_count()) / static_cast<double>(bus.transactions.value());
}
void pci_writes(benchmark::State& state) { writes(state, "pci", "66", 1); }
void pci_writes_of_two_masters(benchmark::State& state) { writes(state, "pci", "66", 2); }
void pcix_writes(benchmark::State& state) { writes(state, "pcix", "133", 1); }
BENCHMARK(pci_writes)->Arg(8)->Arg(256)->Arg(4096);
BENCHMARK(pci_writes_of_two_masters)->Arg(8)->Arg(4096);
BENCHMARK(pcix_writes)->Arg(8)->Arg(4096);

struct ticker : sim::module {
    explicit ticker(const sc_core::sc_module_name& name) : sim::module(name) {
        SC_HAS_PROCESS(ticker);
        SC_METHOD(tick);
        sensitive << again;
    }
    void tick() {
        ++ticks;
        again.notify(sc_core::sc_time(15, sc_core::SC_NS));
    }
    sc_core::sc_event again;
    std::uint64_t ticks = 0;
};

void bare_kernel(benchmark::State& state) {
    sim::simulation simulation;
    ticker t("ticker");
    for (auto _ : state) sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_US));
    state.SetItemsProcessed(static_cast<std::int64_t>(t.ticks));
}
BENCHMARK(bare_kernel);

}  // namespace
}  // namespace vinic::bus

BENCHMARK_MAIN();
