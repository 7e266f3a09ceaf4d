// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/lanai_core.h"

#include <gtest/gtest.h>

#include "firmware/abi/lanai_registers.h"
#include "hw/nic/special_registers.h"
#include "hw/sim/error.h"
#include "testbench/tests/nic/assembler.h"
#include "testbench/tests/nic/span_log.h"
#include "testbench/tests/nic/timeline.h"

namespace vinic::nic {
namespace {

using test::assembler;
using condition = lanai::condition;
namespace reg = abi::lanai9;

constexpr auto isr_offset = static_cast<std::int32_t>(reg::ISR) - 0x200;  // from register 0
constexpr std::int32_t offset_of(reg::register_offset r) { return static_cast<std::int32_t>(r) - 0x200; }

struct bench {
    explicit bench(const test::settings& given = {})
        : simulation(test::configured(given)),
          memory("sram", clock, traits_of("lanai9")),
          registers("registers", clock, traits_of("lanai9"), memory),
          core("lanai", clock, memory, registers) {
        memory.attach(core);
        registers.attach(core);
    }
    void start(const assembler& program, cycle at = 0) {
        memory.poke(0, program.bytes());
        script.at(clock.time_of(at), [this] { core.release_reset(); });
    }
    void run(cycle until) {
        sc_core::sc_start(sim::to_sc_time(clock.time_of(until) - sim::now()));
        core.finish();
    }
    std::string failure(cycle until) {
        try {
            run(until);
        } catch (const std::exception& e) {
            return e.what();
        }
        return {};
    }
    std::uint32_t r(unsigned n) { return core.core().state().registers[n]; }

