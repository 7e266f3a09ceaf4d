// SPDX-License-Identifier: Apache-2.0
// The LANai in RTL against the instruction-set model: random programs, random encodings, random slots of the
// SRAM, writes of other ports; registers, flags, memory, device accesses and clock compared at every
// instruction.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "hw/nic/lanai/core.h"
#include "hw/rtl/lanai/lanai_block.h"
#include "hw/sim/clock_domain.h"
#include "hw/sim/module.h"
#include "hw/sim/simulation.h"
#include "testbench/tests/lanai/harness.h"
#include "testbench/tests/lanai/random_program.h"
#include "testbench/tests/rtl/compiled_programs.h"

namespace vinic::rtl::test {
namespace {

using namespace lanai;
using namespace lanai::testing;

constexpr std::uint32_t stack_bottom = 0x7E80, prologue_bytes = 0x100;

/// Often little more than the program needs, so that its addresses leave it.
std::size_t random_sram(std::mt19937& random) {
    return sram_bytes + prologue_bytes + 8 * (random() >> (random() % 16 == 0 ? 13 : 20 + random() % 12));
}

core_config random_config(std::mt19937& random, std::size_t memory_bytes) {
    core_config c;
    c.entry_pc = sram_bytes + random() % (memory_bytes - sram_bytes - prologue_bytes + 4) / 4 * 4;
    c.slots_per_cycle = 1 + random() % 2;
    c.slot_bytes = random() % 3 == 0 ? 4 : 8;
    const bool plain = random() % 2 == 0;
    const auto one_of = [&](unsigned usual, unsigned below) { return plain ? usual : random() % below; };
    c.load_slots = 1 + one_of(0, 4);
    c.word_store_slots = 1 + one_of(0, 4);
    c.narrow_store_slots = 1 + one_of(1, 4);
    c.load_use_cycles = one_of(1, 5);
    c.register_load_cycles = one_of(random() % 3, 65);
    c.register_store_cycles = one_of(random() % 3, 65);
    c.stack_limit = stack_bottom;
    c.lockstep = true;
    return c;
}

/// What sets the registers before a program, which begins at 0.
std::vector<std::uint32_t> prologue(const core_state& start) {
    std::vector<std::uint32_t> words;
    for (unsigned n = 3; n < 32; ++n) {
        const std::uint32_t value = start.registers[n];
        if (value < 1u << 21) {
            words.push_back(constant(value, n));
            continue;
        }
        words.push_back(encode({.format = form::ri,
                                .op = operation::add,
                                .rd = r(n),
                                .high = true,
                                .immediate = static_cast<std::int32_t>(value & 0xFFFF0000)}));
        words.push_back(encode({.format = form::ri,
                                .op = operation::or_,
                                .rd = r(n),
                                .rs1 = r(n),
                                .immediate = static_cast<std::int32_t>(value & 0xFFFF)}));
    }
    words.push_back(branch(0));
    words.push_back(nop());
    EXPECT_LE(4 * words.size(), prologue_bytes);
    return words;
}

/// Words of each format with random fields: most are legal, all must do, or be refused for, the same.
class encoding_maker {
public:
    explicit encoding_maker(std::uint32_t seed) : random_(seed) {}

    std::vector<std::uint8_t> make() {
        std::vector<std::uint8_t> memory(sram_bytes);
        for (std::uint32_t a = 0; a < sram_bytes; a += 4) put_word(memory, a, random_());
        for (std::uint32_t n = 0; n < code_words; ++n)
            put_word(memory, 4 * n, n % 3 == 2 ? nop() : word(random_()));
        return memory;
    }
    core_state start() {
        core_state s;
        for (std::uint32_t& value : s.registers)
            value = random_() % 2 == 0   ? data_base + random_() % 0x2000 * (random_() % 4 == 0 ? 1 : 4)
                    : random_() % 3 == 0 ? random_() % 64
                                         : random_();
        s.registers[reg_sp] = 0x7F00;
        return s;
    }

private:
    std::uint32_t word(std::uint32_t w) {
        const bool strange = random_() % 8 == 0;
        if (strange) return w;
        switch (w >> 28) {
            case 0xA:
            case 0xB:
                if ((w >> 8 & 7) != 7) return w & ~1u;
                return (w & ~0xFFu) | (random_() % 2 == 0 ? 0x80 : 0xC0) | 2;
            case 0xC:
                return (w >> 8 & 7) != 7 ? w & ~0xF8u : w & ~0x78u & (random_() % 2 == 0 ? ~0x20000u : ~0u);
            case 0xD:
                return (w & 0xFFFC0000) | (w & 3);
            case 0xE:
                if ((w & 2) == 0) return (w & 0xFE000001) | (random_() % code_words * 4);
                return (w & 1u << 24) != 0 ? w & ~0x00830000u : w & ~0x0083FFFCu;
            case 0xF:
                return (w & 0x30000) == 0x30000 ? w & ~0x8000u : w;
            default:
                return w;
        }
    }

