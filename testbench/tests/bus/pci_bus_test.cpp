// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/pci_bus.h"

#include <gtest/gtest.h>

#include "hw/sim/error.h"
#include "testbench/tests/bus/bus_fixture.h"

namespace vinic::bus {
namespace {

using test::bench;
using test::pattern;
using test::recorder_client;

job write_job(std::uint64_t address, std::vector<std::uint8_t>& bytes, job_client& client) {
    return {.what = job::kind::write, .address = address, .bytes = bytes, .client = &client};
}
job read_job(std::uint64_t address, std::vector<std::uint8_t>& bytes, job_client& client) {
    return {.what = job::kind::read, .address = address, .bytes = bytes, .client = &client};
}

const std::vector<std::pair<std::string, std::string>> pci_64_66 = {{"bus.kind", "pci"},
                                                                    {"bus.clock_mhz", "66"}};
const std::vector<std::pair<std::string, std::string>> pcix_133 = {
    {"bus.kind", "pcix"}, {"bus.clock_mhz", "133"}, {"bus.target_decode_clocks", "1"}};

std::vector<std::pair<std::string, std::string>> with(
    std::vector<std::pair<std::string, std::string>> base,
    std::initializer_list<std::pair<std::string, std::string>> more) {
    base.insert(base.end(), more);
    return base;
}

TEST(pci_bus, request_grant_address_data) {
    bench b(pci_64_66);
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0x1000, 4096, 2);
    recorder_client client;
    auto bytes = pattern(64);
    auto j = write_job(0x1000, bytes, client);
    b.at_clock(10, [&] { m.start(j); });
    b.run();
    // Arrives at edge 10: REQ# in clock 11, GNT# 12, address 13, DEVSEL# and 8 data phases 15-22,
    // turnaround 23.
    ASSERT_EQ(t.scheduled.size(), 1u);
    const tenure_schedule& s = t.scheduled[0].schedule;
    EXPECT_EQ(s.address, 13u);
    EXPECT_EQ(s.response, 15u);
    EXPECT_EQ(s.first_data, 15u);
    EXPECT_EQ(s.last_data(), 22u);
    EXPECT_EQ(s.end, 24u);
    EXPECT_EQ(s.phases, 8u);
    EXPECT_EQ(s.first_data_at, 16u * 15000);
    EXPECT_EQ(s.data_period, 15000u);
    // Told at the decision, before the address phase; moved when the last data phase ends.
    EXPECT_EQ(t.scheduled[0].at, 12u * 15000);
    EXPECT_EQ(t.moved[0].at, 23u * 15000);
    EXPECT_EQ(client.done_at, std::vector<sim::picoseconds>{23 * 15000});
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), t.memory.begin()));
    EXPECT_EQ(b.bus->bytes.value(), 64u);
    EXPECT_EQ(b.bus->arbitration_wait.samples().sum(), 2u);
    EXPECT_EQ(b.bus->utilisation.busy(), 11u * 15000);
}

TEST(pci_bus, a_request_in_mid_clock_is_seen_at_the_next_edge) {
    bench b(pci_64_66);
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0x1000, 4096, 2);
    recorder_client client;
    auto bytes = pattern(8);
    auto j = write_job(0x1000, bytes, client);
    sc_core::sc_spawn([&] {
        sc_core::wait(sim::to_sc_time(10 * 15000 - 1));
        m.start(j);
    });
    b.run();
    EXPECT_EQ(t.scheduled[0].schedule.address, 12u);  // REQ# in clock 10
}

TEST(pci_bus, the_parked_master_starts_without_arbitration) {
    bench b(pci_64_66);  // parks on the last master
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0x1000, 4096, 2);
    recorder_client client;
    auto bytes = pattern(8);
    auto first = write_job(0x1000, bytes, client);
    auto second = write_job(0x1000, bytes, client);
    b.at_clock(0, [&] { m.start(first); });
    b.at_clock(20, [&] { m.start(second); });
    b.run();
    EXPECT_EQ(t.scheduled[0].schedule.address, 3u);
    EXPECT_EQ(t.scheduled[1].schedule.address, 21u);
}

