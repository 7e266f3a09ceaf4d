// SPDX-License-Identifier: Apache-2.0
// The host DMA of the card, chains and initiator: RTL against the model, event by event.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firmware/abi/card_map.h"
#include "hw/nic/bytes.h"
#include "hw/nic/host_dma.h"
#include "hw/sim/error.h"
#include "hw/sim/fingerprint.h"
#include "hw/sim/random.h"
#include "testbench/tests/bus/bus_fixture.h"
#include "testbench/tests/nic/timeline.h"
#include "testbench/tests/rtl/event_log.h"

namespace vinic::rtl {
namespace {

using nic::cycle;
using nic::test::settings;

enum class side { model, rtl, rtl_free_running };

constexpr std::uint64_t region = 1 << 22;
constexpr std::uint64_t bases[] = {0x10'0000, 0x5A5A'5A5A'5A5A'0000, 0xA5A5'A5A5'A5A5'0000};
constexpr std::uint64_t nobody = 0x7F00'0000;
/// Rings of blocks lie on both sides of the data, which end at 0x610000.
constexpr std::uint32_t rings[] = {0x1000, 0x2AA8, 0x75'5550, 0x6A'AAA8}, data_begin = 0x10000;

bus::implementation how(side which) {
    return which == side::model ? bus::implementation::model : bus::implementation::rtl;
}

/// Clocks, limits and latencies, drawn from a seed.
settings drawn(side which, std::uint64_t seed, bool pcix) {
    sim::random_stream r(seed, "machine");
    const auto one_of = [&](std::initializer_list<const char*> choices) {
        return std::string(choices.begin()[r.below(choices.size())]);
    };
    settings s{{"bus.kind", pcix ? "pcix" : "pci"},
               {"bus.clock_mhz", pcix ? one_of({"66", "100", "133"}) : one_of({"33", "66"})},
               {"bus.width_bits", one_of({"32", "64"})},
               {"bus.latency_timer_clocks", one_of({"8", "32", "64"})},
               {"bus.arbitration", one_of({"round_robin", "fixed"})},
               {"bus.parking", one_of({"none", "last"})},
               {"master.max_burst_bytes", one_of({"64", "256", "4096"})},
               {"master.max_read_bytes", one_of({"512", "1024", "4096"})},
               {"master.max_outstanding_splits", one_of({"1", "4"})},
               {"master.write_and_invalidate", one_of({"true", "false"})},
               {"dma.arbitration", one_of({"round_robin", "fixed"})},
               {"dma.fifo_bytes", one_of({"16", "128", "512", "2048", "8192"})},
               {"dma.trigger_clocks", one_of({"1", "4", "319", "704"})},
               {"dma.setup_clocks", one_of({"1", "8", "300", "723"})},
               {"dma.finish_clocks", one_of({"1", "2", "9", "1000"})},
               {"sram.bytes", std::to_string(0x800000)}};
    if (which == side::rtl_free_running) {
        s.emplace_back("dma.rtl.gated", "false");
        s.emplace_back("master.rtl.gated", "false");
    }
    return s;
}

/// A card's DMA with SRAM and bus, host memory that answers at random, and others who want SRAM and bus.
struct bench {
    bench(side which, const settings& given, std::uint64_t seed)
        : simulation(nic::test::configured(given)),
          answers(seed, "answers"),
          bus("bus"),
          memory("sram", clock, nic::traits_of("lanai9")),
          registers("registers", clock, nic::traits_of("lanai9"), memory),
          master("master", bus.properties(), {0, 4, 0}, how(which)),
          dma("dma", clock, memory, registers, master, how(which)),
          completions("completions", bus.properties(), 0x2'0000, 4096, &master) {
        bus.attach(master);
        bus.map(bus.attach(completions.port, {{0, 4, 0}}), 0x2'0000, 4096);
        const bool pcix = bus.properties().kind == bus::bus_kind::pcix;
        for (unsigned t = 0; t < 3; ++t) pcix ? add_splitter(t) : add_memory(t);
    }
    void add_memory(unsigned t) {
        hosts.push_back(std::make_unique<bus::test::memory_target>(fmt::format("host{}", t), bus.properties(),
                                                                   bases[t], region));
        hosts.back()->decide = [this](const auto&, const auto&) { return answer(); };
        const auto device = static_cast<std::uint8_t>(16 + t);
        bus.map(bus.attach(hosts.back()->port, {{0, device, 0}}), bases[t], region);
    }
    void add_splitter(unsigned t) {
        const auto device = static_cast<std::uint8_t>(16 + t);
        auto host =
            std::make_unique<bus::test::split_target>(fmt::format("host{}", t), bus.properties(), bases[t],
                                                      region, bus::requester_id{0, device, 0}, 30);
        host->decide = [this, split = host->decide](const auto& payload, const bus::pci_extension& pci) {
            if (pci.command != bus::command::memory_read_block) return answer();
            return answers.below(6) == 0 ? bus::target_answer{.kind = bus::answer_kind::retry}
                                         : split(payload, pci);
        };
        bus.map(bus.attach(host->port, {{0, device, 0}}), bases[t], region);
        bus.attach(host->answers);
        hosts.push_back(std::move(host));
    }
    bus::target_answer answer() {
        bus::target_answer a;
        if (answers.below(5) == 0) a.kind = bus::answer_kind::retry;
        if (a.kind == bus::answer_kind::accept)
            a.initial_wait_clocks = static_cast<std::uint32_t>(answers.below(6));
        if (answers.below(4) == 0) a.limit_bytes = static_cast<std::uint32_t>(1 + answers.below(600));
        if (answers.below(4) == 0) a.boundary_bytes = 32u << answers.below(6);
        return a;
    }
    void put_block(std::uint32_t at, const abi::dma_block& block) {
        std::uint8_t raw[sizeof block] = {};
        const std::uint32_t words[] = {
            block.next_and_flags, 0, block.bytes, block.local_address, block.host_high, block.host_low};
        for (unsigned i = 0; i < 6; ++i) nic::store_big(raw + 4 * i, words[i]);
        memory.poke(at, raw);
    }
    std::uint64_t statistic(const std::string& name) const {
        return sim::simulation::current().statistics().at(name)->values(sim::now()).front().second;
    }

    sim::simulation simulation;
    sim::random_stream answers;
    nic::card_clock clock = nic::test::clock_133();
    bus::pci_bus bus;
    nic::sram memory;
    nic::special_registers registers;
    bus::master master;
    nic::host_dma dma;
    bus::test::memory_target completions;
    std::vector<std::unique_ptr<bus::test::memory_target>> hosts;
    nic::test::timeline script;
};

/// Firmware that keeps four chains, rings of blocks drawn at random, and starts them now and then; others at
/// the SRAM; boards that are reset.
struct firmware {
    static constexpr unsigned ring = 16;

    firmware(bench& on, std::uint64_t seed, unsigned pulses, std::uint64_t spacing)
        : b(on), random(seed, "firmware"), left(pulses), longest_wait(spacing) {
        for (unsigned n = 0; n < nic::host_dma::channel_count; ++n) {
            for (unsigned i = 0; i < ring; ++i) put(n, i);
            b.script.at(b.clock.time_of(1 + n), [this, n] { b.dma.channel(n).set_base(place(n, 0)); });
        }
        b.script.at(b.clock.time_of(20), [this] { next(); });
    }

    static std::uint32_t place(unsigned channel, unsigned i) {
        return rings[channel] + i * std::uint32_t{sizeof(abi::dma_block)};
    }
    void put(unsigned channel, unsigned i) {
        const auto size = static_cast<std::uint32_t>(random.below(random.below(3) != 0 ? 100 : 3000));
        const bool to_card = random.below(2) != 0;
        const std::uint64_t base = random.below(150) == 0 ? nobody : bases[random.below(3)];
        // What is read and what is written do not meet.
        const std::uint64_t host = base + (to_card ? 0 : region / 2) + random.below(region / 2 - 3000);
        std::uint32_t flags = to_card ? abi::dma_flag_host_to_lanai : 0;
        if (random.below(2) != 0) flags |= abi::dma_flag_terminal;
        if (random.below(2) != 0) flags |= abi::dma_flag_wake;
        const auto local =
            static_cast<std::uint32_t>(data_begin + (to_card ? 0x300000 : 0) + random.below(0x300000 - 3000));
        b.put_block(place(channel, i), {.next_and_flags = place(channel, (i + 1) % ring) | flags,
                                        .bytes = size,
                                        .local_address = local,
                                        .host_high = static_cast<std::uint32_t>(host >> 32),
                                        .host_low = static_cast<std::uint32_t>(host)});
    }
    void next() {
        if (left == 0) return;
        --left;
        const auto n = static_cast<unsigned>(random.below(nic::host_dma::channel_count));
        const std::uint64_t kind = random.below(200);
        nic::dma_channel& channel = b.dma.channel(n);
        if (kind == 0) {
            b.dma.reset();
        } else if (kind == 1 && !channel.busy()) {
            channel.start(static_cast<std::uint32_t>(bases[0] + random.below(1000)), data_begin,
                          static_cast<std::uint32_t>(random.below(200)), true);
        } else if (kind < 20) {
            buffers.emplace_back(8 + random.below(120));
            b.memory.host_access.read(0x9000, buffers.back(), nullptr);
        } else if (kind < 25 && !channel.busy()) {
            channel.set_base(place(n, static_cast<unsigned>(random.below(ring))));
        } else if (!channel.busy() || random.below(4) == 0) {
            b.dma.pulse(static_cast<std::uint32_t>(1 + random.below(random.below(5) == 0 ? 15 : 1 << n)));
        }
        // Hosts write at any time, the core stores in its phase of a clock, the rest comes on an edge.
        const cycle at = b.clock.seen() + random.below(random.below(3) == 0 ? 2 : longest_wait);
        const sim::picoseconds later[] = {0, static_cast<sim::picoseconds>(nic::phase::issue), 3700};
        b.script.at(b.clock.time_of(at) + later[random.below(3)], [this] { next(); });
    }

    bench& b;
    sim::random_stream random;
    unsigned left;
    std::uint64_t longest_wait;  ///< clocks between two acts
    std::deque<std::vector<std::uint8_t>> buffers;
};

struct result {
    test::events events;
    std::string fingerprint;
    std::vector<std::uint8_t> sram;
    std::uint64_t blocks = 0, transactions = 0, edges = 0, late = 0;
    sim::picoseconds end = 0;
};

/// Until nothing is left to do, or for so long.
result run(side which, std::uint64_t seed, bool pcix, unsigned pulses, sim::picoseconds until = sim::never,
           const settings& more = {}, std::uint64_t spacing = 900) {
    settings given = drawn(which, seed, pcix);
    given.insert(given.end(), more.begin(), more.end());
    bench b(which, given, seed);
    sim::random_stream bytes(seed, "bytes");
    for (auto& host : b.hosts)
        for (auto& byte : host->memory) byte = static_cast<std::uint8_t>(bytes.next());
    for (std::size_t i = data_begin; i < b.memory.contents().size(); i += 61)
        b.memory.contents()[i] = static_cast<std::uint8_t>(bytes.next());
    firmware work(b, seed, pulses, spacing);
    test::event_log log;
    const sim::fingerprint fingerprint;
    until == sim::never ? sc_core::sc_start() : sc_core::sc_start(sim::to_sc_time(until));
    result r{.events = std::move(log.seen),
             .fingerprint = fingerprint.text(),
             .sram = {b.memory.contents().begin(), b.memory.contents().end()}};
    r.end = sim::now();
    r.transactions = b.bus.transactions.value() + b.bus.retries.value() + b.bus.splits.value();
    for (unsigned n = 0; n < nic::host_dma::channel_count; ++n) r.blocks += b.dma.channel(n).blocks.value();
    for (auto& host : b.hosts) r.sram.insert(r.sram.end(), host->memory.begin(), host->memory.end());
    if (which == side::model) return r;
    r.edges = b.statistic("dma.rtl.edges") + b.statistic("master.rtl.edges");
    r.late = b.statistic("master.rtl.late_changes");
    return r;
}

class host_dma_rtl : public testing::TestWithParam<std::tuple<bool, std::uint64_t>> {
protected:
    bool pcix() const { return std::get<0>(GetParam()); }
    std::uint64_t seed() const { return std::get<1>(GetParam()); }
};

TEST_P(host_dma_rtl, does_what_the_model_does_in_the_same_clock) {
    const result model = run(side::model, seed(), pcix(), 500);
    const result rtl = run(side::rtl, seed(), pcix(), 500);
    EXPECT_GT(model.blocks, 80u);
    test::expect_same(model.events, rtl.events);
    EXPECT_EQ(model.fingerprint, rtl.fingerprint);
    EXPECT_TRUE(model.sram == rtl.sram);
    EXPECT_EQ(rtl.late, 0u);
    RecordProperty("blocks", static_cast<int>(model.blocks));
    RecordProperty("transactions", static_cast<int>(model.transactions));
}

TEST_P(host_dma_rtl, does_the_same_with_clocks_that_stand_when_quiet) {
    const result gated = run(side::rtl, seed(), pcix(), 100);
    const result free = run(side::rtl_free_running, seed(), pcix(), 100, gated.end);
    test::expect_same(free.events, gated.events);
    EXPECT_LT(gated.edges, free.edges);
}

INSTANTIATE_TEST_SUITE_P(buses, host_dma_rtl, testing::Combine(testing::Bool(), testing::Range(std::uint64_t{1}, std::uint64_t{6})),
                         [](const auto& of) {
                             return fmt::format("{}_{}", std::get<0>(of.param) ? "pcix" : "pci",
                                                std::get<1>(of.param));
                         });

/// Several engines may start bursts in one clock; in traffic thin and dense.
TEST_P(host_dma_rtl, several_engines_do_the_same_in_the_same_clock) {
    for (const char* engines : {"2", "4"})
        for (const std::uint64_t spacing : {900, 90, 10}) {
            const settings more{{"dma.engines", engines}};
            const result model = run(side::model, seed(), pcix(), 150, sim::never, more, spacing);
            const result rtl = run(side::rtl, seed(), pcix(), 150, sim::never, more, spacing);
            SCOPED_TRACE(fmt::format("{} engines, up to {} clocks apart", engines, spacing));
            test::expect_same(model.events, rtl.events);
            EXPECT_EQ(model.fingerprint, rtl.fingerprint);
            EXPECT_TRUE(model.sram == rtl.sram);
        }
}

TEST(host_dma_rtl_block, settings_that_it_does_not_know_are_refused) {
    EXPECT_THROW(bench(side::rtl, {{"dma.trigger_clocks", "0"}}, 1), sim::input_error);
}

TEST(host_dma_rtl_block, a_fifo_that_is_no_power_of_two_is_refused) {
    EXPECT_THROW(bench(side::rtl, {{"dma.fifo_bytes", "500"}}, 1), sim::input_error);
}

/// Blocks of most of the SRAM: to the host as far as its memory goes, and from where nobody is.
test::events move_long_blocks(side which) {
    bench b(which, {{"sram.bytes", std::to_string(0x800000)}}, 1);
    test::event_log log;
    constexpr std::uint32_t most = 0x7F'F001;
    nic::cycle clock = 10;
    for (unsigned n = 0; n < nic::host_dma::channel_count; ++n) {
        const std::uint64_t host = n == 3 ? ~std::uint64_t{0xFF'FFFF} : nobody;
        b.put_block(0x1000 + 24 * n, {.next_and_flags = ~7u | abi::dma_flag_terminal |
                                                        (n % 2 != 0 ? abi::dma_flag_host_to_lanai : 0),
                                      .bytes = most,
                                      .local_address = 0x7F'FFFF - most,
                                      .host_high = static_cast<std::uint32_t>(host >> 32),
                                      .host_low = static_cast<std::uint32_t>(host)});
        // A base alone does nothing, whatever it is.
        for (const std::uint32_t base : {~std::uint32_t{0}, std::uint32_t{0}, 0x1000 + 24 * n})
            b.script.at(b.clock.time_of(++clock), [&, n, base] { b.dma.channel(n).set_base(base); });
    }
    b.script.at(b.clock.time_of(++clock), [&] { b.dma.pulse(15); });
    sc_core::sc_start();
    // A base wakes a channel that failed, for a pulse of the same clock and for a later one.
    clock = 1000;
    EXPECT_LT(b.clock.seen(), clock);
    b.script.at(b.clock.time_of(clock), [&] {
        for (unsigned n = 0; n < nic::host_dma::channel_count; ++n)
            b.dma.channel(n).set_base(0x1000 + 24 * n);
        b.dma.pulse(3);
    });
    b.script.at(b.clock.time_of(clock + 20), [&] { b.dma.pulse(12); });
    sc_core::sc_start();
    for (unsigned n = 0; n < nic::host_dma::channel_count; ++n)
        EXPECT_EQ(b.dma.channel(n).bus_errors.value(), 2u);
    return std::move(log.seen);
}

TEST(host_dma_rtl_block, long_blocks_fail_in_the_clock_of_the_model) {
    test::expect_same(move_long_blocks(side::model), move_long_blocks(side::rtl));
}

/// A block of more than 1 MB each way, through halves of 32 KB; another channel is told of 250 empty blocks
/// meanwhile.
test::events move_blocks_of_1_mb(side which) {
    bench b(which,
            {{"sram.bytes", std::to_string(0x800000)},
             {"dma.fifo_bytes", "65536"},
             {"dma.trigger_clocks", "827"},
             {"dma.finish_clocks", "20"}},
            1);
    constexpr std::uint32_t size = 0x10'1001, to_host = 0x10'0000, from_host = 0x40'0000;
    for (auto& byte : b.hosts[0]->memory) byte = static_cast<std::uint8_t>(b.answers.next());
    for (std::size_t i = 0; i < size; ++i)
        b.memory.contents()[to_host + i] = static_cast<std::uint8_t>(i * 7 + (i >> 8));
    test::event_log log;
    b.put_block(0x1000, {.next_and_flags = 0x1018,
                         .bytes = size,
                         .local_address = to_host,
                         .host_high = 0,
                         .host_low = static_cast<std::uint32_t>(bases[0] + region / 2 + 0x801)});
    b.put_block(0x1018, {.next_and_flags = 0x1000 | abi::dma_flag_terminal | abi::dma_flag_host_to_lanai,
                         .bytes = size,
                         .local_address = from_host,
                         .host_high = 0,
                         .host_low = static_cast<std::uint32_t>(bases[0])});
    b.dma.channel(0).set_base(0x1000);
    b.put_block(0x2000, {.next_and_flags = 0x2000 | abi::dma_flag_terminal,
                         .bytes = 0,
                         .local_address = to_host,
                         .host_high = 0,
                         .host_low = 0});
    b.dma.channel(1).set_base(0x2000);
    b.script.at(b.clock.time_of(10), [&] { b.dma.pulse(1); });
    for (nic::cycle i = 0; i < 250; ++i) b.script.at(b.clock.time_of(3000 + i), [&] { b.dma.pulse(2); });
    sc_core::sc_start();
    EXPECT_EQ(b.dma.channel(1).blocks.value(), 250u);
    EXPECT_TRUE(std::equal(b.memory.contents().begin() + to_host,
                           b.memory.contents().begin() + to_host + size,
                           b.hosts[0]->memory.begin() + region / 2 + 0x801));
    EXPECT_TRUE(std::equal(b.hosts[0]->memory.begin(), b.hosts[0]->memory.begin() + size,
                           b.memory.contents().begin() + from_host));
    return std::move(log.seen);
}

TEST(host_dma_rtl_block, blocks_of_1_mb_in_the_clocks_of_the_model) {
    test::expect_same(move_blocks_of_1_mb(side::model), move_blocks_of_1_mb(side::rtl));
}

}  // namespace
}  // namespace vinic::rtl
