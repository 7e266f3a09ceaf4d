// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hw/sim/probe.h"
#include "hw/sim/simulation.h"

namespace vinic::rtl::test {

using events = std::map<std::string, std::vector<std::string>>;

/// What each probe of a simulation reported, without those that only RTL has. The order in which different
/// probes report at one instant means nothing.
struct event_log : sim::listener {
    events seen;

    /// `without`: the name of a probe that is left out.
    explicit event_log(std::string_view without = {}) {
        for (const auto& [name, probe] : sim::simulation::current().probes())
            if (name.find(".rtl.") == name.npos && name != without) probe->attach(*this);
    }
    void on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t) override {
        seen[p.name()].push_back(fmt::format("{} {:#x}", at, bits));
    }
    void on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                 std::string_view what, std::span<const sim::field> fields) override {
        std::string text = fmt::format("{} {} {}", begin, end, what);
        for (const sim::field& f : fields) text += fmt::format(" {}={:#x}", f.name, f.value);
        seen[p.name()].push_back(text);
    }
};

/// The first event of a probe in which they differ is shown.
inline void expect_same(const events& model, const events& rtl) {
    EXPECT_FALSE(model.empty());
    EXPECT_EQ(model.size(), rtl.size());
    for (const auto& [probe, expected] : model) {
        ASSERT_TRUE(rtl.contains(probe)) << probe;
        const std::vector<std::string>& found = rtl.at(probe);
        for (std::size_t i = 0; i < std::min(expected.size(), found.size()); ++i)
            ASSERT_EQ(expected[i], found[i]) << probe << ", event " << i;
        EXPECT_EQ(expected.size(), found.size()) << probe;
    }
}

}  // namespace vinic::rtl::test
