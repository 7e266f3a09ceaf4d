// SPDX-License-Identifier: Apache-2.0
// Whole systems whose cards run their firmware on the LANai in RTL, and beside each the instruction-set
// model, which is given what comes from outside: writes of other ports, slots that they take, values of
// special registers. After every instruction: the same operands, results, clock, registers, flags and memory.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "hw/nic/lanai/core.h"
#include "hw/nic/lanai_card.h"
#include "testbench/cli/interrupt.h"
#include "testbench/platform/runner.h"
#include "testbench/platform/setup.h"

namespace vinic::testbench {
namespace {

using lanai::cycle;
using lanai::instruction_record;

/// The model beside the RTL of a card.
class shadow final : public nic::core_port, private lanai::device_port {
public:
    explicit shadow(nic::lanai_card& card)
        : card_(card),
          memory_(card.memory.contents().size()),
          model_(card.lanai.core().config(), memory_, *this) {
        card.memory.attach(*this);
        card.registers.attach(*this);
        card.lanai.on_instruction([this](sim::picoseconds, const instruction_record& r) { follow(r); }, true);
        model_.on_instruction([this](const instruction_record& r) { executed_ = r; }, true);
    }

    std::uint64_t followed() const { return followed_; }
    const std::string& difference() const { return difference_; }
    bool same_memory() const { return std::ranges::equal(memory_, card_.memory.contents()); }

    // core_port
    void sync() override { card_.lanai.sync(); }
    void sync_for_read(std::uint32_t address, std::size_t bytes) override {
        card_.lanai.sync_for_read(address, bytes);
    }
    void sync_for_write(std::uint32_t address, std::size_t bytes) override {
        card_.lanai.sync_for_write(address, bytes);
    }
    void memory_written(std::uint32_t address, std::size_t bytes) override {
        card_.lanai.memory_written(address, bytes);
        const auto from = card_.memory.contents().subspan(address, bytes);
        model_.write_sram(address, from);
    }
    void set_slot_pattern(lanai::sram_port port, const lanai::slot_pattern& pattern, cycle from) override {
        card_.lanai.set_slot_pattern(port, pattern, from);
        model_.set_slot_pattern(port, pattern, from);
    }
    const lanai::slot_schedule& slots() const override { return card_.lanai.slots(); }
    [[noreturn]] void fail(const std::string& what) override { card_.lanai.fail(what); }

private:
    /// The RTL has executed `r`: the model's turn.
    void follow(const instruction_record& r) {
        if (!difference_.empty()) return;
        if (followed_++ == 0) {
            model_.set_stack_limit(card_.lanai.core().config().stack_limit);
            model_.reset(r.issue);
        }
        rtl_ = &r;
        executed_.reset();
        model_.sync(r.issue);
        if (model_.run_ahead(r.issue + 1).reason == lanai::stop_reason::device_access)
            model_.execute_device_access(r.issue);
        compare(r);
    }
    void compare(const instruction_record& r) {
        const auto fields = [](const instruction_record& i) {
            return std::tuple(i.issue, i.pc, i.word, i.load_use, i.slot_wait, i.register_wait, i.a, i.b,
                              i.address, i.result);
        };
        const std::uint32_t word = r.address & ~3u;
        if (!executed_ || fields(*executed_) != fields(r))
            differ("instruction", r);
        else if (model_.state() != card_.lanai.core().state())
            differ("registers", r);
        else if (word < memory_.size() &&
                 !std::equal(&memory_[word], &memory_[word] + 4, &card_.memory.contents()[word]))
            differ("memory", r);
    }
    void differ(const char* what, const instruction_record& r) {
        difference_ = fmt::format("{} {}: RTL in cycle {} at pc {:#x} word {:08x}", card_.name(), what,
                                  r.issue, r.pc, r.word);
        if (executed_)
            difference_ += fmt::format(", model in cycle {} at pc {:#x} word {:08x}", executed_->issue,
                                       executed_->pc, executed_->word);
    }

    // device_port
    bool mapped(std::uint32_t address, unsigned bytes) const override {
        return card_.registers.mapped(address, bytes);
    }
    std::uint32_t load(std::uint32_t, unsigned, cycle) override { return rtl_->result; }
    void store(std::uint32_t, unsigned, std::uint32_t, cycle) override {
    }  // compared as the instruction's result
    std::optional<lanai::register_value> peek(std::uint32_t, unsigned, cycle) const override {
        return std::nullopt;
    }

    nic::lanai_card& card_;
    std::vector<std::uint8_t> memory_;
    lanai::core model_;
    const instruction_record* rtl_ = nullptr;
    std::optional<instruction_record> executed_;  // by the model
    std::uint64_t followed_ = 0;
    std::string difference_;
};

struct run_of {
    const char* name;
    const char* workload;
    std::vector<std::string> settings, arguments;
};

class rtl_lockstep : public ::testing::TestWithParam<run_of> {};

TEST_P(rtl_lockstep, the_model_beside_the_rtl_executes_the_same) {
    const run_of& what = GetParam();
    platform_options options;
    options.settings = what.settings;
    options.settings.emplace_back("nic.lanai.impl=rtl");
    const design on = design_of(options);
    const auto image = firmware_of(on);
    const auto workload = load_workload(what.workload, what.arguments, on, options.seed, false);
    results found;
    platform built(on, image, mode_of(options));
    built.load(*workload, found);
    std::vector<std::unique_ptr<shadow>> shadows;
    for (const auto& n : built.nodes())
        shadows.push_back(std::make_unique<shadow>(*n->cards.front().programmable()));
    runner runs(built, std::chrono::steady_clock::now());
    ASSERT_EQ(runs.run(std::nullopt, interrupt_guard{}), ending::finished);
    EXPECT_FALSE(found.rows().empty());
    for (const auto& s : shadows) {
        EXPECT_EQ(s->difference(), "");
        EXPECT_TRUE(s->same_memory());
        EXPECT_GT(s->followed(), 1'000'000u);
        RecordProperty("instructions", std::to_string(s->followed()));
    }
    EXPECT_EQ(shadows.size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    workloads, rtl_lockstep,
    ::testing::Values(
        run_of{"pingpong", "pingpong", {}, {"sizes=8,5000", "count=3", "warmup=1", "verify=true"}},
        run_of{"lossy_stream",
               "stream",
               {"link.bit_error_rate=1e-6", "link.drop_rate=0.02"},
               {"sizes=5000", "count=20", "warmup=1", "verify=true", "reliability=delivery"}}),
    [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace vinic::testbench
