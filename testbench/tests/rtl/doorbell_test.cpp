// SPDX-License-Identifier: Apache-2.0
// The doorbell FIFO's controller: RTL against the model, event by event.
#include <gtest/gtest.h>

#include <deque>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hw/nic/doorbell_region.h"
#include "hw/sim/fingerprint.h"
#include "hw/sim/random.h"
#include "testbench/tests/nic/timeline.h"
#include "testbench/tests/rtl/event_log.h"

namespace vinic::rtl {
namespace {

namespace map = abi::card_map;
using nic::cycle;
using nic::test::settings;

enum class side { model, rtl, rtl_free_running };

settings with(side which, settings more) {
    if (which != side::model) more.emplace_back("doorbells.impl", "rtl");
    if (which == side::rtl_free_running) more.emplace_back("doorbells.rtl.gated", "false");
    return more;
}

/// The region with a SRAM of which every entry is free, and firmware that takes doorbells.
struct bench {
    explicit bench(side which, const settings& given = {})
        : simulation(nic::test::configured(with(which, given))),
          memory("sram", clock, nic::traits_of("lanai9")),
          registers("registers", clock, nic::traits_of("lanai9"), memory),
          doorbells("doorbells", memory, registers) {
        memory.poke(0, std::vector<std::uint8_t>(memory.bytes, 0xFF));
    }
    void free(std::uint32_t entry) { memory.poke(entry, std::vector<std::uint8_t>(4, 0xFF)); }
    std::uint64_t edges() const {
        const auto* edges = dynamic_cast<const sim::counter<sim::unit::clocks>*>(
            sim::simulation::current().statistics().at("doorbells.rtl.edges"));
        return edges->value();
    }
    /// At the next edge of the card's clock.
    void next_clock(std::function<void()> what, cycle more = 0) {
        script.at(clock.time_of(clock.seen() + more), std::move(what));
    }
    void run_until(const bool& finished) {
        while (!finished) sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
    }

    sim::simulation simulation;
    nic::card_clock clock = nic::test::clock_133();
    nic::sram memory;
    nic::special_registers registers;
    nic::doorbell_region doorbells;
    nic::test::timeline script;
};

/// A host that writes doorbells and registers at random, firmware that frees entries more or less quickly,
/// and others that want the SRAM.
struct random_traffic {
    random_traffic(bench& on, std::uint64_t seed, unsigned transactions)
        : b(on), random(seed, "traffic"), left(transactions) {
        b.next_clock([this] { begin(); });
        b.next_clock([this] { next(); }, 20);
    }

    bench& b;
    test::event_log log;
    sim::random_stream random;
    unsigned left;
    bool finished = false;
    std::uint64_t taken = 0;  // doorbells that the firmware has seen
    std::deque<std::vector<std::uint8_t>> buffers;

    void begin() { b.doorbells.set_base(0, 0x8000); }