TEST(pci_bus, back_to_back_bursts_of_one_master_leave_one_turnaround) {
    bench b(with(pci_64_66, {{"m.max_burst_bytes", "64"}}));
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0x1000, 4096, 2);
    recorder_client client;
    auto bytes = pattern(1024);
    auto j = write_job(0x1000, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    ASSERT_EQ(t.moved.size(), 16u);
    for (std::uint64_t i = 0; i < 16; ++i) {
        EXPECT_EQ(t.moved[i].schedule.address, 3 + i * (8 + 3));
        EXPECT_EQ(t.moved[i].address, 0x1000 + 64 * i);
    }
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), t.memory.begin()));
}

TEST(pci_bus, round_robin_starts_behind_the_last_winner) {
    bench b(with(pci_64_66,
                 {{"m0.max_burst_bytes", "64"}, {"m1.max_burst_bytes", "64"}, {"m2.max_burst_bytes", "64"}}));
    std::vector<master*> m;
    for (int i = 0; i < 3; ++i)
        m.push_back(&b.add_master("m" + std::to_string(i), static_cast<std::uint8_t>(i)));
    auto& t = b.add_target("t", 0, 65536, 9);
    recorder_client client;
    auto bytes = pattern(128);
    job jobs[3];
    for (unsigned i = 0; i < 3; ++i) jobs[i] = write_job(0x1000 * i, bytes, client);
    // Started in the order 2, 0, 1 at one instant: the order of the bus is by number.
    b.at_clock(5, [&] {
        m[2]->start(jobs[2]);
        m[0]->start(jobs[0]);
        m[1]->start(jobs[1]);
    });
    b.run();
    std::vector<std::uint64_t> order;
    for (const auto& s : t.moved) order.push_back(s.address >> 12);
    EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 1, 2, 0, 1, 2}));
    // All back to back: six tenures of 8 + 3 clocks.
    EXPECT_EQ(t.moved.back().schedule.end, 8 + 6 * 11u);
}

TEST(pci_bus, fixed_priority_prefers_the_lowest_number) {
    bench b(with(pci_64_66,
                 {{"bus.arbitration", "fixed"}, {"m0.max_burst_bytes", "64"}, {"m1.max_burst_bytes", "64"}}));
    auto& m0 = b.add_master("m0", 0);
    auto& m1 = b.add_master("m1", 1);
    auto& t = b.add_target("t", 0, 65536, 9);
    recorder_client client;
    auto bytes = pattern(192);
    auto j0 = write_job(0, bytes, client);
    auto j1 = write_job(0x1000, bytes, client);
    b.at_clock(5, [&] { m1.start(j1); });
    b.at_clock(6, [&] { m0.start(j0); });
    b.run();
    std::vector<std::uint64_t> order;
    for (const auto& s : t.moved) order.push_back(s.address >> 12);
    EXPECT_EQ(order, (std::vector<std::uint64_t>{1, 0, 0, 0, 1, 1}));
}

// An owner that asks again in the same clock as others of less priority keeps its GNT#, whoever is heard
// first; one that asks a clock later has lost it.
TEST(pci_bus, fixed_priority_asks_who_keeps_the_grant_when_all_requests_of_a_clock_are_known) {
    for (const int m0_is : {0, 1, 2}) {  // first, second at the same instant, a clock later
        bench b(with(pci_64_66, {{"bus.arbitration", "fixed"}, {"bus.latency_timer_clocks", "32"}}));
        auto& m0 = b.add_master("m0", 0);
        auto& m1 = b.add_master("m1", 1);
        auto& t = b.add_target("t", 0, 65536, 9);
        recorder_client client;
        auto bytes = pattern(4096);
        auto j0 = write_job(0, bytes, client), again = write_job(0x2000, bytes, client);
        auto j1 = write_job(0x4000, bytes, client);
        b.at_clock(0, [&] { m0.start(j0); });
        b.at_clock(10, [&] {
            if (m0_is == 0) m0.start(again);
            m1.start(j1);
            if (m0_is == 1) m0.start(again);
        });
        if (m0_is == 2) b.at_clock(11, [&] { m0.start(again); });
        b.run();
        // As below: the timer ends it after 31 data phases.
        EXPECT_EQ(t.moved[0].bytes, m0_is == 2 ? 31u * 8 : 4096u) << m0_is;
    }
}

