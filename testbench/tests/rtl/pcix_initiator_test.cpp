// SPDX-License-Identifier: Apache-2.0
// The initiator of PCI and PCI-X: RTL against the model, event by event, on buses of every kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hw/rtl/available.h"
#include "hw/sim/error.h"
#include "hw/sim/random.h"
#include "testbench/tests/bus/bus_fixture.h"
#include "testbench/tests/rtl/event_log.h"

namespace vinic::rtl {
namespace {

using namespace bus;
using settings = std::vector<std::pair<std::string, std::string>>;

enum class side { model, rtl, rtl_free_running };

constexpr std::uint64_t region = 1 << 16;
/// Every bit of an address is 0 in one and 1 in another; the third is below 4 GB.
constexpr std::uint64_t bases[] = {0x10'0000, 0x5A5A'5A5A'5A5A'0000, 0xA5A5'A5A5'A5A5'0000};
constexpr std::uint64_t nobody = 0x7F00'0000;

/// A bus, its parties and their limits, drawn from a seed.
struct machine {
    bool pcix, split;
    settings set;
    std::uint64_t jobs_at_once;
    bool narrow[3];
    std::uint8_t device;

    machine(std::uint64_t seed, bool on_pcix) : pcix(on_pcix) {
        sim::random_stream r(seed, "machine");
        const auto one_of = [&](std::initializer_list<const char*> choices) {
            return std::string(choices.begin()[r.below(choices.size())]);
        };
        split = pcix && r.below(3) != 0;
        set = {
            {"bus.kind", pcix ? "pcix" : "pci"},
            {"bus.clock_mhz", pcix ? one_of({"66", "100", "133"}) : one_of({"33", "66"})},
            {"bus.width_bits", r.below(3) == 0 ? "32" : "64"},
            {"bus.target_decode_clocks", pcix ? one_of({"1", "2", "3", "5"}) : one_of({"1", "2", "3", "4"})},
            {"bus.cache_line_bytes", one_of({"16", "32", "64", "128"})},
            {"bus.latency_timer_clocks", one_of({"0", "8", "32", "64"})},
            {"bus.retry_delay_clocks", one_of({"2", "3", "17", "700"})},
            {"bus.arbitration", one_of({"round_robin", "fixed"})},
            {"bus.arbitration_clocks", one_of({"1", "2", "2", "3"})},
            {"bus.parking", one_of({"none", "last", "first"})},
            {"dma.max_burst_bytes", std::to_string(4 * (1 + r.below(1200)))},
            {"dma.burst_boundary_bytes", one_of({"32", "64", "256", "1024", "4096"})},
            {"dma.max_read_bytes", one_of({"512", "1024", "2048", "4096"})},
            {"dma.max_outstanding_splits", one_of({"1", "2", "4", "8", "32"})},
            {"dma.write_and_invalidate", one_of({"true", "false"})}};
        jobs_at_once = r.below(4) == 0 ? 15 : 1 + r.below(6);
        for (bool& n : narrow) n = r.below(4) == 0;
        device = static_cast<std::uint8_t>(r.below(31));
    }
};

/// Jobs at random, with so many at a time; another master that wants the bus; targets that answer at random.
class traffic {
public:
    traffic(side which, std::uint64_t seed, bool pcix, unsigned jobs)
        : m_(seed, pcix),
          random_(seed, "traffic"),
          answers_(seed, "answers"),
          bench_(settings_for(which)),
          left_(jobs) {
        dma = &add("dma", m_.device, which == side::model ? implementation::model : implementation::rtl);
        other_ = &add("other", 31, implementation::model);
        for (unsigned t = 0; t < 3; ++t) {
            bus::test::memory_target& target = m_.split ? split_target(t) : target_at(t);
            targets_.push_back(&target);
            for (auto& b : target.memory) b = static_cast<std::uint8_t>(random_.next());
        }
        log_ = std::make_unique<test::event_log>();
    }

    /// Until nothing is left to do, or for so long.
    void run(sim::picoseconds until) {
        for (unsigned i = 0; i < m_.jobs_at_once; ++i) next(*dma, random_.below(400'000));
        next(*other_, random_.below(400'000));
        if (!m_.split)
            for (unsigned i = 0; i < 300; ++i)
                at(random_.below(400'000'000), [this] { targets_[answers_.below(3)]->port.stop(); });
        until == sim::never ? sc_core::sc_start() : sc_core::sc_start(sim::to_sc_time(until));
        EXPECT_EQ(left_, 0u);
        EXPECT_TRUE(dma->idle());
    }

    /// What happened: at the probes, to the jobs, in the memories.
    test::events events() {
        test::events all = std::move(log_->seen);
        all["0 jobs"] = jobs_seen_;
        for (const auto* t : targets_)
            all["1 memories"].push_back(std::string(t->memory.begin(), t->memory.end()));
        return all;
    }
    std::uint64_t statistic(const std::string& name) const {
        const auto* s = sim::simulation::current().statistics().at(name);
        return s->values(sim::now()).front().second;
    }
    const pci_bus& segment() const { return *bench_.bus; }

    master* dma = nullptr;

private:
    settings settings_for(side which) const {
        settings s = m_.set;
        if (which == side::rtl_free_running) s.emplace_back("dma.rtl.gated", "false");
        return s;
    }
    master& add(const std::string& name, std::uint8_t device, implementation how) {
        master& m = bench_.add_master(name, device, how);
        if (m_.split)
            bench_.add_target(name + "_completions", 0x2'0000 * (1 + bench_.masters.size()), 4096, device, 0,
                              true, &m);
        return m;
    }
    bus::test::memory_target& target_at(unsigned t) {
        auto& target = bench_.add_target("t" + std::to_string(t), bases[t], region,
                                         static_cast<std::uint8_t>(16 + t), 0, !m_.narrow[t]);
        target.decide = [this](const auto& payload, const auto& pci) { return answer(payload, pci); };
        return target;
    }
    bus::test::memory_target& split_target(unsigned t) {
        auto& target = bench_.add_splitter("t" + std::to_string(t), bases[t], region,
                                           static_cast<std::uint8_t>(16 + t), 15 + 40 * t);
        target.fails = [this] { return answers_.below(60) == 0; };
        target.decide = [this, split = target.decide](const auto& payload, const pci_extension& pci) {
            if (retries()) return target_answer{.kind = answer_kind::retry};
            return pci.command == command::memory_read_block ? split(payload, pci) : answer(payload, pci);
        };
        return target;
    }
    /// A subtractive decoder of PCI-X would retry too late.
    bool retries() { return answers_.below(6) == 0 && !(m_.pcix && bench_.bus->target_decode_clocks == 5); }
    target_answer answer(const tlm::tlm_generic_payload&, const pci_extension&) {
        target_answer a;
        if (retries()) a.kind = answer_kind::retry;
        if (answers_.below(60) == 0) a.kind = answer_kind::abort;
        a.initial_wait_clocks =
            static_cast<std::uint32_t>(a.kind == answer_kind::accept ? answers_.below(5) : 0);
        if (!m_.pcix && answers_.below(4) == 0) a.wait_clocks = static_cast<std::uint32_t>(answers_.below(8));
        if (answers_.below(4) == 0) a.limit_bytes = static_cast<std::uint32_t>(1 + answers_.below(900));
        if (answers_.below(4) == 0) a.boundary_bytes = 32u << answers_.below(7);
        return a;
    }

    struct work : job_client {
        traffic& in;
        master& by;
        job j;
        std::vector<std::uint8_t> bytes;
        std::uint64_t number;

        work(traffic& t, master& m) : in(t), by(m) {}
        void note(const std::string& what) {
            in.jobs_seen_.push_back(fmt::format("{} job {} {}", sim::now(), number, what));
        }
        void on_burst(job&, std::uint64_t offset, std::uint64_t n, const tenure_schedule& s) override {
            note(fmt::format("burst {} + {} in clocks {} {} {}", offset, n, s.address, s.first_data, s.end));
        }
        void on_cut(job&, std::uint64_t offset, std::uint64_t n, const tenure_schedule& s) override {
            note(fmt::format("cut {} + {} in clocks {} {}", offset, n, s.first_data, s.end));
        }
        void on_arrival(job&, std::uint64_t offset, std::uint64_t n) override {
            note(fmt::format("arrival {} + {}", offset, n));
        }
        void on_done(job&, job_status status) override {
            std::string text(bytes.begin(), bytes.end());
            note(fmt::format("done {} {}", static_cast<int>(status), j.what == job::kind::read ? text : ""));
            in.next(by, in.pause());
            done = true;
        }
        bool done = false;
    };

    sim::picoseconds pause() { return random_.below(3) == 0 ? 0 : random_.below(300'000); }

    void next(master& by, sim::picoseconds later) {
        if (left_ == 0) return;
        --left_;
        const sim::clock_domain& clock = bench_.bus->properties().clock;
        const sim::picoseconds when = sim::now() + later;
        at(random_.below(2) != 0 ? clock.edge(clock.edge_at_or_after(when)) : when,
           [this, &by] { start(by); });
    }
    void start(master& by) {
        // The RTL takes one job in a clock.
        const std::uint64_t clock = bench_.clock_of(sim::now());
        if (&by == dma && clock == last_start_)
            return at(bench_.bus->properties().clock.edge(clock + 1) + random_.below(2),
                      [this, &by] { start(by); });
        if (&by == dma) last_start_ = clock;
        works_.remove_if([](const work& w) { return w.done; });
        work& w = works_.emplace_back(*this, by);
        w.number = ++numbers_;
        const std::uint64_t size = 1 + random_.below(random_.below(3) != 0 ? 64 : 4500);
        w.bytes.resize(size);
        const bool write = random_.below(2) != 0;
        // Nobody writes where somebody reads.
        const std::uint64_t half = region / 2;
        const std::uint64_t offset = (write ? half : 0) + random_.below(half - size);
        const std::uint64_t base = random_.below(200) == 0 ? nobody : bases[random_.below(3)];
        if (write)
            for (auto& b : w.bytes) b = static_cast<std::uint8_t>(random_.next());
        w.j = {.what = write ? job::kind::write : job::kind::read,
               .address = base + offset,
               .bytes = w.bytes,
               .client = &w};
        by.start(w.j);
    }
    void at(sim::picoseconds when, std::function<void()> what) {
        sc_core::sc_spawn([when, what = std::move(what)] {
            if (when > sim::now()) sc_core::wait(sim::delay_until(when));
            what();
        });
    }

    machine m_;
    sim::random_stream random_, answers_;
    bus::test::bench bench_;
    std::vector<bus::test::memory_target*> targets_;
    master* other_ = nullptr;
    std::unique_ptr<test::event_log> log_;
    std::vector<std::string> jobs_seen_;
    std::list<work> works_;
    unsigned left_;
    std::uint64_t numbers_ = 0;
    std::uint64_t last_start_ = ~std::uint64_t{0};
};

struct result {
    test::events events;
    std::uint64_t transactions, edges = 0, late = 0;
    sim::picoseconds end;
};

result run(side which, std::uint64_t seed, bool pcix, unsigned jobs, sim::picoseconds until = sim::never) {
    traffic t(which, seed, pcix, jobs);
    t.run(until);
    result r{.events = t.events(),
             .transactions =
                 t.segment().transactions.value() + t.segment().retries.value() + t.segment().splits.value(),
             .end = sim::now()};
    if (which != side::model) {
        r.edges = t.statistic("dma.rtl.edges");
        r.late = t.statistic("dma.rtl.late_changes");
    }
    return r;
}

class pcix_initiator : public testing::TestWithParam<std::tuple<bool, std::uint64_t>> {
protected:
    bool pcix() const { return std::get<0>(GetParam()); }
    std::uint64_t seed() const { return std::get<1>(GetParam()); }
};

TEST_P(pcix_initiator, does_what_the_model_does_in_the_same_clock) {
    const result model = run(side::model, seed(), pcix(), 800);
    const result rtl = run(side::rtl, seed(), pcix(), 800);
    EXPECT_GT(model.transactions, 1300u);
    test::expect_same(model.events, rtl.events);
    EXPECT_EQ(rtl.late, 0u);
    RecordProperty("transactions", static_cast<int>(model.transactions));
}

TEST_P(pcix_initiator, does_the_same_with_a_clock_that_stands_when_quiet) {
    const result gated = run(side::rtl, seed(), pcix(), 60);
    const result free = run(side::rtl_free_running, seed(), pcix(), 60, gated.end + 1);
    test::expect_same(free.events, gated.events);
    EXPECT_LT(gated.edges, free.edges);
}

INSTANTIATE_TEST_SUITE_P(buses, pcix_initiator,
                         testing::Combine(testing::Bool(), testing::Values(1, 2, 3, 4)), [](const auto& of) {
                             return fmt::format("{}_{}", std::get<0>(of.param) ? "pcix" : "pci",
                                                std::get<1>(of.param));
                         });

/// Jobs as long as the RTL takes, in all its slots, to an address that nobody claims.
test::events abort_long_jobs(implementation how) {
    bus::test::bench b({{"bus.kind", "pcix"}, {"bus.clock_mhz", "133"}});
    master& dma = b.add_master("dma", 3, how);
    b.add_target("elsewhere", 0x1000, 4096, 16);
    test::event_log log;
    std::vector<std::uint8_t> bytes(0xFF'FFFF);
    bus::test::recorder_client client;
    std::list<job> jobs;
    for (std::uint64_t i = 0; i < 16; ++i)
        b.at_clock(10 + i, [&, i] {
            dma.start(jobs.emplace_back(job{.what = i % 2 != 0 ? job::kind::read : job::kind::write,
                                            .address = i % 3 != 0 ? nobody : ~std::uint64_t{0xFFF},
                                            .bytes = bytes,
                                            .client = &client}));
        });
    b.run();
    EXPECT_EQ(client.done, std::vector<job_status>(16, job_status::master_abort));
    return std::move(log.seen);
}

TEST(pcix_initiator_block, jobs_of_16_mb_fail_in_the_clock_of_the_model) {
    test::expect_same(abort_long_jobs(implementation::model), abort_long_jobs(implementation::rtl));
}

/// A read that comes at an edge, while another one of this master is under way, is split or is completed.
test::events second_read(implementation how, std::uint64_t clock, bool late) {
    bus::test::bench b({{"bus.kind", "pcix"},
                        {"bus.clock_mhz", "133"},
                        {"bus.parking", "none"},
                        {"dma.max_outstanding_splits", "1"}});
    master& dma = b.add_master("dma", 3, how);
    b.add_target("completions", 0x10'0000, 4096, 3, 0, true, &dma);
    b.add_splitter("host", 0, 1 << 20, 9, 12);
    test::event_log log;
    bus::test::recorder_client client;
    std::vector<std::uint8_t> first(700), second(64);
    job a{.what = job::kind::read, .address = 0, .bytes = first, .client = &client};
    job read{.what = job::kind::read, .address = 0x4000, .bytes = second, .client = &client};
    b.at_clock(0, [&] { dma.start(a); });
    const auto start = [&] { dma.start(read); };
    late ? b.late_in_clock(clock, start) : b.at_clock(clock, start);
    b.run();
    EXPECT_EQ(client.done, std::vector<job_status>(2, job_status::done));
    return std::move(log.seen);
}

TEST(pcix_initiator_block, what_comes_at_an_edge_is_done_in_the_clock_of_the_model) {
    for (std::uint64_t clock = 1; clock < 120; ++clock)
        for (const bool late : {false, true}) {
            SCOPED_TRACE(clock);
            test::expect_same(second_read(implementation::model, clock, false),
                              second_read(implementation::rtl, clock, late));
            if (HasFatalFailure()) return;
        }
}

/// Sixteen jobs, in one clock each, of so many bytes; writes follow the reads, which would wait for them.
test::events sixteen_jobs(bus::test::bench& b, master& dma, std::size_t size, unsigned writes) {
    test::event_log log;
    bus::test::recorder_client client;
    std::vector<std::uint8_t> bytes = bus::test::pattern(size);
    std::vector<std::vector<std::uint8_t>> reads(16 - writes, std::vector<std::uint8_t>(size));
    std::list<job> jobs;
    for (std::uint64_t i = 0; i < 16; ++i)
        b.at_clock(10 + i, [&, i] {
            const bool write = i >= reads.size();
            dma.start(jobs.emplace_back(job{.what = write ? job::kind::write : job::kind::read,
                                            .address = i * size,
                                            .bytes = write ? bytes : reads[i],
                                            .client = &client}));
        });
    b.run();
    EXPECT_EQ(client.done, std::vector<job_status>(16, job_status::done));
    log.seen["jobs"].push_back(fmt::format("{}", fmt::join(client.done_at, " ")));
    for (const auto& r : reads) log.seen["bytes"].emplace_back(r.begin(), r.end());
    return std::move(log.seen);
}

/// Each job of 16 KB becomes 32 reads, which is as many as may be awaited: from the first slot to the last.
test::events await_32_completions(implementation how) {
    bus::test::bench b({{"bus.kind", "pcix"},
                        {"bus.clock_mhz", "133"},
                        {"dma.max_read_bytes", "512"},
                        {"dma.max_outstanding_splits", "32"}});
    master& dma = b.add_master("dma", 3, how);
    b.add_target("completions", 0x10'0000, 4096, 3, 0, true, &dma);
    auto& host = b.add_splitter("host", 0, 1 << 20, 9, 3000);
    host.memory = bus::test::pattern(host.memory.size());
    return sixteen_jobs(b, dma, 16384, 0);
}

TEST(pcix_initiator_block, as_many_completions_as_may_be_awaited) {
    test::expect_same(await_32_completions(implementation::model), await_32_completions(implementation::rtl));
}

/// A target that answers Retry to the first burst at each address.
test::events retry_all(implementation how, const char* retry_delay) {
    bus::test::bench b(
        {{"bus.kind", "pci"}, {"bus.clock_mhz", "66"}, {"bus.retry_delay_clocks", retry_delay}});
    master& dma = b.add_master("dma", 31, how);
    auto& host = b.add_target("host", 0, 1 << 16, 9);
    std::set<std::uint64_t> met;
    host.decide = [&](const auto& payload, const auto&) -> target_answer {
        return {.kind = met.insert(payload.get_address()).second ? answer_kind::retry : answer_kind::accept};
    };
    return sixteen_jobs(b, dma, 64, 1);
}

TEST(pcix_initiator_block, sixteen_jobs_wait_to_be_repeated) {
    for (const char* clocks : {"1024", "744", "24"}) {
        SCOPED_TRACE(clocks);
        test::expect_same(retry_all(implementation::model, clocks), retry_all(implementation::rtl, clocks));
    }
}

/// Block by block through 1 MB, in the largest bursts.
test::events read_and_write_1_mb(implementation how) {
    bus::test::bench b({{"bus.kind", "pcix"},
                        {"bus.clock_mhz", "133"},
                        {"dma.max_burst_bytes", "4096"},
                        {"dma.max_read_bytes", "4096"},
                        {"dma.max_outstanding_splits", "4"}});
    constexpr std::size_t size = (1 << 20) + 8192;
    master& dma = b.add_master("dma", 3, how);
    b.add_target("completions", 0x10'0000'0000, 4096, 3, 0, true, &dma);
    auto& host = b.add_splitter("host", 0, 2 * size, 9, 20);
    host.memory = bus::test::pattern(host.memory.size());
    test::event_log log;
    bus::test::recorder_client client;
    std::vector<std::uint8_t> read(size), written = bus::test::pattern(size, 5);
    job from{.what = job::kind::read, .address = 0, .bytes = read, .client = &client};
    job to{.what = job::kind::write, .address = size, .bytes = written, .client = &client};
    b.at_clock(10, [&] { dma.start(from); });
    b.at_clock(11, [&] { dma.start(to); });
    b.run();
    EXPECT_TRUE(std::equal(read.begin(), read.end(), host.memory.begin()));
    EXPECT_TRUE(std::equal(written.begin(), written.end(), host.memory.begin() + size));
    log.seen["jobs"].push_back(fmt::format("{}", fmt::join(client.done_at, " ")));
    return std::move(log.seen);
}

TEST(pcix_initiator_block, jobs_of_1_mb_in_the_clocks_of_the_model) {
    test::expect_same(read_and_write_1_mb(implementation::model), read_and_write_1_mb(implementation::rtl));
}

TEST(pcix_initiator_block, what_it_cannot_do_is_an_error_of_the_model) {
    bus::test::bench b({});
    master& dma = b.add_master("dma", 3, implementation::rtl);
    bus::test::recorder_client client;
    std::vector<std::uint8_t> bytes(4);
    job j{.where = job::space::io, .address = 0x100, .bytes = bytes, .client = &client};
    EXPECT_THROW(dma.start(j), sim::model_error);
}

TEST(pcix_initiator_block, a_bus_without_time_is_refused) {
    sim::simulation simulation(bus::test::bench::config({{"bus.free", "true"}}));
    pci_bus bus("bus");
    EXPECT_THROW(master("dma", bus.properties(), {0, 1, 0}, implementation::rtl), sim::input_error);
}

}  // namespace
}  // namespace vinic::rtl
