// SPDX-License-Identifier: Apache-2.0
// Doorbells, descriptors and completions: what lies between a process's rings and the engine.
#include <gtest/gtest.h>

#include <cstring>

#include "hw/nic/vi_engine/completion_writer.h"
#include "hw/nic/vi_engine/descriptor_fetch.h"
#include "hw/nic/vi_engine/doorbell_decoder.h"
#include "testbench/tests/nic/vi_engine/engine_bench.h"

namespace vinic::nic {
namespace {

namespace card = abi::vi_engine;
using edges = std::vector<sequencer::edge>;

struct bells : test::engine_bench {
    explicit bells(const test::settings& given, std::uint64_t memory_clocks = 0)
        : engine_bench(given, memory_clocks), doorbells("doorbells", order, 4) {
        doorbells.effect = [this](std::uint32_t page, std::uint32_t, std::uint32_t data) {
            rung.push_back({page, data});
            when.push_back(edge_now());
        };
        doorbells.called = [](std::uint32_t, std::uint32_t) { return ""; };
    }
    void ring_at(sequencer::edge n, std::uint32_t page, std::uint32_t data) {
        script.at((n - 1) * test::clock_ps, [this, page] { doorbells.posted(page); });
        at(n - 1, [this, page, data] { doorbells.ring(page, {0, data, 0}); });
    }
    doorbell_decoder doorbells;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> rung;
    edges when;
};

TEST(doorbell_decoder, takes_its_clocks_one_after_the_other_in_order) {
    bells b({{"doorbells.decode_clocks", "3"}}, 2);  // the VI's context is read and written back
    b.ring_at(10, 2, 7);
    b.ring_at(12, 1, 8);
    b.ring_at(40, 1, 9);
    sc_core::sc_start();
    EXPECT_EQ(b.rung, (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{2, 7}, {1, 8}, {1, 9}}));
    EXPECT_EQ(b.when, (edges{17, 24, 47}));
    EXPECT_TRUE(b.doorbells.idle());
}

TEST(doorbell_decoder, a_full_queue_is_that_of_its_page_alone) {
    bells b({{"doorbells.queue_depth", "2"}, {"doorbells.decode_clocks", "10"}});
    b.ring_at(10, 0, 1);
    b.ring_at(11, 0, 2);
    std::vector<bool> full;
    const auto look_at = [&](sim::picoseconds when, std::uint32_t page) {
        b.script.at(when, [&, page] { full.push_back(b.doorbells.full(page)); });
    };
    look_at(9 * test::clock_ps - 1, 0);
    look_at(15 * test::clock_ps, 0);
    look_at(15 * test::clock_ps + 1, 1);
    look_at(20 * test::clock_ps, 0);  // what is taken on this edge is free after it
    look_at(20 * test::clock_ps + 1, 0);
    sc_core::sc_start();
    EXPECT_EQ(full, (std::vector<bool>{false, true, false, true, false}));
    EXPECT_EQ(b.doorbells.refused.value(), 2u);
}

struct rings : test::engine_bench {
    explicit rings(const test::settings& given, std::uint32_t slots = 8, std::uint32_t places = 4)
        : engine_bench(given), descriptors("descriptors", order, dma) {
        of.send.ring = test::host_base;
        of.send.mask = slots - 1;
        of.send.slots.resize(places);
        for (std::uint32_t i = 0; i < slots; ++i) {
            card::slot slot{};
            slot.control.length = 100 + i;
            std::memcpy(host.memory.data() + i * sizeof slot, &slot, sizeof slot);
        }
        descriptors.here = [this](vi_context&, bool) { came.push_back(of.send.fetched); };
    }
    void post_at(sequencer::edge n, std::uint32_t posted) {
        at(n - 1, [this, posted] {
            of.send.posted = posted;
            descriptors.want(of, false);
        });
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> reads() const {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
        for (const auto& m : host.moved) all.emplace_back((m.address - test::host_base) / 64, m.bytes / 64);
        return all;
    }
    vi_context of;
    descriptor_fetch descriptors;
    std::vector<std::uint32_t> came;
};
using slots_read = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST(descriptor_fetch, reads_what_is_posted_as_far_as_there_are_places) {
    rings b({});
    b.post_at(10, 6);
    sc_core::sc_start();
    EXPECT_EQ(b.reads(), (slots_read{{0, 4}}));
    EXPECT_EQ(b.came, (std::vector<std::uint32_t>{4}));
    EXPECT_EQ(b.of.send.at(3).control.length, 103u);
}

TEST(descriptor_fetch, one_read_ends_with_the_ring) {
    rings b({}, 8, 4);
    b.of.send.posted = b.of.send.fetched = b.of.send.next = b.of.send.completed = 6;
    b.post_at(10, 9);
    b.at(200, [&] { b.descriptors.want(b.of, false); });
    sc_core::sc_start();
    EXPECT_EQ(b.reads(), (slots_read{{6, 2}, {0, 1}}));
    EXPECT_EQ(b.of.send.at(8).control.length, 100u);
}

TEST(descriptor_fetch, what_is_forgotten_on_its_way_does_not_count) {
    rings b({});
    b.post_at(10, 2);
    b.at(15, [&] { b.descriptors.forget(b.of.send); });
    sc_core::sc_start();
    EXPECT_EQ(b.came, (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(b.of.send.fetching, 0u);
}

// From the request: its clocks, start of the transfer, the bus, decoding.
TEST(descriptor_fetch, clocks_of_one_descriptor) {
    rings b(
        {{"descriptors.request_clocks", "5"}, {"descriptors.decode_clocks", "7"}, {"dma.start_clocks", "3"}});
    sequencer::edge done = 0;
    b.descriptors.here = [&](vi_context&, bool) { done = test::engine_bench::edge_now(); };
    b.post_at(20, 1);
    sc_core::sc_start();
    ASSERT_EQ(b.host.moved.size(), 1u);
    const sim::picoseconds bus_end = b.host.moved[0].at;
    EXPECT_EQ(b.host.moved[0].bytes, 64u);
    // The job starts on edge 28: REQ# in clock 29, GNT# in 30, address in 31 (hw/bus/README.md).
    EXPECT_EQ(b.host.moved[0].schedule.address, 31u);
    EXPECT_EQ(done, bus_end / test::clock_ps + 1 + 7);  // seen on the edge after the last data phase
}

struct completing : test::engine_bench {
    completing()
        : engine_bench(test::settings{}), events("events", order, dma), completions("completion", order, dma, events) {
        events.interrupt = [this](bool asserted) { interrupts += asserted; };
        events.set_ring(test::host_base + 0x8000, 4);
        of.send.ring = test::host_base;
        of.send.mask = 7;
        of.receive.ring = test::host_base + 0x1000;
        of.receive.mask = 7;
    }
    std::uint32_t word(std::uint32_t offset) const {
        std::uint32_t found;
        std::memcpy(&found, host.memory.data() + offset, 4);
        return found;
    }
    vi_context of{.index = 9};
    event_writer events;
    completion_writer completions;
    unsigned interrupts = 0;
};

TEST(completion_writer, writes_length_and_status_of_the_oldest_slot) {
    completing b;
    b.at(10, [&] {
        b.completions.complete(b.of, false, 123, abi::vi_status_op_send);
        b.completions.complete(b.of, false, 124, abi::vi_status_op_send | abi::vi_status_length_error);
        b.completions.complete_immediately(b.of, 77, 5, abi::vi_status_op_receive);
    });
    sc_core::sc_start();
    EXPECT_EQ(b.word(24), 123u);
    EXPECT_EQ(b.word(28), 1u);
    EXPECT_EQ(b.word(64 + 24), 124u);
    EXPECT_EQ(b.word(64 + 28), 9u);
    EXPECT_EQ(b.word(0x1000 + 20), 77u);
    EXPECT_EQ(b.word(0x1000 + 24), 5u);
    EXPECT_EQ(b.word(0x1000 + 28), 0x90001u);
    EXPECT_EQ(b.interrupts, 0u);
}

TEST(completion_writer, entries_go_round_with_another_pass) {
    completing b;
    b.of.receive.queue = 3;
    b.at(10, [&] {
        b.completions.set_queue(3, test::host_base + 0x4000, 2);
        for (unsigned i = 0; i < 3; ++i) b.completions.complete(b.of, true, 0, abi::vi_status_op_receive);
    });
    sc_core::sc_start();
    EXPECT_EQ(b.word(0x4000), 9u | card::completion_receive);
    EXPECT_EQ(b.word(0x4004), 2u);
    EXPECT_EQ(b.word(0x400C), 1u);
}

TEST(completion_writer, an_armed_ring_or_queue_interrupts_once_behind_its_writes) {
    completing b;
    b.of.send.queue = 1;
    b.at(10, [&] {
        b.completions.set_queue(1, test::host_base + 0x4000, 8);
        b.completions.arm(b.of, false, 0);
        b.completions.arm_queue(1, 0);
        b.completions.complete(b.of, false, 0, 0);
        b.completions.complete(b.of, false, 0, 0);
        b.completions.arm(b.of, false, 0);  // too late: two have completed since
    });
    sc_core::sc_start();
    EXPECT_EQ(b.events.events.value(), 3u);
    std::vector<std::uint64_t> order;
    for (const auto& m : b.host.moved) order.push_back(m.address - test::host_base);
    EXPECT_EQ(order.front(), 24u);
    EXPECT_EQ(b.word(0x8000 + 124), 1u);
    EXPECT_EQ(b.word(0x8000) & 0xFFFF, std::uint32_t{card::event_completion_queue});
    EXPECT_EQ(b.word(0x8080) & 0xFFFF, std::uint32_t{card::event_completion_send});
    EXPECT_EQ(b.word(0x8080) >> 16, 9u);
}

TEST(event_writer, waits_while_the_ring_is_full) {
    completing b;
    b.at(10, [&] {
        for (unsigned i = 0; i < 6; ++i) b.events.post_error(i, vip_error::vi_overrun);
    });
    b.at(1000, [&] {
        EXPECT_EQ(b.events.events.value(), 4u);
        b.events.set_taken(1);
    });
    sc_core::sc_start();
    EXPECT_EQ(b.events.events.value(), 5u);
    EXPECT_EQ(b.word(0x8000) >> 16, 4u);
    EXPECT_EQ(b.word(0x8000 + 124), 2u);
}

}  // namespace
}  // namespace vinic::nic