TEST(pci_bus, the_latency_timer_counts_only_when_another_master_wants_the_bus) {
    for (const bool contended : {false, true}) {
        bench b(with(pci_64_66, {{"bus.latency_timer_clocks", "32"}}));
        auto& m0 = b.add_master("m0", 0);
        auto& m1 = b.add_master("m1", 1);
        auto& t = b.add_target("t", 0, 65536, 9);
        recorder_client c0, c1;
        auto bytes = pattern(4096);
        auto j0 = write_job(0, bytes, c0);
        auto j1 = write_job(0x2000, bytes, c1);
        b.at_clock(0, [&] { m0.start(j0); });  // address in clock 3, data from 5
        if (contended) b.at_clock(10, [&] { m1.start(j1); });
        b.run();
        if (!contended) {
            EXPECT_EQ(t.moved[0].bytes, 4096u);
            continue;
        }
        // Expires at clock 3 + 32 = 35: data phases in clocks 5 to 35 = 31, of 8 bytes.
        EXPECT_EQ(t.moved[0].bytes, 31u * 8);
        EXPECT_GE(c0.cuts, 1);
        EXPECT_EQ(t.cuts, c0.cuts + c1.cuts);
        EXPECT_EQ(t.moved[1].address, 0x2000u);
        EXPECT_EQ(t.moved[1].schedule.address, 37u);  // 36 is the turnaround
        EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), t.memory.begin()));
        EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), t.memory.begin() + 0x2000));
    }
}

TEST(pci_bus, a_late_request_after_the_timer_ends_the_tenure_when_grant_is_gone) {
    bench b(with(pci_64_66, {{"bus.latency_timer_clocks", "8"}}));
    auto& m0 = b.add_master("m0", 0);
    auto& m1 = b.add_master("m1", 1);
    auto& t = b.add_target("t", 0, 65536, 9);
    recorder_client c0, c1;
    auto bytes = pattern(4096), other = pattern(8);
    auto j0 = write_job(0, bytes, c0);
    auto j1 = write_job(0x2000, other, c1);
    b.at_clock(0, [&] { m0.start(j0); });
    b.at_clock(99, [&] { m1.start(j1); });
    b.run();
    // REQ# in clock 100, GNT# taken away in 101, seen at edge 102: data in clocks 5 to 102 = 98.
    EXPECT_EQ(t.moved[0].bytes, 98u * 8);
}

TEST(pci_bus, narrow_targets_and_io_take_32_bits) {
    bench b(pci_64_66);
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0x1000, 4096, 2, 0, false);
    recorder_client client;
    auto bytes = pattern(64);
    auto j = write_job(0x1000, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    EXPECT_EQ(t.moved[0].schedule.phases, 16u);
    EXPECT_EQ(t.moved[0].schedule.width_bytes, 4u);
}

TEST(pci_bus, above_4_gib_takes_a_dual_address_cycle) {
    bench b(pci_64_66);
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0x1'0000'0000, 4096, 2);
    recorder_client client;
    auto bytes = pattern(64);
    auto j = write_job(0x1'0000'0000, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    EXPECT_EQ(t.moved[0].schedule.clocks(), 8 + 4u);
}

