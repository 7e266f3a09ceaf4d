// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/checker.h"

#include <gtest/gtest.h>

#include "hw/bus/wire_sampler.h"
#include "hw/sim/random.h"
#include "testbench/tests/bus/bus_fixture.h"

namespace vinic::bus {
namespace {

using test::bench;
using test::recorder_client;
using settings = std::vector<std::pair<std::string, std::string>>;

// --- the rules, each with wires that break it
// ----------------------------------------------------------------

/// A legal memory write of two dwords (medium decode), as drawn in the PCI specification.
std::vector<bus_clock> pci_write() {
    std::vector<bus_clock> w(8);
    for (std::size_t i = 0; i < w.size(); ++i) w[i].clock = 10 + i;
    const auto drive = [](bus_clock& c, std::uint64_t ad, unsigned cbe) {
        c.ad = ad;
        c.ad_floating = 0xFFFF'FFFF'0000'0000;
        c.cbe = static_cast<std::uint8_t>(cbe);
        c.cbe_floating = 0xF0;
    };
    w[0].req = w[1].req = 1;
    w[1].gnt = w[2].gnt = 1;
    w[2].frame = w[3].frame = w[4].frame = true;  // address in w[2], data in w[4] and w[5], idle in w[6]
    w[3].irdy = w[4].irdy = w[5].irdy = true;
    w[4].devsel = w[5].devsel = w[4].trdy = w[5].trdy = true;
    drive(w[2], 0x1000, 0x7);
    for (int i = 3; i <= 5; ++i) drive(w[i], 0xCAFE, 0x0);
    return w;
}

std::vector<std::string> check(const std::vector<bus_clock>& wires, bus_properties bus = {}) {
    protocol_checker checker(bus);
    for (const bus_clock& w : wires) checker.sample(w);
    checker.finish();
    return checker.violations();
}

TEST(checker, accepts_a_legal_write) { EXPECT_EQ(check(pci_write()), std::vector<std::string>{}); }

TEST(checker, names_the_rule_that_is_broken) {
    struct row {
        const char* rule;
        std::function<void(std::vector<bus_clock>&)> spoil;
    };
    const row rows[] = {
        {"clock 11: more than one GNT#", [](auto& w) { w[1].gnt = 3; }},
        {"clock 12: FRAME# without GNT#", [](auto& w) { w[1].gnt = 0; }},
        {"clock 12: a control signal in the address phase", [](auto& w) { w[2].irdy = true; }},
        {"clock 12: nobody drives the address", [](auto& w) { w[2].ad_floating = ~std::uint64_t{0}; }},
        {"clock 15: nobody drives the data", [](auto& w) { w[5].ad_floating = 1; }},
        {"clock 15: nobody drives C/BE#", [](auto& w) { w[5].cbe_floating = 0xFF; }},
        {"clock 13: TRDY# or STOP# before DEVSEL#", [](auto& w) { w[3].trdy = true; }},
        {"clock 15: DEVSEL# does not stay", [](auto& w) { w[5].devsel = w[5].trdy = false; }},
        {"clock 16: the target does not let go", [](auto& w) { w[6].devsel = true; }},
        {"clock 13: FRAME# rises without IRDY#",
         [](auto& w) { w[3].frame = w[3].irdy = w[4].frame = false; }},
        {"clock 15: FRAME# falls again",
         [](auto& w) {
             w[4].frame = false;
             w[5].frame = true;
         }},
        {"clock 17: a control signal outside of a transaction", [](auto& w) { w[7].trdy = true; }},
        {"clock 14: ACK64# without REQ64#", [](auto& w) { w[4].ack64 = true; }},
        {"clock 16: data after the last data phase",
         [](auto& w) {
             w[4].frame = false;
             w[5].frame = false;
             w[6] = w[5];
             w[6].clock = 16;
         }},
        {"clock 14: REQ# is not released after STOP#",
         [](auto& w) {
             w[3].devsel = w[3].stop = true;  // retry, fast decode
             w[4].stop = true;
             w[4].trdy = w[5].trdy = w[5].irdy = w[4].frame = w[5].devsel = false;
             w[4].req = 1;
         }},
        {"never repeats what was retried at 0x1000",
         [](auto& w) {
             w[4].trdy = w[5].trdy = false;
             w[4].stop = w[5].stop = true;
         }},
    };
    for (const row& r : rows) {
        auto wires = pci_write();
        r.spoil(wires);
        const auto found = check(wires, {.width_bytes = 8});
        const bool named = std::ranges::any_of(
            found, [&](const std::string& v) { return v.find(r.rule) != std::string::npos; });
        std::string all;
        for (const auto& v : found) all += v + "; ";
        EXPECT_TRUE(named) << "expected: " << r.rule << ", found: " << all;
    }
}

TEST(checker, counts_the_16_and_8_clock_limits) {
    // Medium decode with w wait states: legal up to first data in the 16th clock of FRAME# (w = 13).
    const auto found = [](std::uint64_t waits) {
        auto wires = pci_write();
        std::vector<bus_clock> longer(wires.begin(), wires.begin() + 4);
        for (std::uint64_t i = 0; i < waits; ++i) {
            longer.push_back(wires[4]);
            longer.back().trdy = false;
        }
        longer.insert(longer.end(), wires.begin() + 4, wires.end());
        for (std::size_t i = 0; i < longer.size(); ++i) longer[i].clock = 10 + i;
        return check(longer);
    };
    EXPECT_TRUE(found(13).empty());
    EXPECT_FALSE(found(14).empty());
}

// --- random traffic: bytes, clocks and rules
// -----------------------------------------------------------------

constexpr std::uint64_t region = 1 << 16;

class random_traffic {
public:
    /// `split`: PCI-X targets that answer every block read by a split response.
    random_traffic(const settings& s, std::uint64_t seed, bool split = false)
        : bench_(s), random_(seed, "traffic") {
        for (unsigned m = 0; m < 3; ++m) {
            auto& master = bench_.add_master("m" + std::to_string(m), static_cast<std::uint8_t>(m));
            if (split)
                bench_.add_target("own" + std::to_string(m), (8 + m) * region, 4096,
                                  static_cast<std::uint8_t>(m), 0, true, &master);
        }
        for (unsigned t = 0; t < 2; ++t) memories_.push_back(split ? &split_memory(t) : &memory(t));
        sampler_.emplace(bench_.bus->properties(), bench_.bus->wires);
    }

