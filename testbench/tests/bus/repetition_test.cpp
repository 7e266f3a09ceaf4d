// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/repetition.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "hw/bus/delayed_reads.h"
#include "hw/sim/fingerprint.h"
#include "hw/sim/random.h"
#include "testbench/tests/bus/bus_fixture.h"

namespace vinic::bus {
namespace {

using test::bench;
using test::pattern;
using test::recorder_client;
using settings = std::vector<std::pair<std::string, std::string>>;

/// A burst read of PCI, medium decode: address phase in clock 3, STOP# in 5.
tenure retried_in_3() {
    return tenure({.kind = bus_kind::pci, .read = true, .length = 64, .answer = {answer_kind::retry}}, 3);
}

TEST(repetition, repetitions_lie_a_period_apart) {
    const repetition r(0, retried_in_3(), 8, 8, 9);
    EXPECT_EQ(r.tenure_of(1).clocks().address, 9u);
    EXPECT_EQ(r.tenure_of(4).clocks().first_data, 5u + 4 * 6);
    EXPECT_EQ(r.requested(3), 8u + 2 * 6);
    EXPECT_EQ(r.decided(3), 8u + 2 * 6);
}

TEST(repetition, one_is_whole_when_its_stop_has_been_seen) {
    const repetition r(0, retried_in_3(), 8, 8, 9);  // STOP# seen at edges 6, 12, 18 ...
    EXPECT_EQ(r.whole_before(0), 0u);
    EXPECT_EQ(r.whole_before(12), 0u);
    EXPECT_EQ(r.whole_before(13), 1u);
    EXPECT_EQ(r.whole_before(18), 1u);
    EXPECT_EQ(r.whole_before(19), 2u);
}

TEST(repetition, one_has_begun_after_its_address_phase) {
    const repetition r(0, retried_in_3(), 8, 8, 9);
    EXPECT_EQ(r.begun_before(0), 0u);
    EXPECT_EQ(r.begun_before(9), 0u);
    EXPECT_EQ(r.begun_before(10), 1u);
    EXPECT_EQ(r.begun_before(15), 1u);
    EXPECT_EQ(r.begun_before(16), 2u);
}

/// A target that delays reads, two masters with random work, and everything that can be seen of it.
struct seen {
    std::string fingerprint;
    std::map<std::string, std::uint64_t> statistics;
    std::vector<sim::picoseconds> done_at;
    std::uint64_t retried = 0;
    std::uint64_t events = 0;
};

/// `told`: the target says in advance until when it retries. `watched`: by a fingerprint.
seen run(const settings& s, std::uint64_t seed, bool told, bool watched, bool disturbed) {
    bench b(s);
    master& reader = b.add_master("reader", 1);
    master& other = b.add_master("other", 3);
    auto& target = b.add_target("t", 0, 65536, 2);
    delayed_reads reads(2, 1024);
    seen all;
    target.decide = [&](const auto& payload, const pci_extension& pci) -> target_answer {
        if (!is_read(pci.command, bus_kind::pci) || reads.there(payload, pci, 90)) return {};
        ++all.retried;
        return {.kind = answer_kind::retry, .retry_before = told ? reads.retried_before(payload, pci) : 0};
    };
    target.repeated = [&](std::uint64_t n) { all.retried += n; };
    std::optional<sim::fingerprint> fingerprint;
    if (watched) fingerprint.emplace();

    sim::random_stream random(seed, "work");
    recorder_client client;
    std::vector<std::uint8_t> bytes(256);
    std::deque<job> jobs;
    std::uint64_t clock = 0;
    for (unsigned i = 0; i < 60; ++i) {
        // Reads of the one master; between them, short writes of both at any picosecond.
        const bool read = !disturbed || random.chance(0.4);
        job& j = jobs.emplace_back(job{.what = read ? job::kind::read : job::kind::write,
                                       .address = 0x1000 + 64 * random.below(64),
                                       .bytes = std::span(bytes).first(read ? 4 + random.below(200) : 8),
                                       .client = &client});
        master& by = read || random.chance(0.5) ? reader : other;
        clock += disturbed ? 1 + random.below(150) : 400;
        const sim::picoseconds at =
            b.bus->properties().clock.edge(clock) + (random.chance(0.5) ? 0 : random.below(15000));
        sc_core::sc_spawn([&by, &j, at] {
            sc_core::wait(sim::to_sc_time(at));
            by.start(j);
        });
    }
    // Looked at now and then, in the middle of whatever happens.
    for (unsigned i = 0; i < 40; ++i) {
        sc_core::sc_start(sim::to_sc_time(1 + random.below(2'000'000)));
        if (told) sim::simulation::current().commit();
    }
    b.run();
    for (const auto& [name, statistic] : sim::simulation::current().statistics())
        for (const auto& [suffix, value] : statistic->values(1)) all.statistics[name + suffix] = value;
    all.done_at = client.done_at;
    all.events = sc_core::sc_delta_count();
    if (fingerprint) all.fingerprint = fingerprint->text();
    return all;
}

const settings buses[] = {
    {{"bus.kind", "pci"}, {"bus.clock_mhz", "66"}},
    {{"bus.kind", "pci"}, {"bus.clock_mhz", "33"}, {"bus.width_bits", "32"}, {"bus.parking", "none"}},
    {{"bus.kind", "pci"}, {"bus.parking", "first"}, {"bus.retry_delay_clocks", "7"}},
    {{"bus.kind", "pci"}, {"bus.arbitration", "fixed"}, {"bus.arbitration_clocks", "1"}},
    {{"bus.kind", "pci"}, {"bus.arbitration_clocks", "9"}, {"bus.parking", "none"}},
    {{"bus.kind", "pci"}, {"bus.free", "true"}},
};

TEST(repetition, nothing_that_can_be_seen_depends_on_it) {
    for (const settings& s : buses)
        for (std::uint64_t seed = 1; seed <= 12; ++seed)
            for (const bool watched : {false, true}) {
                const seen told = run(s, seed, true, watched, true);
                const seen untold = run(s, seed, false, watched, true);
                SCOPED_TRACE(fmt::format("seed {} of {} {}", seed, s.back().first, s.back().second));
                ASSERT_EQ(told.done_at, untold.done_at);
                ASSERT_EQ(told.statistics, untold.statistics);
                ASSERT_EQ(told.fingerprint, untold.fingerprint);
                ASSERT_EQ(told.retried, untold.retried);
                ASSERT_TRUE(s.back().first == "bus.free" || told.events < untold.events);
            }
}

TEST(repetition, a_series_costs_one_event) {
    // 60 reads whose bytes are there 90 clocks later: first tenure, end of the series, last tenure.
    const seen all = run(buses[0], 1, true, false, false);
    EXPECT_GT(all.retried, 60u * 10);
    EXPECT_LT(all.events, 60u * 8 + 100);
}

}  // namespace
}  // namespace vinic::bus