TEST(pci_bus, nobody_answers_is_a_master_abort) {
    bench b(pci_64_66);
    auto& m = b.add_master("m", 1);
    b.add_target("t", 0x1000, 4096, 2);
    recorder_client client;
    auto bytes = pattern(64);
    auto j = write_job(0x9000, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    EXPECT_EQ(client.done, std::vector<job_status>{job_status::master_abort});
    EXPECT_EQ(b.bus->aborts.value(), 1u);
}

TEST(pci_bus, a_burst_is_disconnected_where_its_target_ends) {
    bench b(pci_64_66);
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0x1000, 256, 2);
    auto& u = b.add_target("u", 0x1100, 256, 3);
    recorder_client client;
    auto bytes = pattern(128);
    auto j = write_job(0x10C0, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    EXPECT_EQ(t.moved[0].bytes, 64u);
    EXPECT_EQ(u.moved[0].bytes, 64u);
    EXPECT_EQ(client.done, std::vector<job_status>{job_status::done});
}

TEST(pci_bus, a_target_that_breaks_its_limits_stops_the_run) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer does not survive an exception that leaves a SystemC process";
#else
    bench b(pci_64_66);
    auto& m = b.add_master("m", 1);
    b.add_target("t", 0x1000, 4096, 2).answer.initial_wait_clocks = 14;
    recorder_client client;
    std::vector<std::uint8_t> bytes(64);
    auto j = read_job(0x1000, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    std::string complaint;
    try {
        b.run();
    } catch (const std::exception& e) {  // the kernel wraps what a process throws
        complaint = e.what();
    }
    EXPECT_NE(complaint.find("bus at 30000 ps: target 0: too late with its first data or STOP#"),
              std::string::npos)
        << complaint;
#endif
}

TEST(pci_bus, max_initial_waits_is_what_the_limit_allows) {
    bus_properties p;
    EXPECT_EQ(p.max_initial_waits(2), 13u);
    EXPECT_EQ(p.max_initial_waits(2, true), 12u);
    p.kind = bus_kind::pcix;
    EXPECT_EQ(p.max_initial_waits(1), 12u);
}

TEST(pci_bus, a_target_stops_a_burst) {
    bench b(pci_64_66);
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0x1000, 4096, 2);
    recorder_client client;
    auto bytes = pattern(4096);
    auto j = write_job(0x1000, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.at_clock(49, [&] { t.port.stop(); });
    b.run();
    // Data phases from clock 5; STOP# in clock 50: 46 phases, a clock to raise FRAME#, idle 52. REQ# was
    // released in 51 and 52, asserted in 53, address in 53 since the bus is parked here.
    EXPECT_EQ(t.moved[0].bytes, 46u * 8);
    EXPECT_EQ(t.moved[1].schedule.address, 53u);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), t.memory.begin()));
    EXPECT_EQ(b.bus->disconnects.value(), 1u);
}

TEST(pci_bus, retried_transactions_are_repeated) {
    bench b(pci_64_66);
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0x1000, 4096, 2);
    recorder_client client;
    std::vector<std::uint8_t> bytes(64);
    t.memory = pattern(4096);
    std::vector<std::uint64_t> asked;
    t.decide = [&](const auto&, const pci_extension& pci) -> target_answer {
        asked.push_back(pci.schedule.address);
        return asked.size() < 3 ? target_answer{.kind = answer_kind::retry} : target_answer{};
    };
    auto j = read_job(0x1000, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    // Address 3, STOP# 5, FRAME# up 6, idle 7; REQ# is off in 6 and 7, on in 8: parked, so the address stands
    // in 8.
    EXPECT_EQ(asked, (std::vector<std::uint64_t>{3, 8, 13}));
    EXPECT_EQ(b.bus->retries.value(), 2u);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), t.memory.begin()));
}

TEST(pci_bus, a_free_bus_takes_no_time) {
    bench b(with(pci_64_66, {{"bus.free", "true"}}));
    auto& m = b.add_master("m", 1);
    auto& t = b.add_target("t", 0x1000, 65536, 2);
    t.memory = pattern(65536);
    recorder_client client;
    std::vector<std::uint8_t> bytes(20000);
    auto j = read_job(0x1000, bytes, client);
    b.at_clock(7, [&] { m.start(j); });
    b.run();
    EXPECT_EQ(client.done_at, std::vector<sim::picoseconds>{7 * 15000});
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), t.memory.begin()));
}