    /// Runs `count` jobs per master; each master has its own part of each target's memory.
    void run(unsigned count, bool stops) {
        expected_.assign(memories_.size(), std::vector<std::uint8_t>(region));
        drivers_.reserve(bench_.masters.size());
        for (std::size_t m = 0; m < bench_.masters.size(); ++m)
            drivers_.push_back(std::make_unique<driver>(*this, m, count));
        for (auto& d : drivers_) bench_.at_clock(random_.below(40), [&d] { d->next(); });
        if (stops)
            for (int i = 0; i < 200; ++i)
                bench_.at_clock(random_.below(20'000),
                                [this] { memories_[random_.below(memories_.size())]->port.stop(); });
        bench_.run();
    }

    void check() {
        for (const auto& d : drivers_) EXPECT_EQ(d->left, 0u);
        for (std::size_t t = 0; t < memories_.size(); ++t) EXPECT_EQ(memories_[t]->memory, expected_[t]);
        protocol_checker checker(bench_.bus->properties());
        sampler_->replay([&](const bus_clock& w) { checker.sample(w); });
        checker.finish();
        std::string all;
        for (const auto& v : checker.violations()) all += v + "\n";
        EXPECT_EQ(checker.violations().size(), 0u) << all;
        const auto& b = *bench_.bus;
        EXPECT_EQ(checker.transactions(),
                  b.transactions.value() + b.retries.value() + b.splits.value() + b.aborts.value());
        EXPECT_GT(checker.transactions(), 100u);
    }

    /// Each tenure that moved data took what the formulas of facts/lanai_pcix.md C1 and C2 say.
    void check_clocks() {
        const bool pcix = bench_.bus->properties().kind == bus_kind::pcix;
        const std::uint64_t decode = bench_.bus->target_decode_clocks;
        for (const auto* t : memories_) {
            for (const auto& s : t->moved) {
                const bool read = is_read(s.command, bench_.bus->properties().kind);
                const std::uint64_t width = s.schedule.width_bytes;
                const std::uint64_t n = (s.address % width + s.bytes + width - 1) / width;
                const std::uint64_t w = s.answer.initial_wait_clocks, between = s.answer.wait_clocks;
                std::uint64_t expected;
                if (pcix) {
                    // address, attributes, decode, waits (in pairs for a write), data, turnaround
                    expected = 1 + 1 + decode + (read ? w : (w + 1) / 2 * 2) + n + 1;
                } else {
                    // address, decode (a read: at least the turnaround of AD), waits, data, turnaround
                    const std::uint64_t lead = read ? std::max<std::uint64_t>(decode, 2) : decode;
                    expected = 1 + (lead - 1) + w + n + (n - 1) * between + 1;
                }
                // A PCI target that disconnects makes FRAME# rise one clock later.
                const std::uint64_t extra = s.schedule.clocks() - expected;
                EXPECT_EQ(s.schedule.phases, n);
                const bool may_be_surprised = !pcix && limited(s.answer) && !s.cut;
                EXPECT_LE(extra, may_be_surprised ? 1u : 0u);
            }
        }
    }

    bench& b() { return bench_; }

private:
    static bool limited(const target_answer& a) { return a.limit_bytes || a.boundary_bytes; }

    test::memory_target& memory(unsigned t) {
        auto& target = bench_.add_target("t" + std::to_string(t), t * region, region,
                                         static_cast<std::uint8_t>(16 + t), 0, t % 2 == 0);
        target.decide = [this](const auto&, const auto&) { return answer(); };
        return target;
    }
    test::memory_target& split_memory(unsigned t) {
        auto& target = bench_.add_splitter("t" + std::to_string(t), t * region, region,
                                           static_cast<std::uint8_t>(16 + t), 20 + 50 * t);
        target.decide = [this, split = target.decide](const auto& payload, const pci_extension& pci) {
            const bool busy = random_.below(5) == 0;
            return busy ? target_answer{.kind = answer_kind::retry} : split(payload, pci);
        };
        return target;
    }

    target_answer answer() {
        const bool pcix = bench_.bus->properties().kind == bus_kind::pcix;
        target_answer a;
        if (random_.below(5) == 0) a.kind = answer_kind::retry;
        a.initial_wait_clocks =
            static_cast<std::uint32_t>(random_.below(a.kind == answer_kind::retry ? 3 : 9));
        if (!pcix && random_.below(4) == 0) a.wait_clocks = static_cast<std::uint32_t>(random_.below(8));
        if (random_.below(4) == 0) a.limit_bytes = static_cast<std::uint32_t>(1 + random_.below(600));
        if (random_.below(4) == 0) a.boundary_bytes = 32u << random_.below(6);
        return a;
    }

    /// One master's endless source of jobs.
    struct driver : job_client {
        driver(random_traffic& in, std::size_t number, unsigned count)
            : traffic(in), m(number), left(count) {}

        void next() {
            auto& r = traffic.random_;
            const std::uint64_t share = region / traffic.bench_.masters.size();
            target = r.below(traffic.memories_.size());
            at = m * share + r.below(share - 3000);
            bytes.resize(1 + (r.below(3) ? r.below(64) : r.below(3000)));
            write = r.below(2);
            for (auto& b : bytes) b = static_cast<std::uint8_t>(r.next());
            if (write)
                std::ranges::copy(bytes, traffic.expected_[target].begin() + static_cast<std::ptrdiff_t>(at));
            j = {.what = write ? job::kind::write : job::kind::read,
                 .address = target * region + at,
                 .bytes = bytes,
                 .client = this};
            traffic.bench_.masters[m]->start(j);
        }
        void on_done(job&, job_status status) override {
            EXPECT_EQ(status, job_status::done);
            const auto expected = traffic.expected_[target].begin() + static_cast<std::ptrdiff_t>(at);
            EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected));
            if (--left) next();
        }

