// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/master.h"

#include <gtest/gtest.h>

#include <array>

#include "testbench/tests/bus/bus_fixture.h"
#include "testbench/tests/rtl/event_log.h"

namespace vinic::bus {
namespace {

using test::bench;
using test::pattern;
using test::recorder_client;
using settings = std::vector<std::pair<std::string, std::string>>;

settings with(settings base, const settings& more) {
    base.insert(base.end(), more.begin(), more.end());
    return base;
}

const settings pci_64_66 = {{"bus.kind", "pci"}, {"bus.clock_mhz", "66"}};
const settings pcix_133 = {{"bus.kind", "pcix"}, {"bus.clock_mhz", "133"}, {"bus.target_decode_clocks", "1"}};

job make_job(job::kind what, std::uint64_t address, std::vector<std::uint8_t>& bytes, job_client& client) {
    return {.what = what, .address = address, .bytes = bytes, .client = &client};
}

/// The commands of a job's bursts.
std::vector<bus::command> commands(const settings& s, job::kind what, std::uint64_t address,
                                   std::size_t size) {
    bench b(s);
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0, 65536, 2);
    recorder_client client;
    std::vector<std::uint8_t> bytes(size);
    auto j = make_job(what, address, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    std::vector<bus::command> result;
    for (const auto& seen : t.moved) result.push_back(seen.command);
    return result;
}

TEST(master, chooses_the_command_that_fits) {
    using enum command;
    using list = std::vector<bus::command>;
    EXPECT_EQ(commands(pci_64_66, job::kind::read, 0x100, 8), list{memory_read});
    EXPECT_EQ(commands(pci_64_66, job::kind::read, 0x104, 20), list{read_line});
    EXPECT_EQ(commands(pci_64_66, job::kind::read, 0x104, 32), list{read_multiple});
    EXPECT_EQ(commands(pci_64_66, job::kind::write, 0x100, 100), list{memory_write});
    const auto lines = with(pci_64_66, {{"m.write_and_invalidate", "true"}});
    EXPECT_EQ(commands(lines, job::kind::write, 0x100, 100), (list{write_and_invalidate, memory_write}));
    EXPECT_EQ(commands(pcix_133, job::kind::read, 0x101, 3), list{memory_read});
    EXPECT_EQ(commands(pcix_133, job::kind::read, 0x102, 3), list{memory_read_block});
    EXPECT_EQ(commands(pcix_133, job::kind::write, 0x100, 8), list{memory_write});
    EXPECT_EQ(commands(pcix_133, job::kind::write, 0x104, 8), list{memory_write_block});
}

TEST(master, cuts_at_boundary_burst_length_and_mmrbc) {
    bench b(with(pcix_133, {{"m.max_read_bytes", "1024"}}));
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0, 65536, 2);
    t.memory = pattern(65536);
    recorder_client client;
    std::vector<std::uint8_t> bytes(3000);
    auto j = make_job(job::kind::read, 0x0FF1, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    std::vector<std::uint64_t> sizes;
    for (const auto& s : t.moved) sizes.push_back(s.bytes);
    EXPECT_EQ(sizes, (std::vector<std::uint64_t>{15, 1024, 1024, 937}));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), t.memory.begin() + 0x0FF1));
}

TEST(master, tells_the_data_phases_before_and_the_bytes_after) {
    bench b(with(pci_64_66, {{"m.max_burst_bytes", "256"}}));
    auto& m = b.add_master("m", 1);
    b.add_target("t", 0, 65536, 2);
    struct : recorder_client {
        std::vector<std::pair<std::uint64_t, sim::picoseconds>> supplies;
        std::vector<sim::picoseconds> told;
        void on_burst(job& j, std::uint64_t offset, std::uint64_t count, const tenure_schedule& s) override {
            told.push_back(sim::now());
            recorder_client::on_burst(j, offset, count, s);
        }
        void on_supply(job&, std::uint64_t offset, std::uint64_t) override {
            supplies.push_back({offset, sim::now()});
        }
    } client;
    auto bytes = pattern(512);
    auto j = make_job(job::kind::write, 0x1000, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    ASSERT_EQ(client.bursts.size(), 2u);
    for (int i = 0; i < 2; ++i) {
        const auto& s = client.bursts[i].schedule;
        EXPECT_LT(client.told[i], s.first_data_at);
        EXPECT_EQ(client.supplies[i].second, s.done_at);
        EXPECT_EQ(s.data_at(31), s.done_at);  // 32 data phases of 8 bytes
        EXPECT_EQ(client.supplies[i].first, 256u * static_cast<unsigned>(i));
    }
}

TEST(master, target_limits_make_it_request_the_rest) {
    bench b(pci_64_66);
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0, 65536, 2);
    t.answer.boundary_bytes = 32;
    recorder_client client;
    auto bytes = pattern(128);
    auto j = make_job(job::kind::write, 0x1010, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    std::vector<std::uint64_t> sizes;
    for (const auto& s : t.moved) sizes.push_back(s.bytes);
    EXPECT_EQ(sizes, (std::vector<std::uint64_t>{16, 32, 32, 32, 16}));
    // 16 bytes: address 3, data 5-6, FRAME# up 7, idle 8; STOP# was seen at edge 7, REQ# off in 7 and 8, on
    // in 9.
    EXPECT_EQ(t.moved[1].schedule.address, 9u);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), t.memory.begin() + 0x1010));
}

