// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/special_registers.h"

#include <gtest/gtest.h>

#include "firmware/abi/lanai_registers.h"
#include "hw/sim/error.h"
#include "testbench/tests/nic/timeline.h"

namespace vinic::nic {
namespace {

namespace reg = abi::lanai9;

struct bench {
    explicit bench(const std::string& chip = "lanai9")
        : memory("sram", clock, traits_of(chip)), registers("registers", clock, traits_of(chip), memory) {
        registers.interrupt = [this](bool level) {
            interrupts.emplace_back(clock.domain().edge_at_or_before(sim::now()), level);
        };
    }
    sim::simulation simulation;
    card_clock clock = test::clock_133();
    sram memory;
    special_registers registers;
    test::timeline script;
    std::vector<std::pair<cycle, bool>> interrupts;

    std::uint32_t load(std::uint32_t offset, cycle at) {
        return registers.load(reg::register_base + offset, 4, at);
    }
    void store(std::uint32_t offset, std::uint32_t value, cycle at) {
        registers.store(reg::register_base + offset, 4, value, at);
    }
    /// As the core does it: in the issue phase of the cycle.
    void store_in(cycle at, std::uint32_t offset, std::uint32_t value) {
        script.at(clock.time_of(at, phase::issue), [=, this] { store(offset, value, at); });
    }
    lanai::register_value peek(std::uint32_t offset, cycle at) const {
        return registers.peek(reg::register_base + offset, 4, at).value();
    }
};

TEST(special_registers, bit_set_on_an_edge_is_seen_on_the_next) {
    bench b;
    b.script.at(b.clock.time_of(10), [&] { b.registers.raise({isr_event::recv}); });
    b.script.at(b.clock.time_of(20) + 1, [&] { b.registers.raise({isr_event::send}); });  // between two edges
    sc_core::sc_start();
    EXPECT_EQ(b.registers.isr_at(20), std::uint32_t{reg::ISR_RECV});
    EXPECT_EQ(b.registers.isr_at(21), reg::ISR_RECV | reg::ISR_SEND);
}

TEST(special_registers, a_peek_knows_the_coming_change) {
    bench b;
    b.script.at(b.clock.time_of(10), [&] {
        b.registers.raise({isr_event::recv});
        EXPECT_EQ(b.peek(reg::ISR, 10).value, 0u);
        EXPECT_EQ(b.peek(reg::ISR, 10).next_change, 11u);
        EXPECT_EQ(b.peek(reg::ISR, 11).value, std::uint32_t{reg::ISR_RECV});
        EXPECT_EQ(b.peek(reg::ISR, 11).next_change, lanai::never);
    });
    sc_core::sc_start();
}

TEST(special_registers, writing_one_clears_only_what_could_be_seen) {
    bench b;
    b.script.at(b.clock.time_of(10), [&] { b.registers.raise({isr_event::recv, isr_event::head}); });
    b.script.at(b.clock.time_of(20), [&] { b.registers.raise({isr_event::buff}); });
    // The instruction of cycle 20 does not see BUFF, so it cannot clear it.
    b.store_in(20, reg::ISR, reg::ISR_RECV | reg::ISR_BUFF);
    sc_core::sc_start();
    EXPECT_EQ(b.registers.isr_at(30), reg::ISR_HEAD | reg::ISR_BUFF);
}

TEST(special_registers, host_sig_is_set_by_the_lanai_and_cleared_by_the_host) {
    bench b;
    b.store_in(10, reg::ISR, reg::ISR_HOST_SIG);
    b.script.at(b.clock.time_of(20), [&] {
        EXPECT_EQ(b.registers.isr_at(20), std::uint32_t{reg::ISR_HOST_SIG});
        b.registers.store_offset(reg::ISR, reg::ISR_HOST_SIG, 20);
        EXPECT_EQ(b.registers.isr_at(20), 0u);
    });
    sc_core::sc_start();
}

TEST(special_registers, interrupt_follows_isr_eimr_and_the_boards_enable) {
    bench b;
    b.store_in(5, reg::EIMR, reg::ISR_HOST_SIG);
    b.store_in(10, reg::ISR, reg::ISR_HOST_SIG);  // seen in 11: but not enabled
    b.script.at(b.clock.time_of(20), [&] { b.registers.enable_interrupt(true); });
    b.script.at(b.clock.time_of(30), [&] { b.registers.store_offset(reg::ISR, reg::ISR_HOST_SIG, 30); });
    b.script.at(b.clock.time_of(40), [&] { b.registers.raise({isr_event::recv}); });  // masked
    b.store_in(50, reg::ISR, reg::ISR_HOST_SIG);                                      // seen in 51
    b.script.at(b.clock.time_of(60), [&] { b.registers.enable_interrupt(false); });
    sc_core::sc_start();
    const std::vector<std::pair<cycle, bool>> expected{{21, true}, {31, false}, {51, true}, {61, false}};
    EXPECT_EQ(b.interrupts, expected);
    EXPECT_EQ(b.registers.host_interrupts.value(), 2u);
}

// Ticks of 500000 ps at 7500 ps a cycle: tick n begins at edge ceil(n * 66.67), 67, 134, 200 ...
TEST(special_registers, clock_is_a_function_of_time) {
    bench b;
    EXPECT_EQ(b.load(reg::RTC, 66), 0u);
    EXPECT_EQ(b.load(reg::RTC, 67), 1u);
    EXPECT_EQ(b.peek(reg::RTC, 67).next_change, 134u);
    EXPECT_EQ(b.peek(reg::RTC, 134).next_change, 200u);
    b.store(reg::RTC, 1000, 140);
    EXPECT_EQ(b.load(reg::RTC, 199), 1000u);
    EXPECT_EQ(b.load(reg::RTC, 200), 1001u);
    sc_core::sc_start();
    EXPECT_EQ(sim::now(), 0u);  // no event
}

TEST(special_registers, cycle_counter_counts_every_edge) {
    bench b;
    EXPECT_EQ(b.load(reg::CPUC, 123), 123u);
    b.store(reg::CPUC, 0, 200);
    EXPECT_EQ(b.load(reg::CPUC, 207), 7u);
    EXPECT_EQ(b.peek(reg::CPUC, 207).next_change, 208u);
}

TEST(special_registers, timer_expires_when_its_ticks_are_over) {
    bench b;
    // Loaded with 3 in tick 1 (cycle 100): reaches zero when tick 4 begins, 2000000 ps, between edges 266
    // (1995000) and 267 (2002500); seen in 267.
    b.store(reg::IT0, 3, 100);
    EXPECT_EQ(b.load(reg::IT0, 100), 3u);
    EXPECT_EQ(b.load(reg::IT0, 140), 2u);
    EXPECT_EQ(b.peek(reg::ISR, 101).next_change, 267u);
    EXPECT_EQ(b.registers.isr_at(266), 0u);
    EXPECT_EQ(b.registers.isr_at(267), std::uint32_t{reg::ISR_TIME0});
    // On an edge exactly (tick 3 = 1500000 ps = edge 200): seen on the next.
    b.store(reg::IT1, 2, 100);
    EXPECT_EQ(b.registers.isr_at(200), 0u);
    EXPECT_EQ(b.registers.isr_at(201), std::uint32_t{reg::ISR_TIME1});
    sc_core::sc_start();
    EXPECT_EQ(sim::now(), 0u);  // nobody is interrupted: no event
}

TEST(special_registers, timer_that_can_interrupt_is_an_event) {
    bench b;
    b.script.at(0, [&] {
        b.registers.enable_interrupt(true);
        b.store(reg::EIMR, reg::ISR_TIME0, 0);
        b.store(reg::IT0, 4, 0);
    });
    sc_core::sc_start();
    const std::vector<std::pair<cycle, bool>> expected{{267, true}};
    EXPECT_EQ(b.interrupts, expected);
}

TEST(special_registers, expired_timer_can_be_cleared_and_loaded_again) {
    bench b;
    b.script.at(0, [&] { b.store(reg::IT0, 1, 0); });  // expires at 500000 ps, seen in 67
    b.store_in(100, reg::ISR, reg::ISR_TIME0);
    b.store_in(101, reg::IT0, 1);  // in tick 1, expires when tick 2 begins, 1000000 ps: seen in 134
    sc_core::sc_start();
    EXPECT_EQ(b.registers.isr_at(133), 0u);
    EXPECT_EQ(b.registers.isr_at(134), std::uint32_t{reg::ISR_TIME0});
}

TEST(special_registers, maps_only_words_that_exist) {
    bench b;
    EXPECT_TRUE(b.registers.mapped(reg::register_base + reg::ISR, 4));
    EXPECT_FALSE(b.registers.mapped(reg::register_base + reg::ISR, 2));
    EXPECT_FALSE(b.registers.mapped(reg::register_base + reg::ISR + 4, 4));
    EXPECT_FALSE(b.registers.mapped(0x01000000, 4));
    EXPECT_TRUE(b.registers.mapped(abi::simulator::log_port, 4));
}

TEST(special_registers, chips_have_their_own_maps) {
    bench b("lanai4");
    EXPECT_TRUE(b.registers.mapped(abi::lanai4::register_base + abi::lanai4::DMA_CTR, 4));
    EXPECT_FALSE(b.registers.mapped(reg::register_base + reg::CPUC, 4));
    EXPECT_EQ(b.registers.mask_of(isr_event::dma), std::uint32_t{abi::lanai4::ISR_DMA});
    EXPECT_EQ(b.registers.mask_of(isr_event::head), 0u);
}

TEST(special_registers, lanai7_has_one_wake_bit) {
    bench b("lanai7");
    EXPECT_EQ(b.registers.mask_of(isr_event::wake1), b.registers.mask_of(isr_event::wake0));
    EXPECT_EQ(b.registers.mask_of(isr_event::wake2), 1u << 12);
}

TEST(special_registers, handlers_stand_behind_their_registers) {
    bench b;
    std::uint32_t written = 0;
    b.registers.connect(chip_register::pulse, {nullptr, [&](std::uint32_t v, cycle) { written = v; }});
    b.registers.connect(chip_register::rmp,
                        {[](cycle at) { return static_cast<std::uint32_t>(at * 2); }, nullptr});
    b.store(reg::PULSE, 5, 1);
    b.store(reg::LED, 77, 1);
    EXPECT_EQ(written, 5u);
    EXPECT_EQ(b.load(reg::RMP, 21), 42u);
    EXPECT_EQ(b.load(reg::LED, 2), 77u);
    EXPECT_FALSE(b.registers.peek(reg::register_base + reg::RMP, 4, 5).has_value());
}

TEST(special_registers, assertion_of_firmware_stops_the_run_with_its_text) {
    bench b;
    const std::string text = "queue is full";
    b.memory.poke(0x400, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size() + 1));
    try {
        b.registers.store(abi::simulator::assert_port, 4, 0x400, 1);
        FAIL();
    } catch (const sim::model_error& e) {
        EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
}

TEST(special_registers, log_port_gathers_lines) {
    struct : sim::listener {
        std::vector<std::string> lines;
        void on_packet(const sim::packet_probe&, sim::picoseconds, std::span<const std::uint8_t> bytes,
                       std::string_view, std::span<const sim::field>) override {
            lines.emplace_back(bytes.begin(), bytes.end());
        }
    } seen;
    bench b;
    b.registers.log.attach(seen);
    for (const char c : std::string("hello\nworld\n"))
        b.registers.store(abi::simulator::log_port, 4, static_cast<unsigned char>(c), 1);
    EXPECT_EQ(seen.lines, (std::vector<std::string>{"hello", "world"}));
}

}  // namespace
}  // namespace vinic::nic
