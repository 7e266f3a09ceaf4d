// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/delayed_reads.h"

#include <gtest/gtest.h>

#include "testbench/tests/bus/bus_fixture.h"

namespace vinic::bus {
namespace {

using test::bench;
using test::pattern;
using test::recorder_client;
using settings = std::vector<std::pair<std::string, std::string>>;

/// A bus with a target that delays its reads.
struct delaying {
    delaying(const settings& s, delayed_reads how, std::uint64_t latency_clocks)
        : b(s),
          reads(how),
          m(b.add_master("m", 1)),
          other(b.add_master("other", 3)),
          target(b.add_target("t", 0, 65536, 2)) {
        target.memory = pattern(65536);
        target.decide = [this, latency_clocks](const auto& payload,
                                               const pci_extension& pci) -> target_answer {
            if (!is_read(pci.command, bus_kind::pci) || reads.there(payload, pci, latency_clocks)) return {};
            return {.kind = answer_kind::retry};
        };
    }
    bench b;
    delayed_reads reads;
    master& m;
    master& other;
    test::memory_target& target;
};

const settings pci_32_33 = {{"bus.kind", "pci"}, {"bus.clock_mhz", "33"}, {"bus.width_bits", "32"}};

job read_job(std::uint64_t address, std::vector<std::uint8_t>& bytes, job_client& client) {
    return {.what = job::kind::read, .address = address, .bytes = bytes, .client = &client};
}

TEST(delayed_reads, retries_until_the_bytes_are_there) {
    delaying d(pci_32_33, {4, 32768}, 17);
    recorder_client client;
    std::vector<std::uint8_t> bytes(4);
    auto j = read_job(0x1000, bytes, client);
    d.b.at_clock(0, [&] { d.m.start(j); });
    d.b.run();
    // Latched in clock 3, there in clock 20. Single data phases: address 3, STOP# 5, idle 6; REQ# again in 8,
    // parked: address in 8, 13, 18 and 23.
    ASSERT_EQ(d.target.moved.size(), 1u);
    EXPECT_EQ(d.target.moved[0].schedule.address, 23u);
    EXPECT_EQ(d.b.bus->retries.value(), 4u);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), d.target.memory.begin() + 0x1000));
}

TEST(delayed_reads, the_bus_is_free_for_others_meanwhile) {
    delaying d(pci_32_33, {4, 32768}, 200);
    recorder_client client, writer;
    std::vector<std::uint8_t> bytes(64), noise = pattern(256);
    auto j = read_job(0x1000, bytes, client);
    job w{.what = job::kind::write, .address = 0x8000, .bytes = noise, .client = &writer};
    d.b.at_clock(0, [&] { d.m.start(j); });
    d.b.at_clock(5, [&] { d.other.start(w); });
    d.b.run();
    EXPECT_LT(writer.done_at[0], client.done_at[0]);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), d.target.memory.begin() + 0x1000));
}

TEST(delayed_reads, what_finds_no_entry_is_retried_without_being_latched) {
    delaying d(pci_32_33, {1, 32768}, 50);
    recorder_client client;
    std::vector<std::uint8_t> first(4), second(4);
    auto j0 = read_job(0x1000, first, client);
    auto j1 = read_job(0x2000, second, client);
    d.b.at_clock(0, [&] {
        d.m.start(j0);
        d.other.start(j1);
    });
    d.b.run();
    ASSERT_EQ(client.done.size(), 2u);
    // The second was latched only after the first had been fetched: two latencies.
    EXPECT_GE(client.done_at[1], 100u * 30000);
    EXPECT_TRUE(std::equal(second.begin(), second.end(), d.target.memory.begin() + 0x2000));
}

TEST(delayed_reads, another_command_is_another_read) {
    delayed_reads reads(4, 1024);
    transaction t;
    t.payload.set_address(0x1000);
    const auto ask = [&](command c, std::uint64_t clock) {
        t.pci.command = c;
        t.pci.schedule.address = clock;
        return reads.there(t.payload, t.pci, 10);
    };
    EXPECT_FALSE(ask(command::memory_read, 100));
    EXPECT_FALSE(ask(command::read_line, 110));
    EXPECT_TRUE(ask(command::memory_read, 110));
    EXPECT_FALSE(ask(command::memory_read, 111));  // a new one
    EXPECT_TRUE(ask(command::read_line, 120));
}

TEST(delayed_reads, other_byte_enables_or_another_width_are_another_read) {
    const auto first_then = [](std::uint64_t address, unsigned bytes, unsigned width) {
        delayed_reads reads(4, 1024);
        transaction t;
        const auto ask = [&](std::uint64_t at, unsigned count, unsigned wide, std::uint64_t clock) {
            t.payload.set_address(at);
            t.payload.set_data_length(count);
            t.pci.schedule.width_bytes = wide;
            t.pci.schedule.address = clock;
            return reads.there(t.payload, t.pci, 10);
        };
        EXPECT_FALSE(ask(0x1004, 4, 8, 100));
        return ask(address, bytes, width, 110);
    };
    EXPECT_TRUE(first_then(0x1004, 4, 8));
    EXPECT_TRUE(first_then(0x1004, 400, 8));  // the first data phase has the same byte enables
    EXPECT_FALSE(first_then(0x1004, 2, 8));
    EXPECT_FALSE(first_then(0x1004, 4, 4));
    EXPECT_FALSE(first_then(0x1005, 3, 8));
}

TEST(delayed_reads, what_nobody_comes_for_is_discarded) {
    delayed_reads reads(4, 1024);
    transaction t;
    t.payload.set_address(0x1000);
    const auto ask = [&](std::uint64_t clock) {
        t.pci.schedule.address = clock;
        return reads.there(t.payload, t.pci, 10);
    };
    EXPECT_FALSE(ask(100));
    EXPECT_TRUE(ask(110 + 1024));  // the last clock of the timer
    EXPECT_EQ(reads.discarded(), 0u);
    EXPECT_FALSE(ask(2000));
    EXPECT_FALSE(ask(2010 + 1025));
    EXPECT_EQ(reads.discarded(), 1u);
}

}  // namespace
}  // namespace vinic::bus