// --- ordering
// ------------------------------------------------------------------------------------------------

/// Jobs in the order in which they were done, when the target retries the first try of those named.
std::vector<int> order_of(const std::vector<job::kind>& kinds, const std::vector<int>& retried) {
    bench b(with(pci_64_66, {{"bus.retry_delay_clocks", "100"}}));
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0, 65536, 2);
    std::vector<int> tries(kinds.size()), order;
    t.decide = [&](const tlm::tlm_generic_payload& payload, const pci_extension&) -> target_answer {
        const auto n = static_cast<int>(payload.get_address() >> 12);
        const bool first = tries[n]++ == 0;
        const bool retry = first && std::ranges::count(retried, n);
        return {.kind = retry ? answer_kind::retry : answer_kind::accept};
    };
    recorder_client client;
    client.when_done = [&](job& j) { order.push_back(static_cast<int>(j.address >> 12)); };
    std::vector<std::uint8_t> bytes(64);
    std::vector<job> jobs;
    for (std::size_t i = 0; i < kinds.size(); ++i) jobs.push_back(make_job(kinds[i], i << 12, bytes, client));
    b.at_clock(0, [&] {
        for (job& j : jobs) m.start(j);
    });
    b.run();
    return order;
}

TEST(master, reads_never_pass_writes_and_writes_stay_in_order) {
    using enum job::kind;
    EXPECT_EQ(order_of({write, read, write}, {}), (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(order_of({write, read, write}, {0}), (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(order_of({write, write, read}, {1}), (std::vector<int>{0, 1, 2}));
}

TEST(master, writes_and_reads_pass_a_read_that_was_retried) {
    using enum job::kind;
    EXPECT_EQ(order_of({read, write, read}, {0}), (std::vector<int>{1, 2, 0}));
    EXPECT_EQ(order_of({read, write, read}, {0, 1}), (std::vector<int>{0, 1, 2}));
}

// --- split transactions
// --------------------------------------------------------------------------------------

constexpr std::uint64_t sixty = 60;

TEST(master, one_outstanding_split_read_takes_request_latency_and_completion) {
    bench b(with(pcix_133, {{"m.max_read_bytes", "4096"}, {"bus.parking", "none"}}));
    auto& m = b.add_master("m", 1);
    auto& own = b.add_target("own", 0x10'0000, 4096, 1, 0, true, &m);
    auto& host = b.add_splitter("host", 0, 65536, 9, sixty);
    host.memory = pattern(65536);
    recorder_client client;
    std::vector<std::uint8_t> bytes(4096);
    auto j = make_job(job::kind::read, 0x2000, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    EXPECT_EQ(client.done, std::vector<job_status>{job_status::done});
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), host.memory.begin() + 0x2000));
    // Request: address 3, attributes 4, DEVSEL# 5, split response 6, seen at edge 7. 60 clocks of latency to
    // edge 67; REQ# 68, address 70, attributes, DEVSEL#, 512 data phases in clocks 73 to 584: done at edge
    // 585.
    EXPECT_EQ(client.done_at[0], 585u * 7500);
    EXPECT_EQ(b.bus->splits.value(), 1u);
    EXPECT_EQ(own.moved.size(), 0u);  // the completions went to the master
    ASSERT_EQ(client.bursts.size(), 1u);
    EXPECT_EQ(client.bursts[0].schedule.first_data, 73u);
}

TEST(master, several_outstanding_reads_hide_the_latency) {
    const auto run = [](const char* outstanding) {
        bench b(with(pcix_133, {{"m.max_read_bytes", "512"}, {"m.max_outstanding_splits", outstanding}}));
        auto& m = b.add_master("m", 1);
        b.add_target("own", 0x10'0000, 4096, 1, 0, true, &m);
        auto& host = b.add_splitter("host", 0, 65536, 9, sixty);
        host.memory = pattern(65536);
        recorder_client client;
        std::vector<std::uint8_t> bytes(16384);
        auto j = make_job(job::kind::read, 0x2000, bytes, client);
        b.at_clock(0, [&] { m.start(j); });
        b.run();
        EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), host.memory.begin() + 0x2000));
        return b.clock_of(client.done_at[0]);
    };
    // One: each 512 bytes take at least 5 + 60 + 64 + 4 clocks; all 32: at least 4256.
    EXPECT_GE(run("1"), 32u * (5 + 60 + 64 + 4));
    // Four: the bus is busy all the time, 5 + 68 clocks each, once the first has come.
    EXPECT_LE(run("4"), 32u * (5 + 64 + 4) + 5 + 60 + 20);
}

TEST(master, completions_cut_at_adbs_are_gathered) {
    bench b(with(pcix_133, {{"m.max_read_bytes", "4096"}, {"bus.latency_timer_clocks", "20"}}));
    auto& m = b.add_master("m", 1);
    b.add_target("own", 0x10'0000, 4096, 1, 0, true, &m);
    auto& host = b.add_splitter("host", 0, 65536, 9, 10);
    auto& other = b.add_master("other", 2);
    host.memory = pattern(65536);
    recorder_client client, writer;
    std::vector<std::uint8_t> bytes(2000);
    auto noise = pattern(4096);
    auto j = make_job(job::kind::read, 0x2003, bytes, client);
    auto w = make_job(job::kind::write, 0x8000, noise, writer);
    b.at_clock(0, [&] { m.start(j); });
    b.at_clock(20, [&] { other.start(w); });
    b.run();
    EXPECT_GT(client.bursts.size(), 1u);
    for (std::size_t i = 1; i < client.bursts.size(); ++i)
        EXPECT_EQ((0x2003 + client.bursts[i].offset) % 128, 0u);  // every cut lies on an ADB
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), host.memory.begin() + 0x2003));
    EXPECT_TRUE(std::equal(noise.begin(), noise.end(), host.memory.begin() + 0x8000));
}