    sim::simulation simulation;
    card_clock clock = test::clock_133();
    sram memory;
    special_registers registers;
    lanai_core core;
    test::timeline script;
};

TEST(lanai_core, end_of_the_run_leaves_it_exact) {
    for (const char* lockstep : {"false", "true"}) {
        bench b(test::settings{{"lanai.lockstep", lockstep}});
        assembler p;
        p.label("loop").addi(6, 6, 1).jump("loop");
        b.start(p, 10);
        // 3 instructions an iteration in 12 bytes. Fetches take no slot of anybody else, so an instruction
        // issues each cycle: those before edge 110 are 100.
        b.run(110);
        EXPECT_EQ(b.core.retired.value(), 100u);
        EXPECT_EQ(b.r(6), 34u);
        EXPECT_EQ(b.core.slot_wait.value(), 0u);
    }
}

TEST(lanai_core, register_is_read_on_its_edge) {
    bench b;
    assembler p;
    p.ld(6, 0, offset_of(reg::CPUC)).ld(7, 0, offset_of(reg::CPUC)).label("end").jump("end");
    b.start(p, 1000);
    b.run(1010);
    EXPECT_EQ(b.r(6), 1000u);
    EXPECT_EQ(b.r(7), 1001u);
}

TEST(lanai_core, sees_an_event_in_the_instruction_of_the_next_edge) {
    for (const char* lockstep : {"false", "true"})
        for (cycle event = 200; event < 204; ++event) {
            bench b(test::settings{{"lanai.lockstep", lockstep}});
            assembler p;  // polls each 5 cycles: ld, wait for it, test, branch, nop
            p.li(8, reg::ISR_RECV)
                .label("poll")
                .ld(6, 0, isr_offset)
                .test(6, 8)
                .branch(condition::eq, "poll");
            p.ld(7, 0, offset_of(reg::CPUC)).label("end").jump("end");
            b.start(p);
            b.script.at(b.clock.time_of(event), [&] { b.registers.raise({isr_event::recv}); });
            b.run(300);
            // The polls issue in cycles 2 + 5 n; the first after the event's edge sees it, and 5 cycles later
            // the loop is left. 202 = 2 + 5 * 40 is a poll: an event of edge 202 is not seen there, but in
            // 207.
            const cycle poll = event < 202 ? 202 : 207;
            EXPECT_EQ(b.r(7), poll + 5) << event;
        }
}

TEST(lanai_core, idle_core_schedules_no_event) {
    bench b;
    assembler p;
    p.label("poll").ld(6, 0, isr_offset).test(6, 1).branch(condition::eq, "poll");
    b.start(p);
    sc_core::sc_start();  // ends: nothing will happen
    EXPECT_LT(sim::now(), b.clock.time_of(200'000));
    const cycle now = b.clock.current();
    b.core.finish();
    EXPECT_NEAR(static_cast<double>(b.core.retired.value()), static_cast<double>(now) * 4 / 5, 5);
}

TEST(lanai_core, higher_ports_delay_it) {
    bench b;
    assembler p;
    p.label("loop").addi(6, 6, 1).jump("loop").nop();
    b.start(p, 10);
    std::vector<std::uint8_t> buffer(800);
    // 100 slots in a row from cycle 50 on: nothing can be fetched until 150.
    b.script.at(b.clock.time_of(50), [&] { b.memory.host_dma.read(0x1000, buffer, {}); });
    b.run(50);
    const std::uint64_t before = b.core.retired.value();
    b.run(150);
    // One from the fetch buffer, and one that issues and waits for its word.
    EXPECT_LE(b.core.retired.value() - before, 2u);
    b.run(200);
    EXPECT_GE(b.core.slot_wait.value(), 98u);
    EXPECT_GE(b.core.retired.value() - before, 49u);
}

TEST(lanai_core, code_that_arrives_by_dma_is_executed) {
    bench b;
    assembler first, second;
    first.label("loop").addi(6, 6, 1).jump("loop");
    second.label("loop").addi(7, 7, 1).jump("loop");
    b.start(first, 0);
    const auto bytes = second.bytes();
    b.script.at(b.clock.time_of(100), [&] { b.memory.host_dma.write(0, bytes, {}); });
    b.run(200);
    EXPECT_NEAR(b.r(6), 34, 1);
    EXPECT_NEAR(b.r(7), 32, 3);
}

TEST(lanai_core, reset_stops_and_starts_anew) {
    bench b;
    assembler p;
    p.addi(6, 6, 1).label("end").jump("end");
    b.start(p, 10);
    b.script.at(b.clock.time_of(50), [&] { b.core.assert_reset(); });
    b.run(60);
    EXPECT_EQ(b.core.retired.value(), 40u);
    EXPECT_EQ(b.r(6), 1u);
    b.script.at(b.clock.time_of(100), [&] { b.core.release_reset(); });
    b.run(120);
    EXPECT_EQ(b.core.retired.value(), 60u);
    EXPECT_EQ(b.r(6), 1u);
}

struct fake_symbols : symbol_source {
    std::optional<code_location> locate(std::uint32_t pc) const override {
        if (pc >= 0x100) return std::nullopt;
        return code_location{"main", pc, "firmware.cpp", 7};
    }
    const code_regions& regions() const override { return regions_; }

    code_regions regions_;
};

TEST(lanai_core, trap_is_reported_with_its_place) {
    for (const char* lockstep : {"false", "true"}) {
        bench b(test::settings{{"lanai.lockstep", lockstep}});
        fake_symbols symbols;
        b.core.use_symbols(&symbols);
        assembler p;
        p.li(6, 0x12345678).nop().ld(7, 6, 0).nop();
        b.start(p, 100);
        const std::string text = b.failure(200);
        for (const char* part : {"lanai", "unmapped", "0x12345678", "pc 0xc in main+0xc (firmware.cpp:7)",
                                 "r6=12345678", "00000001 pc 0x8"})
            EXPECT_NE(text.find(part), std::string::npos) << part << " not in " << text;
        EXPECT_EQ(sim::now() / 7500, 103u);  // three instructions before it
    }
}

TEST(lanai_core, stack_limit_is_checked) {
    bench b;
    assembler p;
    p.li(4, 0x8000).label("loop").subi(4, 4, 16).jump("loop");
    b.core.set_stack_limit(0x7000);
    b.start(p);
    EXPECT_NE(b.failure(100'000).find("stack overflow"), std::string::npos);
}

TEST(lanai_core, firmware_assertion_has_its_place) {
    bench b;
    fake_symbols symbols;
    b.core.use_symbols(&symbols);
    assembler p;
    p.li(6, abi::simulator::assert_port).li(7, 0x40).st(7, 6, 0);
    b.start(p);
    b.memory.poke(0x40, std::vector<std::uint8_t>{'b', 'a', 'd', 0});
    const std::string text = b.failure(100);
    EXPECT_NE(text.find("assertion of the firmware: bad"), std::string::npos) << text;
    EXPECT_NE(text.find("pc 0x10 in main"), std::string::npos) << text;
}

// On LANai 9 a load costs the slot of its data; what uses it in the next instruction waits a cycle.
TEST(lanai_core, stalls_have_their_cause_and_functions_their_name) {
    for (const char* lockstep : {"false", "true"}) {
        bench b(test::settings{{"lanai.lockstep", lockstep}});
        test::span_log log;
        b.core.stall.attach(log);
        b.core.function.attach(log);
        fake_symbols symbols;
        symbols.regions_.of_word = {1, 1, 1, 2, 2, 2, 2, 2};
        symbols.regions_.names = {"-", "first", "second"};
        b.core.use_symbols(&symbols);
        assembler p;
        p.ld(6, 0, 0x40).addi(7, 6, 1).nop().label("end").jump("end");
        b.start(p, 100);
        b.run(110);
        const auto at = [&](cycle c) { return b.clock.time_of(c, phase::issue); };
        using values = std::vector<std::pair<sim::picoseconds, std::uint64_t>>;
        const values functions = log.values["lanai.function"];
        EXPECT_EQ(functions, (values{{0, 0}, {at(100), 1}, {at(105), 2}}));
        const auto& stalls = log.values["lanai.stall"];
        ASSERT_GE(stalls.size(), 4u);
        const values first(stalls.begin(), stalls.begin() + 4);
        EXPECT_EQ(first, (values{{at(100), 0}, {at(101), 2}, {at(102), 1}, {at(103), 0}}));
        EXPECT_STREQ(b.core.function.states()[2], "second");
    }
}

TEST(lanai_core, pc_probe_is_the_same_in_both_modes) {
    std::vector<std::pair<sim::picoseconds, std::uint64_t>> seen[2];
    for (const bool lockstep : {false, true}) {
        bench b(test::settings{{"lanai.lockstep", lockstep ? "true" : "false"}});
        test::span_log log;
        b.core.pc.attach(log);
        assembler p;
        p.li(8, reg::ISR_RECV).label("poll").ld(6, 0, isr_offset).test(6, 8).branch(condition::eq, "poll");
        p.label("end").jump("end");
        b.start(p);
        b.script.at(b.clock.time_of(150), [&] { b.registers.raise({isr_event::recv}); });
        b.run(250);
        seen[lockstep] = log.values["lanai.pc"];
    }
    EXPECT_GT(seen[0].size(), 150u);
    EXPECT_EQ(seen[0], seen[1]);
}

}  // namespace
}  // namespace vinic::nic