    std::mt19937 random_;
};

/// A LANai with its memory and registers.
struct side {
    std::vector<std::uint8_t> memory;
    test_registers registers;
    std::unique_ptr<processor> core;
    std::optional<instruction_record> executed;  // in the cycle at hand

    explicit side(std::size_t bytes) : memory(bytes) {}
    void take(std::unique_ptr<processor> what) {
        core = std::move(what);
        core->on_instruction([this](const instruction_record& i) { executed = i; }, true);
    }
    void clock(cycle now) {
        executed.reset();
        const run_result went = core->run_ahead(now + 1);
        if (went.reason == stop_reason::device_access && went.at == now) core->execute_device_access(now);
    }
};

::testing::AssertionResult same(const instruction_record& a, const instruction_record& b) {
    const auto fields = [](const instruction_record& i) {
        return std::tuple(i.issue, i.pc, i.word, i.load_use, i.slot_wait, i.register_wait, i.a, i.b,
                          i.address, i.result);
    };
    if (fields(a) == fields(b)) return ::testing::AssertionSuccess();
    const auto text = [](const instruction_record& i) {
        return fmt::format(
            "cycle {} pc {:x} word {:08x} waits {} {} {} a {:x} b {:x} address {:x} result {:x}", i.issue,
            i.pc, i.word, i.load_use, i.slot_wait, i.register_wait, i.a, i.b, i.address, i.result);
    };
    return ::testing::AssertionFailure() << text(a) << "\n" << text(b);
}

/// Model and RTL, to which the same happens.
class both {
public:
    both(const core_config& config, std::size_t bytes) : model_(bytes), rtl_(bytes) {
        model_.take(std::make_unique<core>(config, model_.memory, model_.registers));
        rtl_.take(make_lanai(config, rtl_.memory, rtl_.registers, sim::clock_domain::from_mhz(133)));
    }

    void load(const std::vector<std::uint8_t>& image, const std::vector<std::uint32_t>& before) {
        for (side* s : {&model_, &rtl_}) {
            std::ranges::copy(image, s->memory.begin());
            put_program(s->memory, s->core->config().entry_pc, before);
            s->core->reset(now_);
        }
    }
    /// What happens before the instruction of this cycle.
    template <typename Action>
    void disturb(Action what) {
        for (side* s : {&model_, &rtl_}) what(*s);
    }
    void write(std::uint32_t address, std::uint32_t word) {
        disturb([&](side& s) {
            put_word(s.memory, address, word);
            s.core->invalidate_code(address, 4);
        });
    }
    /// False: they stopped at a trap, or differ.
    bool clock() {
        for (side* s : {&model_, &rtl_}) s->clock(now_);
        ++now_;
        for (side* s : {&model_, &rtl_}) s->core->sync(now_);
        compare();
        return !rtl_.core->pending_trap() && !::testing::Test::HasFailure();
    }
    void compare_memories() { ASSERT_TRUE(model_.memory == rtl_.memory) << "cycle " << now_; }

    cycle now() const { return now_; }
    const core_state& state() const { return model_.core->state(); }
    std::uint64_t retired() const { return rtl_.core->counters().retired; }
    bool trapped() const { return rtl_.core->pending_trap().has_value(); }

private:
    void compare() {
        const auto trap = model_.core->pending_trap(), rtl_trap = rtl_.core->pending_trap();
        ASSERT_EQ(trap.has_value(), rtl_trap.has_value())
            << "cycle " << now_ << ": " << to_string((trap ? trap : rtl_trap)->kind) << " at pc "
            << (trap ? trap : rtl_trap)->pc;
        if (trap) compare(*trap, *rtl_trap);
        ASSERT_EQ(model_.executed.has_value(), rtl_.executed.has_value()) << "cycle " << now_;
        if (!model_.executed) return;
        ASSERT_TRUE(same(*model_.executed, *rtl_.executed));
        const core_state &expected = model_.core->state(), &got = rtl_.core->state();
        ASSERT_TRUE(expected == got) << "cycle " << now_ << "\n" << text(expected) << "\n" << text(got);
        const std::uint32_t address = model_.executed->address & ~3u;
        if (address < model_.memory.size()) {
            ASSERT_EQ(word_at(model_.memory, address), word_at(rtl_.memory, address)) << "cycle " << now_;
        }
        ASSERT_EQ(model_.registers.stores.size(), rtl_.registers.stores.size());
        if (!model_.registers.stores.empty()) {
            ASSERT_EQ(model_.registers.stores.back(), rtl_.registers.stores.back());
        }
        ASSERT_EQ(model_.registers.taken, rtl_.registers.taken);
    }
    void compare(const trap_report& a, const trap_report& b) {
        ASSERT_EQ(to_string(a.kind), std::string(to_string(b.kind))) << "cycle " << now_;
        ASSERT_EQ(std::tuple(a.at, a.pc, a.word, a.address), std::tuple(b.at, b.pc, b.word, b.address));
        ASSERT_EQ(a.registers, b.registers);
        ASSERT_EQ(a.history.size(), b.history.size());
        for (std::size_t k = 0; k < a.history.size(); ++k) ASSERT_EQ(a.history[k].pc, b.history[k].pc);
    }

