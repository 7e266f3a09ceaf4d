// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/delayed_reads.h"

#include <gtest/gtest.h>

#include "testbench/tests/bus/bus_fixture.h"

namespace vinic::bus {
namespace {

using test::bench;
using test::pattern;
using test::recorder_client;

struct delaying : sim::module {
    delaying(const sc_core::sc_module_name& name, bench& b, sim::picoseconds latency)
        : sim::module(name), reads(*this, b.bus->properties()), target(b.add_target("t", 0, 65536, 2)) {
        target.memory = pattern(65536);
        target.decide = [this, latency](const tlm::tlm_generic_payload& payload, const pci_extension& pci) {
            if (!is_read(pci.command, bus_kind::pci)) return target_answer{};
            return reads.answer(payload, pci, [this, latency](std::uint64_t address, std::uint64_t bytes) {
                fetched.push_back({address, bytes});
                return sim::now() + latency;
            });
        };
    }
    delayed_reads reads;
    test::memory_target& target;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> fetched;
};

job read_job(std::uint64_t address, std::vector<std::uint8_t>& bytes, job_client& client) {
    return {.what = job::kind::read, .address = address, .bytes = bytes, .client = &client};
}

TEST(delayed_reads, retries_until_the_bytes_are_there) {
    bench b({{"bus.clock_mhz", "33"}, {"bus.width_bits", "32"}});
    auto& m = b.add_master("m", 1);
    delaying d("d", b, 20 * 30000);
    recorder_client client;
    std::vector<std::uint8_t> bytes(4);
    auto j = read_job(0x1000, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    // Decided at edge 2, so there at edge 22. Single data phases: address 3, STOP# 5, idle 6; REQ# again in
    // 8, parked: address in 8, 13, 18 (sampled at edge 19: too early) and 23 (sampled at edge 24).
    ASSERT_EQ(d.target.moved.size(), 1u);
    EXPECT_EQ(d.target.moved[0].schedule.address, 23u);
    EXPECT_EQ(b.bus->retries.value(), 4u);
    EXPECT_EQ(d.fetched, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0x1000, 4}}));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), d.target.memory.begin() + 0x1000));
}

TEST(delayed_reads, the_bus_is_free_for_others_meanwhile) {
    bench b({{"bus.kind", "pci"}, {"bus.clock_mhz", "66"}});
    auto& m = b.add_master("m", 1);
    auto& other = b.add_master("other", 3);
    delaying d("d", b, 100 * 15000);
    recorder_client client, writer;
    std::vector<std::uint8_t> bytes(64), noise = pattern(256);
    auto j = read_job(0x1000, bytes, client);
    job w{.what = job::kind::write, .address = 0x8000, .bytes = noise, .client = &writer};
    b.at_clock(0, [&] { m.start(j); });
    b.at_clock(5, [&] { other.start(w); });
    b.run();
    EXPECT_LT(writer.done_at[0], client.done_at[0]);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), d.target.memory.begin() + 0x1000));
}

TEST(delayed_reads, each_command_fetches_its_own_amount) {
    bench b({{"bus.clock_mhz", "66"}, {"d.delayed_reads.prefetch_bytes", "128"}});
    auto& m = b.add_master("m", 1);
    delaying d("d", b, 15000);
    recorder_client client;
    std::vector<std::uint8_t> bytes(300);
    auto j = read_job(0x1010, bytes, client);
    b.at_clock(0, [&] { m.start(j); });
    b.run();
    // Read multiple: to the next multiple of 128; the last 60 bytes cross a line too.
    EXPECT_EQ(d.fetched, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                             {0x1010, 0x70}, {0x1080, 0x80}, {0x1100, 0x80}}));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), d.target.memory.begin() + 0x1010));
    EXPECT_EQ(d.reads.bytes_for(command::read_line, 0x1008, 8), 24u);
    EXPECT_EQ(d.reads.bytes_for(command::memory_read, 0x1006, 8), 2u);
}

TEST(delayed_reads, more_than_the_entries_are_retried_without_being_latched) {
    bench b({{"bus.clock_mhz", "66"}, {"d.delayed_reads.entries", "1"}});
    auto& m0 = b.add_master("m0", 1);
    auto& m1 = b.add_master("m1", 3);
    delaying d("d", b, 50 * 15000);
    recorder_client client;
    std::vector<std::uint8_t> first(8), second(8);
    auto j0 = read_job(0x1000, first, client);
    auto j1 = read_job(0x2000, second, client);
    b.at_clock(0, [&] {
        m0.start(j0);
        m1.start(j1);
    });
    b.run();
    EXPECT_EQ(client.done.size(), 2u);
    // The second was latched only after the first had been fetched: two latencies.
    EXPECT_GE(client.done_at[1], 100u * 15000);
    EXPECT_TRUE(std::equal(second.begin(), second.end(), d.target.memory.begin() + 0x2000));
}

TEST(delayed_reads, what_nobody_comes_for_is_discarded) {
    // The master comes back only after 1023 clocks of retry delay, the timer is set to 1024 after the bytes
    // are there.
    for (const char* delay : {"1000", "1024"}) {
        bench b({{"bus.clock_mhz", "66"},
                 {"bus.retry_delay_clocks", delay},
                 {"d.delayed_reads.discard_clocks", "1024"}});
        auto& m = b.add_master("m", 1);
        delaying d("d", b, 1);
        recorder_client client;
        std::vector<std::uint8_t> bytes(8);
        auto j = read_job(0x1000, bytes, client);
        b.at_clock(0, [&] { m.start(j); });
        b.at_clock(4000, [] { sc_core::sc_stop(); });
        b.run();
        EXPECT_EQ(d.reads.discarded.value() > 0, std::string(delay) == "1024");
        EXPECT_EQ(client.done.empty(), std::string(delay) == "1024");
    }
}

}  // namespace
}  // namespace vinic::bus