        random_traffic& traffic;
        std::size_t m;
        unsigned left;
        std::size_t target = 0;
        std::uint64_t at = 0;
        bool write = false;
        std::vector<std::uint8_t> bytes;
        job j;
    };

    bench bench_;
    sim::random_stream random_;
    std::optional<wire_sampler> sampler_;
    std::vector<test::memory_target*> memories_;
    std::vector<std::unique_ptr<driver>> drivers_;
    std::vector<std::vector<std::uint8_t>> expected_;
};

const settings kinds[] = {
    {{"bus.kind", "pci"},
     {"bus.width_bits", "32"},
     {"bus.clock_mhz", "33"},
     {"bus.latency_timer_clocks", "16"}},
    {{"bus.kind", "pci"},
     {"bus.clock_mhz", "66"},
     {"bus.target_decode_clocks", "1"},
     {"bus.parking", "none"}},
    {{"bus.kind", "pci"},
     {"bus.clock_mhz", "66"},
     {"bus.target_decode_clocks", "3"},
     {"bus.arbitration", "fixed"}},
    {{"bus.kind", "pcix"},
     {"bus.clock_mhz", "133"},
     {"bus.target_decode_clocks", "1"},
     {"bus.latency_timer_clocks", "20"}},
    {{"bus.kind", "pcix"},
     {"bus.clock_mhz", "100"},
     {"bus.target_decode_clocks", "2"},
     {"bus.parking", "first"}},
    {{"bus.kind", "pcix"},
     {"bus.width_bits", "32"},
     {"bus.clock_mhz", "66"},
     {"bus.target_decode_clocks", "3"}},
};

TEST(checker, random_traffic_keeps_every_rule_and_every_byte) {
    for (const settings& s : kinds) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            random_traffic traffic(s, seed);
            traffic.run(60, false);
            traffic.check();
            traffic.check_clocks();
        }
    }
}

TEST(checker, random_traffic_with_targets_that_stop_in_mid_burst) {
    for (const settings& s : kinds) {
        random_traffic traffic(s, 7);
        traffic.run(100, true);
        traffic.check();
        EXPECT_GT(traffic.b().bus->disconnects.value(), 0u);
    }
}

TEST(checker, random_split_traffic) {
    for (const char* outstanding : {"1", "4", "32"}) {
        settings s = kinds[3];
        s.push_back({"bus.latency_timer_clocks", "20"});
        for (const char* m : {"m0", "m1", "m2"}) {
            s.push_back({std::string(m) + ".max_outstanding_splits", outstanding});
            s.push_back({std::string(m) + ".max_read_bytes", "1024"});
        }
        random_traffic traffic(s, 11, true);
        traffic.run(60, true);
        traffic.check();
        EXPECT_GT(traffic.b().bus->splits.value(), 50u);
        EXPECT_GT(traffic.b().bus->disconnects.value(), 0u);  // at ADBs, by the latency timer
    }
}

}  // namespace
}  // namespace vinic::bus