TEST(pci_bus, a_free_pcix_bus_moves_splits_without_time) {
    bench b(with(pcix_133, {{"bus.free", "true"}}));
    auto& m = b.add_master("m", 1);
    b.add_target("own", 0x10'0000, 4096, 1, 0, true, &m);
    auto& host = b.add_splitter("host", 0, 65536, 9, 60);
    host.memory = pattern(65536);
    recorder_client client;
    std::vector<std::uint8_t> bytes(512);
    auto j = read_job(0x1000, bytes, client);
    b.at_clock(7, [&] { m.start(j); });
    b.run();
    // Only the completer's own latency is left.
    EXPECT_EQ(client.done_at, std::vector<sim::picoseconds>{(7 + 60) * 7500});
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), host.memory.begin() + 0x1000));
}

TEST(pci_bus, a_transaction_costs_two_events_whatever_its_length) {
    const auto deltas = [](std::size_t size, unsigned count) {
        bench b(pci_64_66);
        auto& m = b.add_master("m", 1);
        b.add_target("t", 0, 65536, 2);
        recorder_client client;
        std::vector<std::uint8_t> bytes(size);
        auto j = write_job(0, bytes, client);
        client.when_done = [&](job& again) {
            if (client.done.size() < count) m.start(again);
        };
        b.at_clock(0, [&] { m.start(j); });
        b.run();
        return sc_core::sc_delta_count();
    };
    EXPECT_EQ(deltas(8, 200) - deltas(8, 100), 200u);
    EXPECT_EQ(deltas(4096, 200) - deltas(4096, 100), 200u);
}

TEST(pci_bus, the_order_of_calls_within_an_instant_changes_nothing) {
    const auto run = [](const std::vector<unsigned>& order) {
        bench b(with(pci_64_66, {{"bus.latency_timer_clocks", "24"}}));
        std::vector<master*> m;
        for (unsigned i = 0; i < 3; ++i)
            m.push_back(&b.add_master("m" + std::to_string(i), static_cast<std::uint8_t>(i)));
        auto& t = b.add_target("t", 0, 65536, 9);
        recorder_client client;
        auto bytes = pattern(1024);
        std::vector<job> jobs;
        for (unsigned i = 0; i < 9; ++i) jobs.push_back(write_job(0x1000 * i, bytes, client));
        // Three instants, one of them an edge at which a decision falls.
        for (unsigned round = 0; round < 3; ++round)
            for (const unsigned i : order)
                b.at_clock(12 * round, [&, i, round] { m[i]->start(jobs[3 * round + i]); });
        b.run();
        std::vector<std::pair<std::uint64_t, std::uint64_t>> trace;
        for (const auto& s : t.moved) trace.emplace_back(s.address, s.schedule.address);
        return trace;
    };
    const auto trace = run({0, 1, 2});
    EXPECT_GT(trace.size(), 9u);
    EXPECT_EQ(run({2, 1, 0}), trace);
    EXPECT_EQ(run({1, 2, 0}), trace);
}

TEST(pci_bus, illegal_combinations_are_input_errors) {
    EXPECT_THROW(bench({{"bus.kind", "pci"}, {"bus.clock_mhz", "133"}}), sim::input_error);
    EXPECT_THROW(bench({{"bus.kind", "pcix"}, {"bus.clock_mhz", "33"}}), sim::input_error);
    EXPECT_THROW(bench({{"bus.kind", "pcix"}, {"bus.clock_mhz", "133"}, {"bus.target_decode_clocks", "4"}}),
                 sim::input_error);
    EXPECT_NO_THROW(bench({{"bus.kind", "pcix"}, {"bus.clock_mhz", "100"}}));
    bench b(pci_64_66);
    EXPECT_THROW(b.add_target("t", 0, 4096, 1, 5), sim::input_error);  // SUB of PCI-X
}

TEST(pci_bus, tools_reach_targets_without_time) {
    bench b(pci_64_66);
    auto& m = b.add_master("m", 1);
    b.add_target("t", 0x1000, 4096, 2);
    b.at_clock(0, [&] {
        const auto bytes = pattern(100);
        EXPECT_EQ(m.debug_write(0x1234, bytes), 100u);
        std::vector<std::uint8_t> back(100);
        EXPECT_EQ(m.debug_read(0x1234, back), 100u);
        EXPECT_EQ(back, bytes);
    });
    b.run();
    EXPECT_EQ(b.bus->transactions.value(), 0u);
}

}  // namespace
}  // namespace vinic::bus
