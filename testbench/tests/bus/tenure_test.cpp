// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/tenure.h"

#include <gtest/gtest.h>

namespace vinic::bus {
namespace {

// Expected values: facts/lanai_pcix.md C1 (PCI) and C2 (PCI-X). Clock 0 holds the address phase; clocks()
// counts from it through the turnaround.

tenure_terms pci(bool read, std::uint32_t decode, std::uint64_t phases, unsigned width = 4) {
    return {.kind = bus_kind::pci,
            .read = read,
            .width_bytes = width,
            .decode_clocks = decode,
            .length = phases * width};
}

tenure_terms pcix(bool read, std::uint32_t decode, std::uint64_t phases, unsigned width = 8) {
    return {.kind = bus_kind::pcix,
            .read = read,
            .width_bytes = width,
            .decode_clocks = decode,
            .length = phases * width};
}

std::uint64_t clocks(const tenure_terms& t) { return tenure(t, 0).clocks().clocks(); }

TEST(tenure, pci_best_case_is_n_plus_3_and_fast_write_n_plus_2) {
    for (const std::uint64_t n : {1, 2, 8, 64, 1024}) {
        EXPECT_EQ(clocks(pci(false, 2, n)), n + 3);  // medium write
        EXPECT_EQ(clocks(pci(true, 2, n)), n + 3);   // medium read
        EXPECT_EQ(clocks(pci(true, 1, n)), n + 3);   // fast read: AD turns around
        EXPECT_EQ(clocks(pci(false, 1, n)), n + 2);  // fast write
        EXPECT_EQ(clocks(pci(false, 3, n)), n + 4);  // slow
        EXPECT_EQ(clocks(pci(false, 4, n)), n + 5);  // subtractive
    }
}

TEST(tenure, six_data_phases_cost_10_clocks_on_pcix_and_9_on_pci) {
    EXPECT_EQ(clocks(pcix(true, 1, 6)), 10u);
    EXPECT_EQ(clocks(pcix(false, 1, 6)), 10u);
    EXPECT_EQ(clocks(pci(true, 2, 6)), 9u);
}

TEST(tenure, pcix_decode_speeds_respond_1_2_3_5_clocks_after_the_attributes) {
    // address 0, attribute 1, DEVSEL# 1 + k, first data 2 + k, N data, turnaround: N + 3 + k.
    for (const std::uint32_t k : {1u, 2u, 3u, 5u}) {
        const tenure t(pcix(true, k, 16), 0);
        EXPECT_EQ(t.clocks().response, 1 + k);
        EXPECT_EQ(t.clocks().first_data, 2 + k);
        EXPECT_EQ(t.clocks().clocks(), 16 + 3 + k);
    }
}

TEST(tenure, pci_first_read_data_complete_3_clocks_after_the_address_starts) {
    // The first data phase stands in clock 2: it is sampled at the edge that begins clock 3.
    EXPECT_EQ(tenure(pci(true, 1, 4), 0).clocks().first_data + 1, 3u);
    EXPECT_EQ(tenure(pci(true, 2, 4), 0).clocks().first_data + 1, 3u);
    EXPECT_EQ(tenure(pci(false, 1, 4), 0).clocks().first_data + 1, 2u);
}

TEST(tenure, pci_wait_states_come_before_the_first_and_between_later_data) {
    tenure_terms t = pci(true, 2, 8);
    t.answer.initial_wait_clocks = 5;
    t.answer.wait_clocks = 1;
    // address 1, decode and first data 2, 5 waits, 7 further data of 1 wait each, turnaround: 1+2+5+7*2+1.
    EXPECT_EQ(clocks(t), 1 + 2 + 5 + 14 + 1u);
    // The slower side decides: IRDY# late by 2 clocks in each data phase.
    t.answer.initial_wait_clocks = 0;
    t.initiator_wait_clocks = 2;
    EXPECT_EQ(tenure(t, 0).clocks().stride, 3u);
    EXPECT_EQ(tenure(t, 0).clocks().first_data, 3u);  // IRDY# in clock 1 + 2
}

TEST(tenure, pcix_writes_wait_in_pairs_before_the_first_data_only) {
    tenure_terms t = pcix(false, 1, 16);
    t.answer.initial_wait_clocks = 3;
    EXPECT_EQ(clocks(t), 16 + 4 + 4u);
    t.read = true;
    EXPECT_EQ(clocks(t), 16 + 4 + 3u);
}

TEST(tenure, dual_address_cycle_costs_one_clock) {
    tenure_terms t = pci(false, 2, 8);
    t.dual = true;
    EXPECT_EQ(clocks(t), 8 + 4u);
    t = pcix(false, 1, 8);
    t.dual = true;
    EXPECT_EQ(clocks(t), 8 + 5u);
}

TEST(tenure, unaligned_ends_take_whole_data_phases) {
    tenure_terms t = pci(false, 2, 0, 8);
    t.address = 0x1007;
    t.length = 10;  // 1 + 8 + 1 bytes
    EXPECT_EQ(tenure(t, 0).clocks().phases, 3u);
    EXPECT_EQ(tenure(t, 0).clocks().bytes, 10u);
}

TEST(tenure, pci_retry_ends_when_frame_has_risen) {
    // Medium: STOP# in clock 2. A burst raises FRAME# in clock 3 and IRDY# in clock 4 (idle): 5 clocks. A
    // single data phase has FRAME# up already: clock 3 is idle: 4 clocks.
    tenure_terms t = pci(true, 2, 8);
    t.answer.kind = answer_kind::retry;
    EXPECT_EQ(clocks(t), 5u);
    EXPECT_EQ(tenure(t, 0).clocks().phases, 0u);
    EXPECT_EQ(tenure(t, 0).ending(), ending_kind::retry);
    t.length = 4;
    EXPECT_EQ(clocks(t), 4u);
}

TEST(tenure, pcix_split_response_and_retry_take_5_clocks) {
    // "5 request clocks": address, attribute, response, split response, turnaround.
    tenure_terms t = pcix(true, 1, 512);
    t.answer.kind = answer_kind::split;
    EXPECT_EQ(clocks(t), 5u);
    EXPECT_EQ(tenure(t, 0).ending(), ending_kind::split);
    t.answer.kind = answer_kind::retry;
    EXPECT_EQ(clocks(t), 5u);
}

TEST(tenure, master_abort_waits_for_the_last_decode_speed) {
    tenure_terms t = pci(true, 2, 1);
    t.claimed = false;
    // DEVSEL# not later than clock 4; IRDY# rises in clock 5.
    EXPECT_EQ(clocks(t), 6u);
    EXPECT_EQ(tenure(t, 0).ending(), ending_kind::master_abort);
    t = pcix(true, 1, 4);
    t.claimed = false;
    EXPECT_EQ(tenure(t, 0).clocks().response, 6u);  // within 6 clocks of the address phase
    EXPECT_EQ(clocks(t), 8u);
}

TEST(tenure, pci_target_disconnects_at_its_boundary_or_limit) {
    tenure_terms t = pci(false, 2, 64);
    t.address = 0x10;
    t.answer.boundary_bytes = 32;
    tenure at_line(t, 0);
    EXPECT_EQ(at_line.clocks().bytes, 16u);
    EXPECT_EQ(at_line.ending(), ending_kind::disconnected);
    // 4 data phases from clock 2 to 5, a clock in which FRAME# rises, idle: end = 8, one more than N + 3.
    EXPECT_EQ(at_line.clocks().clocks(), 4 + 3 + 1u);
    t.answer = {.limit_bytes = 22};  // 5 whole data phases
    EXPECT_EQ(tenure(t, 0).clocks().bytes, 20u);
    t.answer = {.limit_bytes = 1};  // at least one
    EXPECT_EQ(tenure(t, 0).clocks().bytes, 4u);
    t.answer = {.limit_bytes = 256};
    EXPECT_EQ(tenure(t, 0).ending(), ending_kind::complete);
}

TEST(tenure, pcix_disconnects_at_an_adb_only) {
    tenure_terms t = pcix(false, 1, 512);
    t.address = 0x1040;
    t.answer.limit_bytes = 300;  // ends at 0x116C: the last ADB before is 0x1100
    EXPECT_EQ(tenure(t, 0).clocks().bytes, 0xC0u);
    t.answer.limit_bytes = 60;  // no ADB within reach: a single data phase
    EXPECT_EQ(tenure(t, 0).clocks().bytes, 8u);
    t.answer = {.boundary_bytes = 4096};
    EXPECT_EQ(tenure(t, 0).clocks().bytes, 0xFC0u);
}

TEST(tenure, pcix_fewer_than_4_data_phases_before_the_adb_run_on_to_the_next) {
    tenure_terms t = pcix(false, 1, 512);
    t.answer.boundary_bytes = 128;
    t.address = 0x1080 - 4 * 8;  // exactly four: may stop there
    EXPECT_EQ(tenure(t, 0).clocks().bytes, 32u);
    t.address = 0x1080 - 3 * 8;
    EXPECT_EQ(tenure(t, 0).clocks().bytes, 24u + 128);
    t.address = 0x1080 - 3 * 8 - 1;  // an odd start still needs four data phases
    EXPECT_EQ(tenure(t, 0).clocks().bytes, 25u);
}

TEST(tenure, pci_latency_timer_ends_it_in_the_data_phase_at_hand) {
    tenure t(pci(false, 2, 256), 100);  // data phases in clocks 102, 103, ...
    EXPECT_TRUE(t.cut_by_initiator(132));
    // Clocks 102 to 132: 31 data phases, then the turnaround; FRAME# rises in 132.
    EXPECT_EQ(t.clocks().phases, 31u);
    EXPECT_EQ(t.clocks().end, 134u);
    EXPECT_EQ(t.last_frame(), 131u);
    EXPECT_EQ(t.ending(), ending_kind::disconnected);
    EXPECT_FALSE(t.cut_by_initiator(140));
}

TEST(tenure, pci_latency_timer_before_the_first_data_leaves_one_data_phase) {
    tenure t(pci(false, 2, 256), 100);
    EXPECT_TRUE(t.cut_by_initiator(101));
    EXPECT_EQ(t.clocks().phases, 1u);
    EXPECT_EQ(t.clocks().clocks(), 4u);
}

TEST(tenure, write_and_invalidate_goes_on_to_the_end_of_the_line) {
    tenure_terms terms = pci(false, 2, 256);
    terms.whole_lines = true;
    tenure t(terms, 0);
    EXPECT_TRUE(t.cut_by_initiator(12));  // the 11th data phase: 44 bytes, the line ends at 64
    EXPECT_EQ(t.clocks().bytes, 64u);
}

TEST(tenure, pcix_latency_timer_ends_it_at_the_next_adb_at_least_4_data_phases_ahead) {
    // Data phase n in clock 3 + n; an ADB after 16, 32, ... phases.
    tenure early(pcix(false, 1, 512), 0);
    EXPECT_TRUE(early.cut_by_initiator(3 + 12));  // 12 gone, 4 left to the ADB
    EXPECT_EQ(early.clocks().phases, 16u);
    tenure late(pcix(false, 1, 512), 0);
    EXPECT_TRUE(late.cut_by_initiator(3 + 13));
    EXPECT_EQ(late.clocks().phases, 32u);
    EXPECT_EQ(late.clocks().clocks(), 32 + 4u);
}

TEST(tenure, target_stop_in_mid_burst) {
    tenure t(pci(true, 2, 64), 0);
    EXPECT_TRUE(t.cut_by_target(10));  // data phases 2 .. 10
    EXPECT_EQ(t.clocks().phases, 9u);
    EXPECT_EQ(t.clocks().end, 10 + 3u);
    tenure x(pcix(true, 1, 64), 0);
    EXPECT_TRUE(x.cut_by_target(10));
    EXPECT_EQ(x.clocks().phases, 16u);
}

std::string fault(tenure_terms t, target_answer answer, std::uint64_t limit = 16) {
    t.answer = answer;
    const char* f = fault_of(t, limit);
    return f ? f : "";
}

TEST(tenure, a_target_keeps_its_limits) {
    const std::string late = "too late with its first data or STOP#";
    const std::string waits = "too many wait states between data phases";
    // PCI, medium: the first data phase stands in clock 2 + w and must end by clock 16: w <= 13.
    EXPECT_EQ(fault(pci(true, 2, 8), {.initial_wait_clocks = 13}), "");
    EXPECT_EQ(fault(pci(true, 2, 8), {.initial_wait_clocks = 14}), late);
    EXPECT_EQ(fault(pci(true, 2, 8), {.initial_wait_clocks = 29}, 32), "");
    EXPECT_EQ(fault(pci(true, 2, 8), {.initial_wait_clocks = 30}, 32), late);
    EXPECT_EQ(fault(pci(true, 2, 8), {.wait_clocks = 7}), "");
    EXPECT_EQ(fault(pci(true, 2, 8), {.wait_clocks = 8}), waits);
    EXPECT_EQ(fault(pci(true, 2, 8), {.kind = answer_kind::split}), "PCI has no split response");
    EXPECT_EQ(fault(pcix(false, 1, 8), {.kind = answer_kind::split}), "only a read can be split");
    EXPECT_EQ(fault(pcix(true, 1, 8), {.wait_clocks = 1}), waits);
    // PCI-X, decode A: address 0, attributes 1, DEVSEL# 2, first data 3 + w, done by 16: w <= 12.
    EXPECT_EQ(fault(pcix(true, 1, 8), {.initial_wait_clocks = 12}), "");
    EXPECT_EQ(fault(pcix(true, 1, 8), {.initial_wait_clocks = 13}), late);
    // PCI-X: retry within 8.
    EXPECT_EQ(fault(pcix(true, 1, 8), {.kind = answer_kind::retry, .initial_wait_clocks = 4}), "");
    EXPECT_EQ(fault(pcix(true, 1, 8), {.kind = answer_kind::retry, .initial_wait_clocks = 5}), late);
}

/// MB/s of bursts of `bytes` on a bus of `width` bytes at the exact clock of `period_ps`, rounded down.
std::uint64_t mbytes_per_s(std::uint64_t bytes, std::uint64_t burst_clocks, std::uint64_t period_ps) {
    return bytes * 1'000'000 / (burst_clocks * period_ps);
}

TEST(tenure, derived_rates_of_facts_c1) {
    struct row {
        unsigned width;
        std::uint64_t period_ps;
        std::uint32_t overhead;
        std::uint64_t mbytes[5];
    };
    const std::uint64_t sizes[5] = {64, 256, 512, 1024, 4096};
    // facts/lanai_pcix.md C1; overhead 3 is the best case, more is initial latency.
    const row rows[] = {{4, 30000, 3, {112, 127, 130, 132, 133}},  {4, 30000, 16, {67, 107, 119, 125, 131}},
                        {8, 30000, 16, {89, 178, 213, 237, 259}},  {8, 15000, 3, {388, 488, 509, 521, 530}},
                        {8, 15000, 16, {178, 356, 427, 474, 517}}, {8, 15000, 32, {107, 267, 356, 427, 502}}};
    for (const row& r : rows) {
        for (int i = 0; i < 5; ++i) {
            tenure_terms t = pci(true, 2, sizes[i] / r.width, r.width);
            t.answer.initial_wait_clocks = r.overhead - 3;
            const std::uint64_t rate = mbytes_per_s(sizes[i], clocks(t), r.period_ps);
            // The table is rounded to the nearest.
            EXPECT_NEAR(static_cast<double>(rate), static_cast<double>(r.mbytes[i]), 1.0)
                << r.width << " bytes, overhead " << r.overhead << ", burst " << sizes[i];
        }
    }
}

TEST(tenure, derived_write_rates_of_facts_c2) {
    const std::uint64_t sizes[] = {128, 256, 512, 1024, 2048, 4096};
    const std::uint64_t expected[] = {853, 948, 1004, 1034, 1050, 1058};  // 4 overhead clocks, 133 MHz
    for (int i = 0; i < 6; ++i) {
        const std::uint64_t rate = mbytes_per_s(sizes[i], clocks(pcix(false, 1, sizes[i] / 8)), 7500);
        EXPECT_NEAR(static_cast<double>(rate), static_cast<double>(expected[i]), 1.0);
    }
}

}  // namespace
}  // namespace vinic::bus