    void next() {
        if (left == 0) {
            finished = true;
            return;
        }
        --left;
        if (random.chance(0.2)) disturb();
        if (random.chance(left / 500 % 2 == 0 ? 0.2 : 0.9)) take();
        const std::uint64_t kind = random.below(1000);
        if (kind == 0) {
            b.doorbells.reset();
        } else if (kind < 8) {
            b.doorbells.set_base(static_cast<unsigned>(random.below(4)), base());
        } else if (kind < 12) {
            b.doorbells.set_control(static_cast<std::uint32_t>(random.next()) &
                                    (map::CONTROL_FIFO_MULTI_QUEUE | (random.chance(0.1) ? 7u : 1u)));
        } else {
            const auto offset =
                static_cast<std::uint32_t>(random.below(map::bar_bytes - map::doorbells)) & ~3u;
            b.doorbells.ring(offset, static_cast<std::uint32_t>(random.next()), [this] {
                log.seen["done"].push_back(std::to_string(sim::now()));
                wait();
            });
            return;
        }
        wait();
    }
    void wait() {
        b.next_clock([this] { next(); }, random.chance(0.5) ? 0 : random.below(12));
    }
    std::uint32_t base() {
        if (random.chance(0.1))
            return static_cast<std::uint32_t>(random.next());  // outside the SRAM, as a rule
        if (random.chance(0.1)) return ~static_cast<std::uint32_t>(random.below(0x1000));
        return static_cast<std::uint32_t>(random.below(b.memory.bytes)) & ~(random.chance(0.1) ? 0u : 7u);
    }
    void disturb() {
        buffers.emplace_back(8 + random.below(120));
        b.memory.host_access.read(0x100, buffers.back(), nullptr, static_cast<unsigned>(random.below(2)));
    }
    /// The entries of doorbells in the order in which they came.
    void take() {
        const std::vector<std::string>& stored = log.seen["doorbells.doorbell"];
        for (unsigned i = 0; i < 2 && taken < stored.size(); ++i) {
            const std::string& one = stored[taken++];
            b.free(static_cast<std::uint32_t>(std::stoul(one.substr(one.find("entry=") + 6), nullptr, 16)));
        }
    }
};

struct result {
    test::events events;
    std::string fingerprint;
    std::uint64_t doorbells;
    std::uint64_t overflows;
    std::uint64_t edges = 0;
    cycle end;
};

result run_random(side which, std::uint64_t seed) {
    const std::string bytes = std::to_string(0x40000 + 8 * sim::random_stream(seed, "size").below(0xF8000));
    bench b(which, {{"sram.bytes", bytes}});
    random_traffic traffic(b, seed, 10'000);
    const sim::fingerprint fingerprint;
    b.run_until(traffic.finished);
    return {std::move(traffic.log.seen),          fingerprint.text(),
            b.doorbells.doorbells.value(),        b.doorbells.overflows.value(),
            which == side::model ? 0 : b.edges(), b.clock.current()};
}

class doorbell_rtl : public testing::TestWithParam<std::uint64_t> {};

TEST_P(doorbell_rtl, does_what_the_model_does_in_the_same_clock) {
    const result model = run_random(side::model, GetParam());
    const result rtl = run_random(side::rtl, GetParam());
    EXPECT_GT(model.doorbells, 2000u);
    EXPECT_GT(model.overflows, 100u);
    test::expect_same(model.events, rtl.events);
    EXPECT_EQ(model.fingerprint, rtl.fingerprint);
    RecordProperty("doorbells", static_cast<int>(model.doorbells));
    RecordProperty("overflows", static_cast<int>(model.overflows));
}

TEST_P(doorbell_rtl, does_the_same_with_a_clock_that_stands_when_quiet) {
    const result gated = run_random(side::rtl, GetParam());
    const result free = run_random(side::rtl_free_running, GetParam());
    test::expect_same(free.events, gated.events);
    EXPECT_EQ(free.fingerprint, gated.fingerprint);
    EXPECT_NEAR(static_cast<double>(free.edges), static_cast<double>(free.end), 1.0);
    EXPECT_LT(gated.edges, 21'000u);  // one for a word of the host, one for the end of its write
    RecordProperty("edges_free_running", std::to_string(free.edges));
    RecordProperty("edges_gated", std::to_string(gated.edges));
}

INSTANTIATE_TEST_SUITE_P(seeds, doorbell_rtl, testing::Values(1, 2, 3, 4, 5, 6, 7, 8));

/// Rings the queues in turn, more often than their counters count, while firmware takes each at once.
test::events run_through(side which) {
    constexpr std::uint32_t queue_bytes = 0x80000, rings = 4 * 0x10040;
    bench b(which, {{"sram.bytes", std::to_string(0x800000)}});
    test::event_log log("doorbells.depth");
    bool finished = false;
    std::uint32_t bases = 0, rung = 0;
    std::function<void()> next = [&] {
        if (bases < 4) {
            b.doorbells.set_base(bases, bases * queue_bytes);
            ++bases;
            b.next_clock(next);
        } else if (rung == rings) {
            finished = true;
        } else {
            const std::uint32_t queue = rung % 4, entry = rung / 4 % 0x10000;
            ++rung;
            b.doorbells.ring(queue * map::doorbell_page_bytes, rung, [&, queue, entry] {
                b.free(queue * queue_bytes + entry * 8);
                b.next_clock(next);
            });
        }
    };
    b.next_clock([&] {
        b.doorbells.set_control(map::CONTROL_FIFO_MULTI_QUEUE | 7);
        b.next_clock(next);
    });
    b.run_until(finished);
    EXPECT_EQ(b.doorbells.doorbells.value(), rings);
    return std::move(log.seen);
}

TEST(doorbell_rtl, queues_of_any_length_wrap) {
    test::expect_same(run_through(side::model), run_through(side::rtl));
}

TEST(doorbell_rtl, a_second_word_in_a_clock_breaks_an_assertion) {
    bench b(side::rtl);
    b.next_clock([&] {
        b.doorbells.set_base(0, 0x8000);
        b.doorbells.set_control(1);
    });
    try {
        sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
        FAIL() << "no assertion";
    } catch (const std::exception& e) {  // SystemC wraps the model_error of a process
        EXPECT_NE(std::string(e.what()).find("doorbells.rtl"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("doorbell.sv"), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace vinic::rtl