TEST(master, a_split_error_message_fails_the_job) {
    bench b(pcix_133);
    auto& m = b.add_master("m", 1);
    b.add_target("own", 0x10'0000, 4096, 1, 0, true, &m);
    auto& completer = b.add_master("completer", 9);
    auto& host = b.add_target("host", 0, 65536, 9);
    recorder_client client, quiet;
    std::vector<std::uint8_t> bytes(64), message(4);
    job error = make_job(job::kind::completion, 0, message, quiet);
    host.decide = [&](const auto&, const pci_extension& pci) -> target_answer {
        error.requester = pci.requester;
        error.tag = pci.tag;
        error.split_error = true;
        return {.kind = answer_kind::split};
    };
    auto j = make_job(job::kind::read, 0x100, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.at_clock(50, [&] { completer.start(error); });
    b.run();
    EXPECT_EQ(client.done, std::vector<job_status>{job_status::split_error});
}

// Who starts first at one instant is chance.
TEST(master, of_jobs_that_start_at_one_instant_the_lower_rank_goes_first) {
    for (const std::array<unsigned, 3>& order : {std::array{0u, 1u, 2u}, {2u, 1u, 0u}, {1u, 2u, 0u}}) {
        bench b(pci_64_66);
        auto& m = b.add_master("m", 1);
        auto& t = b.add_target("t", 0, 65536, 2);
        recorder_client client;
        auto bytes = pattern(8);
        std::array<job, 4> jobs;
        for (unsigned i = 0; i < jobs.size(); ++i) {
            jobs[i] = make_job(job::kind::write, 64 * i, bytes, client);
            jobs[i].rank = i == 3 ? 0 : i;  // the last comes later
        }
        b.at_clock(0, [&] {
            for (const unsigned i : order) m.start(jobs[i]);
        });
        b.at_clock(1, [&] { m.start(jobs[3]); });
        b.run();
        std::vector<std::uint64_t> addresses;
        for (const auto& seen : t.moved) addresses.push_back(seen.address);
        EXPECT_EQ(addresses, (std::vector<std::uint64_t>{0, 64, 128, 192}));
    }
}

TEST(master, a_job_may_be_started_anew_from_on_done) {
    bench b(pci_64_66);
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0, 65536, 2);
    recorder_client client;
    auto bytes = pattern(64);
    auto j = make_job(job::kind::write, 0, bytes, client);
    client.when_done = [&](job& again) {
        if (client.done.size() == 3) return;
        again.address += 64;
        m.start(again);
    };
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    EXPECT_EQ(t.moved.size(), 3u);
    EXPECT_EQ(t.moved[2].address, 128u);
    EXPECT_TRUE(m.idle());
}

// facts/lanai_pcix.md C2: read time = 5 request clocks + latency + data + 4, one outstanding. On the wire
// there is also the completer's arbitration (REQ#, GNT#: 2 clocks when nobody is parked there) and the
// requester's next one, which runs while nothing else does: 2 clocks and the edge at which each request is
// seen.
TEST(master, split_read_rates_of_facts_c2) {
    struct row {
        std::uint64_t latency;
        std::uint64_t mbytes[4];  // 512, 1024, 2048, 4096
    };
    const row rows[] = {{40, {604, 771, 895, 973}},
                        {60, {513, 693, 840, 940}},
                        {100, {395, 576, 748, 879}},
                        {180, {270, 431, 614, 779}}};
    const std::uint64_t sizes[] = {512, 1024, 2048, 4096};
    for (const row& r : rows) {
        for (int i = 0; i < 4; ++i) {
            bench b(
                with(pcix_133, {{"m.max_read_bytes", std::to_string(sizes[i])}, {"bus.parking", "none"}}));
            auto& m = b.add_master("m", 1);
            b.add_target("own", 0x10'0000, 4096, 1, 0, true, &m);
            // The table's latency runs from the end of the request's turnaround to the completion's address
            // phase: 1 clock of turnaround before, 3 of arbitration (seen, REQ#, GNT#) inside.
            b.add_splitter("host", 0, 1 << 20, 9, r.latency - 2);
            recorder_client client;
            std::vector<std::uint8_t> bytes(16 * sizes[i]);
            auto j = make_job(job::kind::read, 0, bytes, client);
            b.at_clock(0, [&] { m.start(j); });
            b.run();
            // From the first completion to the last: 15 periods of request, latency, data and overhead; the
            // request is seen at the edge after the last data phase and arbitrated in two clocks, of which
            // the turnaround is one: 2 more than in the table.
            const std::uint64_t period = 5 + r.latency + sizes[i] / 8 + 4 + 2;
            const auto first = client.bursts.front().schedule.address,
                       last = client.bursts.back().schedule.address;
            EXPECT_EQ(last - first, 15 * period) << "latency " << r.latency << ", " << sizes[i] << " bytes";
            const std::uint64_t table_clocks = period - 2;
            EXPECT_NEAR(static_cast<double>(sizes[i] * 1'000'000 / (table_clocks * 7500)),
                        static_cast<double>(r.mbytes[i]), 1.0);
        }
    }
}

/// Two reads of one master, of which one only may be split, and a write; the second read is given to the
/// master at an edge, before or after what that edge brings.
rtl::test::events second_read(std::uint64_t clock, bool late) {
    bench b(with(pcix_133, {{"m.max_outstanding_splits", "1"}, {"bus.parking", "none"}}));
    auto& m = b.add_master("m", 1);
    b.add_target("own", 0x10'0000, 4096, 1, 0, true, &m);
    b.add_splitter("host", 0, 1 << 20, 9, 12);
    rtl::test::event_log log;
    recorder_client client;
    std::vector<std::uint8_t> first(700), second(64), third(16);
    auto a = make_job(job::kind::read, 0, first, client);
    auto write = make_job(job::kind::write, 0x8000, third, client);
    auto read = make_job(job::kind::read, 0x4000, second, client);
    b.at_clock(0, [&] { m.start(a); });
    b.at_clock(20, [&] { m.start(write); });
    const auto start = [&] { m.start(read); };
    late ? b.late_in_clock(clock, start) : b.at_clock(clock, start);
    b.run();
    EXPECT_EQ(client.done, std::vector<job_status>(3, job_status::done));
    return std::move(log.seen);
}

TEST(master, what_comes_at_an_edge_is_done_in_the_same_clock_whoever_is_woken_first) {
    for (std::uint64_t clock = 1; clock < 120; ++clock) {
        SCOPED_TRACE(clock);
        rtl::test::expect_same(second_read(clock, false), second_read(clock, true));
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace vinic::bus