    side model_, rtl_;
    cycle now_ = 0;
};

slot_pattern any_pattern(std::mt19937& random, const core_config& config, cycle now) {
    return random_pattern(random, now * config.slots_per_cycle);
}

/// Bytes, status and slots, which come from outside.
void disturb(both& b, std::mt19937& random, const core_config& config) {
    const std::uint32_t value = random(), address = 4 * (random() % 0xA00);
    const auto port = static_cast<sram_port>(random() % sram_ports);
    switch (random() % 4) {
        case 0:
            return b.write(data_base + address, value);
        case 1:
            return b.disturb([&](side& s) { s.registers.status_value = value; });
        case 2: {
            // Code under the core's feet, but not while the word at hand decides whether it waits.
            if (b.state().loading != 0) return;
            const std::uint32_t near = (b.state().pc & ~7u) + 4 * (random() % 4);
            if (near + 4 <= 4 * code_words)
                b.write(near, add(6 + value % 8, 6 + value / 8 % 8, 6 + value / 64 % 8));
            return;
        }
        default:
            const slot_pattern pattern = any_pattern(random, config, b.now());
            b.disturb([&](side& s) { s.core->set_slot_pattern(port, pattern, b.now()); });
    }
}

struct tally {
    unsigned programs = 0, trapped = 0;
    std::uint64_t instructions = 0;
};

/// Programs that `Maker` makes, so many of them one after the other on one core and its configuration.
template <typename Maker>
void run(std::uint32_t seed, unsigned programs, cycle cycles, tally& sum) {
    std::mt19937 random(seed);
    const std::size_t memory_bytes = random_sram(random);
    const core_config config = random_config(random, memory_bytes);
    const sim::simulation simulation;
    both b(config, memory_bytes);
    for (unsigned n = 0; n < programs && !::testing::Test::HasFailure(); ++n) {
        SCOPED_TRACE(fmt::format("seed {} program {}", seed, n));
        Maker maker(random());
        const std::vector<std::uint8_t> image = maker.make();
        b.load(image, prologue(maker.start()));
        const unsigned calm = 1 + random() % 64;
        for (const cycle end = b.now() + cycles; b.now() < end;) {
            if (random() % calm == 0) disturb(b, random, config);
            if (!b.clock()) break;
        }
        b.compare_memories();
        ++sum.programs;
        sum.trapped += b.trapped();
    }
    sum.instructions += b.retired();
}

class lanai_rtl_random : public ::testing::TestWithParam<std::uint32_t> {};

constexpr unsigned configurations = 25;

TEST_P(lanai_rtl_random, runs_random_programs_like_the_model_in_the_same_clock) {
    tally sum;
    for (unsigned c = 0; c < configurations; ++c)
        run<program_maker>(GetParam() * configurations + c, 50, 400, sum);
    EXPECT_GT(sum.instructions, 100u * sum.programs);
    EXPECT_LT(sum.trapped, sum.programs * 9 / 10);
    RecordProperty("programs", static_cast<int>(sum.programs));
    RecordProperty("instructions", std::to_string(sum.instructions));
}

TEST_P(lanai_rtl_random, takes_every_encoding_like_the_model) {
    tally sum;
    for (unsigned c = 0; c < configurations; ++c)
        run<encoding_maker>(GetParam() * configurations + c, 50, 300, sum);
    EXPECT_GT(sum.trapped, sum.programs / 2);  // sooner or later
}

TEST(lanai_rtl, runs_the_first_compiled_programs_like_the_model) {
    compare_compiled_programs("-Os", 3'000'000);
}

INSTANTIATE_TEST_SUITE_P(seeds, lanai_rtl_random, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8));

}  // namespace
}  // namespace vinic::rtl::test
