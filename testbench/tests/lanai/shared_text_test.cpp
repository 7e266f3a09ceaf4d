// SPDX-License-Identifier: Apache-2.0
// Cores share the translation of their text (hw/nic/lanai/block_cache.h): each must still execute its own
// words.
#include <gtest/gtest.h>

#include "hw/nic/lanai/core.h"
#include "testbench/tests/lanai/assembler.h"
#include "testbench/tests/lanai/harness.h"

namespace vinic::lanai::testing {
namespace {

constexpr std::uint32_t first = 0, second = 0x40, last = 0x80;
constexpr cycle end = 200;

// A core whose program adds 1 to r6, then `step` to r7, then goes round at `last`.
struct card {
    explicit card(std::int32_t step) {
        put_program(sram, first, {add_k(6, 1, 6), nop(), nop(), branch(second), nop(), nop()});
        put_program(sram, second, {add_k(7, step, 7), branch(last), nop(), nop()});
        put_program(sram, last, {branch(last), nop(), nop()});
    }
    void run(cycle until) {
        core.run_ahead(until);
        core.sync(until);
    }
    void write(std::uint32_t address, std::uint32_t word) {
        std::vector<std::uint8_t> bytes(4);
        put_word(bytes, 0, word);
        core.write_sram(address, bytes);
    }
    std::uint32_t r(unsigned n) const { return core.state().registers[n]; }

    std::vector<std::uint8_t> sram = std::vector<std::uint8_t>(0x1000);
    test_registers registers;
    class core core {
        {}, sram, registers
    };
};

TEST(shared_text, of_another_core_is_not_taken_where_words_differ) {
    card one(1), other(2);
    one.run(end);
    other.run(end);
    EXPECT_EQ(one.r(7), 1u);
    EXPECT_EQ(other.r(7), 2u);
}

TEST(shared_text, is_left_when_another_core_goes_where_words_differ) {
    card one(1), other(2);
    one.run(2);
    other.run(2);  // both in the words that agree
    one.run(end);
    other.run(end);
    EXPECT_EQ(one.r(7), 1u);
    EXPECT_EQ(other.r(7), 2u);
}

// Who leaves has run ahead in blocks that it no longer has: a write to them still needs a sync.
TEST(shared_text, that_was_left_counts_as_executed_until_the_next_sync) {
    card one(1), other(2);
    one.run(2);
    other.core.run_ahead(2);
    one.run(end);
    EXPECT_TRUE(other.core.loaded(first, 4));
    other.core.sync(0);
    other.write(first, add_k(6, 5, 6));
    other.run(end);
    EXPECT_EQ(other.r(6), 5u);
    EXPECT_EQ(other.r(7), 2u);
}

TEST(shared_text, changes_for_the_core_alone_whose_words_change) {
    card one(1), other(1);
    one.run(100);
    other.run(100);
    one.write(last, branch(second));  // it adds to r7 for ever
    one.run(end);
    other.run(end);
    EXPECT_GT(one.r(7), 2u);
    EXPECT_EQ(other.r(7), 1u);
}

}  // namespace
}  // namespace vinic::lanai::testing
