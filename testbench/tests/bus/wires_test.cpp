// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/wires.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "hw/bus/wire_sampler.h"
#include "hw/sim/random.h"
#include "testbench/tests/bus/bus_fixture.h"

namespace vinic::bus {
namespace {

using test::bench;
using test::recorder_client;

/// Draws a wire from the first FRAME# on: one letter a clock.
struct picture {
    std::string frame, irdy, devsel, trdy, stop;
    std::vector<bus_clock> clocks;
};

picture draw(const std::vector<std::pair<std::string, std::string>>& settings, job::kind what,
             std::uint64_t address, std::size_t bytes, target_answer answer, bool wide = true) {
    bench b(settings);
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0, 65536, 2, 0, wide);
    for (std::size_t i = 0; i < t.memory.size(); ++i) t.memory[i] = static_cast<std::uint8_t>(i);
    bool first = true;
    t.decide = [&](const auto&, const auto&) {
        const bool now = std::exchange(first, false);
        return now ? answer : target_answer{};
    };
    wire_sampler sampler(b.bus->properties(), b.bus->wires);
    recorder_client client;
    std::vector<std::uint8_t> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::uint8_t>(0xA0 + i);
    job j{.what = what, .address = address, .bytes = data, .client = &client};
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    picture p;
    bool started = false, ended = false;
    sampler.replay([&](const bus_clock& w) {
        ended |= started && !w.frame && !w.irdy;
        started |= w.frame;
        if (!started || ended) return;
        p.frame += w.frame ? '#' : '.';
        p.irdy += w.irdy ? '#' : '.';
        p.devsel += w.devsel ? '#' : '.';
        p.trdy += w.trdy ? '#' : '.';
        p.stop += w.stop ? '#' : '.';
        p.clocks.push_back(w);
    });
    return p;
}

const std::vector<std::pair<std::string, std::string>> pci = {
    {"bus.kind", "pci"}, {"bus.clock_mhz", "33"}, {"bus.width_bits", "32"}};
const std::vector<std::pair<std::string, std::string>> pcix = {
    {"bus.kind", "pcix"}, {"bus.clock_mhz", "133"}, {"bus.target_decode_clocks", "1"}};

TEST(wires, pci_burst_write_with_wait_states) {
    // Medium decode, one initial and one later wait state, three dwords.
    const auto p = draw(pci, job::kind::write, 0x1000, 12, {.initial_wait_clocks = 1, .wait_clocks = 1});
    EXPECT_EQ(p.frame, "######..");
    EXPECT_EQ(p.irdy, ".#######");
    EXPECT_EQ(p.devsel, "..######");
    EXPECT_EQ(p.trdy, "...#.#.#");
    EXPECT_EQ(p.stop, "........");
    EXPECT_EQ(p.clocks[0].ad, 0x1000u);
    EXPECT_EQ(p.clocks[0].cbe, 0x7u);
    EXPECT_EQ(p.clocks[3].ad, 0xA3A2A1A0u);
    EXPECT_EQ(p.clocks[5].ad, 0xA7A6A5A4u);
    EXPECT_EQ(p.clocks[7].ad, 0xABAAA9A8u);
    EXPECT_EQ(p.clocks[3].cbe, 0xF0u);  // all four lanes enabled; the upper four do not exist
}

TEST(wires, pci_read_turns_ad_around) {
    const auto p = draw(pci, job::kind::read, 0x1000, 8, {});
    EXPECT_EQ(p.frame, "###.");
    EXPECT_EQ(p.irdy, ".###");
    EXPECT_EQ(p.devsel, "..##");
    EXPECT_EQ(p.trdy, "..##");
    EXPECT_EQ(p.clocks[1].ad_floating, ~std::uint64_t{0});
    EXPECT_EQ(p.clocks[2].ad, 0x03020100u);
    EXPECT_EQ(p.clocks[3].ad, 0x07060504u);
}

TEST(wires, pci_retry_of_a_burst_and_disconnect) {
    const auto retry = draw(pci, job::kind::write, 0x1000, 16, {.kind = answer_kind::retry});
    EXPECT_EQ(retry.frame, "###.");
    EXPECT_EQ(retry.irdy, ".###");
    EXPECT_EQ(retry.devsel, "..##");
    EXPECT_EQ(retry.trdy, "....");
    EXPECT_EQ(retry.stop, "..##");
    const auto disconnect = draw(pci, job::kind::write, 0x1000, 16, {.limit_bytes = 8});
    EXPECT_EQ(disconnect.frame, "####.");
    EXPECT_EQ(disconnect.irdy, ".####");
    EXPECT_EQ(disconnect.trdy, "..##.");
    EXPECT_EQ(disconnect.stop, "...##");
}

TEST(wires, pcix_burst_write) {
    const auto p = draw(pcix, job::kind::write, 0x1003, 40, {});
    // address, attributes, DEVSEL#, 6 data phases (3 + 40 bytes), FRAME# up one clock before the last.
    EXPECT_EQ(p.frame, "########.");
    EXPECT_EQ(p.irdy, "..#######");
    EXPECT_EQ(p.devsel, "..#######");
    EXPECT_EQ(p.trdy, "...######");
    EXPECT_EQ(p.clocks[0].cbe & 0xF, 0xFu);
    EXPECT_EQ(p.clocks[1].ad & 0xFF, 40u);             // byte count
    EXPECT_EQ(p.clocks[1].ad >> 8 & 0xFFFF, 1u << 3);  // bus 0, device 1, function 0
    EXPECT_EQ(p.clocks[3].ad, 0xA4A3A2A1A0000000u);    // lanes 3 to 7
}

TEST(wires, pcix_target_abort_takes_devsel_away) {
    const auto p = draw(pcix, job::kind::read, 0x1000, 512, {.kind = answer_kind::abort});
    EXPECT_EQ(p.devsel, "..#.");
    EXPECT_EQ(p.stop, "...#");
}

TEST(wires, pcix_disconnect_at_an_adb_is_announced_four_data_phases_ahead) {
    const auto p = draw(pcix, job::kind::write, 0x1040, 512, {.limit_bytes = 100});
    EXPECT_EQ(p.trdy, "...########");
    EXPECT_EQ(p.stop, ".......####");
}

TEST(wires, dual_address_and_64_bits) {
    bench b({{"bus.kind", "pci"}, {"bus.clock_mhz", "66"}});
    auto& m = b.add_master("m", 1);
    b.add_target("t", 0x12'0000'0000, 4096, 2);
    wire_sampler sampler(b.bus->properties(), b.bus->wires);
    recorder_client client;
    std::vector<std::uint8_t> data(16, 0x55);
    job j{.what = job::kind::write, .address = 0x12'0000'0010, .bytes = data, .client = &client};
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    std::vector<bus_clock> w;
    sampler.replay([&](const bus_clock& c) {
        if (c.frame || c.irdy) w.push_back(c);
    });
    ASSERT_EQ(w.size(), 5u);  // two address phases, decode, two data phases
    EXPECT_EQ(w[0].cbe & 0xF, 0xDu);
    EXPECT_EQ(w[0].ad, 0x12'0000'0010u);
    EXPECT_EQ(w[1].cbe & 0xF, 0x7u);
    EXPECT_EQ(w[1].ad & 0xFFFF'FFFF, 0x12u);
    EXPECT_TRUE(w[0].req64);
    EXPECT_TRUE(w[3].ack64);
    EXPECT_EQ(w[3].ad, 0x5555'5555'5555'5555u);
}

TEST(wires, spans_name_transactions_and_phases) {
    bench b({{"bus.kind", "pcix"}, {"bus.clock_mhz", "133"}});
    auto& m = b.add_master("m", 1);
    b.add_target("t", 0, 4096, 2);
    struct : sim::listener {
        std::vector<std::string> what;
        std::vector<sim::picoseconds> length;
        void on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end,
                     std::string_view name, std::span<const sim::field>) override {
            what.emplace_back(name);
            length.push_back((end - begin) / 7500);
        }
    } spans;
    b.bus->wires.transaction.attach(spans);
    b.bus->wires.phase.attach(spans);
    recorder_client client;
    std::vector<std::uint8_t> data(128);
    job j{.what = job::kind::write, .address = 0, .bytes = data, .client = &client};
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    EXPECT_EQ(spans.what, (std::vector<std::string>{"memory_write_block", "address", "attribute", "decode",
                                                    "data", "turnaround"}));
    // Decode B: DEVSEL# two clocks after the attributes.
    EXPECT_EQ(spans.length, (std::vector<sim::picoseconds>{20, 1, 1, 2, 16, 1}));
}

TEST(wires, nothing_changes_when_somebody_watches) {
    const auto run = [](bool watched) {
        bench b({{"bus.kind", "pci"}, {"bus.clock_mhz", "66"}});
        auto& m = b.add_master("m", 1);
        b.add_target("t", 0, 65536, 2).answer.boundary_bytes = 64;
        std::optional<wire_sampler> sampler;
        if (watched) sampler.emplace(b.bus->properties(), b.bus->wires);
        recorder_client client;
        std::vector<std::uint8_t> data(1000);
        job j{.what = job::kind::read, .address = 0, .bytes = data, .client = &client};
        b.at_clock(0, [&] { m.start(j); });
        b.run();
        return std::pair(client.done_at, sc_core::sc_delta_count());
    };
    EXPECT_EQ(run(false), run(true));
}

/// One master's random jobs, of which each starts at its own time, often at an edge and together with others.
struct random_jobs {
    /// `late`: scheduled so shortly before that the kernel runs it behind the process of the bus.
    random_jobs(master& by, sim::random_stream r, std::uint64_t period, bool late) {
        sim::picoseconds at = 0;
        for (auto& [start, j, bytes] : jobs) {
            at += r.below(40) * period + (r.below(4) ? 0 : r.below(period));
            start = at;
            bytes.resize(1 + (r.below(3) ? r.below(32) : r.below(600)));
            j = {.what = r.below(2) ? job::kind::write : job::kind::read,
                 .address = r.below(8192),
                 .bytes = bytes,
                 .client = &client};
        }
        // A method, as the process of the bus is: the kernel runs all methods before any thread.
        sc_core::sc_spawn_options options;
        options.spawn_method();
        sc_core::sc_spawn([this, &by, late] { start_due(by, late); }, nullptr, &options);
    }
    void start_due(master& by, bool late) {
        for (; next < jobs.size() && jobs[next].start <= sim::now(); ++next) by.start(jobs[next].j);
        if (next == jobs.size()) return;
        const auto wait = jobs[next].start - sim::now();
        sc_core::next_trigger(sim::to_sc_time(late && wait > 1 ? wait - 1 : wait));
    }
    struct timed {
        sim::picoseconds start;
        job j;
        std::vector<std::uint8_t> bytes;
    };
    std::vector<timed> jobs{100};
    std::size_t next = 0;
    recorder_client client;
};

/// What each REQ# and GNT# reports, and when each job ends. `noise`: unrelated processes are runnable at the
/// same instants (2), the process of the bus wakes more often (4), and those of the masters run late (8) or
/// are created in another order (1); 0 is the plain run.
struct arbitration_record : sim::listener {
    std::map<std::string, std::vector<std::pair<sim::picoseconds, std::uint64_t>>> seen;
    std::vector<std::vector<sim::picoseconds>> done;
    void on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t) override {
        seen[p.name()].emplace_back(at, bits);
    }

    arbitration_record(const std::vector<std::pair<std::string, std::string>>& settings, std::uint64_t seed,
                       unsigned noise) {
        bench b(settings);
        const sim::picoseconds period = b.bus->properties().clock.edge(1);
        auto& t = b.add_target("t", 0, 65536, 9);
        // A pure function of the request, so that nothing but the bus decides.
        t.decide = [&](const auto& payload, const auto& request) -> target_answer {
            const std::uint64_t clock = request.schedule.address;
            if (payload.get_address() % 2 == 1 && clock / 64 % 2 == 1) return {.kind = answer_kind::retry};
            return {.initial_wait_clocks = static_cast<std::uint32_t>(clock % 3), .boundary_bytes = 128};
        };
        for (unsigned n = 0; n < 2; ++n) {
            b.add_master("m" + std::to_string(n), static_cast<std::uint8_t>(n));
            b.bus->wires.req[n]->attach(*this);
            b.bus->wires.gnt[n]->attach(*this);
        }
        std::unique_ptr<random_jobs> jobs[2];
        std::vector<std::function<void()>> parts;
        for (unsigned n = 0; n < 2; ++n)
            parts.emplace_back([&, n] {
                jobs[n] = std::make_unique<random_jobs>(*b.masters[n], sim::random_stream(seed + n, "jobs"),
                                                        period, (noise & 8) != 0);
            });
        if (noise & 1) std::swap(parts[0], parts[1]);
        for (const auto& part : parts) part();
        if (noise & 2)
            sc_core::sc_spawn([period] {
                sim::random_stream r(3, "unrelated");
                for (int i = 0; i < 4000; ++i) sc_core::wait(sim::to_sc_time((1 + r.below(2)) * period));
            });
        if (noise & 4) wake_more_often(b, period);
        b.run();
        for (const auto& j : jobs) done.push_back(j->client.done_at);
    }

    /// Runs the process of the bus at edges and between them, whether it is due or not.
    static void wake_more_often(const bench& b, sim::picoseconds period) {
        for (sc_core::sc_object* o : b.bus->get_child_objects()) {
            sc_core::sc_process_handle process(o);
            if (!process.valid()) continue;
            sc_core::sc_spawn([process, period]() mutable {
                sim::random_stream r(4, "wakes");
                for (int i = 0; i < 6000; ++i) {
                    sc_core::wait(sim::to_sc_time((1 + r.below(2)) * period / 2));
                    process.reset();
                }
            });
        }
    }
};

class arbitration : public testing::TestWithParam<const char*> {};

TEST_P(arbitration, does_not_depend_on_who_wakes_when) {
    for (const char* kind : {"pci", "pcix"}) {
        for (const char* parking : {"none", "last", "first"}) {
            for (const char* latency : {"1", "2"}) {
                for (std::uint64_t seed : {10, 20}) {
                    const std::vector<std::pair<std::string, std::string>> s = {
                        {"bus.kind", kind},
                        {"bus.clock_mhz", "66"},
                        {"bus.parking", parking},
                        {"bus.arbitration", GetParam()},
                        {"bus.arbitration_clocks", latency},
                        {"bus.latency_timer_clocks", "16"}};
                    const arbitration_record plain(s, seed, 0);
                    EXPECT_GT(plain.seen.at("bus.gnt0_n").size(), 100u);
                    EXPECT_EQ(plain.done[0].size() + plain.done[1].size(), 200u);
                    for (unsigned noise : {1u, 2u, 4u, 7u, 8u, 15u}) {
                        const arbitration_record other(s, seed, noise);
                        EXPECT_EQ(plain.done, other.done) << kind << parking << latency << noise;
                        EXPECT_TRUE(plain.seen == other.seen) << kind << parking << latency << noise;
                    }
                    // No stamp of a wire goes back.
                    for (const auto& [name, edges] : plain.seen)
                        EXPECT_TRUE(std::ranges::is_sorted(edges, {}, [](const auto& e) { return e.first; }))
                            << name << kind << parking << latency;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(wires, arbitration, testing::Values("round_robin", "fixed"));

TEST(wires, control_signals_are_low_when_asserted) {
    bench b({{"bus.kind", "pci"}, {"bus.clock_mhz", "66"}});
    auto& m = b.add_master("m", 1);
    b.add_target("t", 0, 65536, 2);
    struct : sim::listener {
        std::map<std::string, std::vector<std::pair<sim::picoseconds, std::uint64_t>>> seen;
        void on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                      std::uint64_t) override {
            seen[p.name()].emplace_back(at / 15000, bits);
        }
    } levels;
    const auto& w = b.bus->wires;
    for (sim::value_probe* p : {&b.bus->wires.frame, w.req[0].get(), w.gnt[0].get()}) p->attach(levels);
    recorder_client client;
    std::vector<std::uint8_t> data(32);
    job j{.what = job::kind::write, .address = 0, .bytes = data, .client = &client};
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    // REQ# in clock 1, GNT# in 2, address in 3, four data phases from 5 on: FRAME# is high in the last, 8.
    using changes = std::vector<std::pair<sim::picoseconds, std::uint64_t>>;
    EXPECT_EQ(levels.seen.at("bus.req0_n"), (changes{{0, 1}, {1, 0}, {3, 1}}));
    EXPECT_EQ(levels.seen.at("bus.gnt0_n"), (changes{{0, 1}, {2, 0}}));  // parked
    EXPECT_EQ(levels.seen.at("bus.frame_n"), (changes{{0, 1}, {3, 0}, {8, 1}}));
}

TEST(wires, one_dword_needs_no_64_bits) {
    const std::vector<std::pair<std::string, std::string>> wide = {{"bus.kind", "pci"},
                                                                   {"bus.clock_mhz", "66"}};
    for (const std::uint64_t address : {0x1000, 0x1004, 0x1006}) {
        const auto p = draw(wide, job::kind::write, address, address % 4 ? 2 : 4, {});
        for (const auto& c : p.clocks) EXPECT_FALSE(c.req64 || c.ack64) << address;
        EXPECT_EQ(p.clocks[2].cbe, address % 4 ? 0xF3u : 0xF0u);
        EXPECT_EQ(p.clocks[2].ad, address % 4 ? 0xA1A00000u : 0xA3A2A1A0u);
    }
    const auto across = draw(wide, job::kind::write, 0x1002, 4, {});
    EXPECT_TRUE(across.clocks[0].req64);
}

TEST(wires, what_is_not_yet_reported_is_not_settled) {
    bench b({{"bus.kind", "pci"}, {"bus.clock_mhz", "66"}});
    auto& m = b.add_master("m", 1);
    b.add_target("t", 0, 65536, 2);
    recorder_client client;
    std::vector<std::uint8_t> data(800);
    job j{.what = job::kind::write, .address = 0, .bytes = data, .client = &client};
    b.at_clock(0, [&] { m.start(j); });
    const auto& s = sim::simulation::current();
    sc_core::sc_start(sim::to_sc_time(50 * 15000));
    // Address in clock 3, data to clock 104.
    EXPECT_EQ(s.settled(sim::now()), 3u * 15000 - 1);
    sc_core::sc_start(sim::to_sc_time(100 * 15000));
    EXPECT_EQ(s.settled(sim::now()), 150u * 15000);
}

}  // namespace
}  // namespace vinic::bus
