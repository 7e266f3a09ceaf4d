// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/parameter_hint.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "hw/sim/configuration.h"
#include "testbench/cli/paths.h"
#include "testbench/platform/design.h"
#include "testbench/platform/platform.h"
#include "testbench/platform/setup.h"

namespace vinic::testbench {

namespace {

bool has_parameter(const std::string& design_name, const std::string& parameter) {
    const design on = load_design(design_name);
    platform built(on, firmware_of(on), {});
    return std::ranges::any_of(built.simulation().config().parameters(), [&](const auto& one) {
        return one.name == parameter || sim::without_node(one.name) == parameter;
    });
}

}  // namespace

std::string message_of(const sim::unknown_parameter& error) {
    std::vector<std::string> having;
    for (const auto& name : names_in(folders().designs, ".yaml"))
        if (has_parameter(name, error.name)) having.push_back(name);
    if (having.empty()) return error.what();
    return fmt::format("{}: no parameter of this design is named '{}'; {} {} it", error.origin, error.name,
                       fmt::join(having, ", "), having.size() == 1 ? "has" : "have");
}

}  // namespace vinic::testbench
