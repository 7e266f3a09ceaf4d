// SPDX-License-Identifier: Apache-2.0

// The three levels of conformance (facts vipl.md 9). A suite's name begins with the level at which a provider
// must pass it; each level contains the ones before it. What passed is printed at the end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace {

struct level {
    const char* prefix;
    const char* name;
    unsigned passed = 0;
    unsigned run = 0;
};

class per_level : public testing::EmptyTestEventListener {
    void OnTestEnd(const testing::TestInfo& test) override {
        if (test.result()->Skipped()) return;
        for (level& one : levels_) {
            if (std::string_view(test.test_suite_name()).find(one.prefix) == std::string_view::npos) continue;
            ++one.run;
            one.passed += test.result()->Passed() ? 1 : 0;
        }
    }
    void OnTestProgramEnd(const testing::UnitTest&) override {
        unsigned passed = 0;
        unsigned run = 0;
        for (const level& one : levels_)
            fmt::print("{:<14} {} of {} tests pass\n", one.name, passed += one.passed, run += one.run);
    }
    std::array<level, 3> levels_{
        {{"early_adopter_", "Early Adopter"}, {"functional_", "Functional"}, {"full_", "Full"}}};
};

[[maybe_unused]] const bool listening = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new per_level);
    return true;
}();

}  // namespace
