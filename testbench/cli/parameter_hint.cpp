// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/parameter_hint.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <vector>

#include "hw/sim/configuration.h"
#include "testbench/cli/paths.h"
#include "testbench/platform/design.h"
#include "testbench/platform/platform.h"
#include "testbench/platform/setup.h"
#include "testbench/study/perturbation.h"

namespace vinic::testbench {

namespace {

constexpr std::string_view what_if = ".free";

/// As they are set for one module, and for all of its kind.
std::set<std::string> parameters_of(const std::string& design_name) {
    const design on = load_design(design_name);
    platform built(on, firmware_of(on), {});
    std::set<std::string> names;
    for (const auto& one : built.simulation().config().parameters()) {
        names.insert(one.name);
        names.insert(study::common_name(one.name));
        names.insert(std::string(sim::without_node(one.name)));
    }
    return names;
}

std::string said_of_what_if(const sim::unknown_parameter& error, const std::set<std::string>& names) {
    std::vector<std::string> parts;
    for (const std::string& name : names)
        if (name.ends_with(what_if) && !name.starts_with("node") && !name.starts_with("fabric."))
            parts.push_back(name.substr(0, name.size() - what_if.size()));
    return fmt::format("{}: no parameter is named '{}'; what can be free: {}", error.origin, error.name,
                       fmt::join(parts, ", "));
}

}  // namespace

std::string message_of(const sim::unknown_parameter& error) {
    std::vector<std::string> having;
    std::set<std::string> all;
    for (const auto& name : names_in(folders().designs, ".yaml")) {
        std::set<std::string> here = parameters_of(name);
        if (here.contains(error.name)) having.push_back(name);
        all.merge(here);
    }
    if (having.empty()) return error.name.ends_with(what_if) ? said_of_what_if(error, all) : error.what();
    return fmt::format("{}: no parameter of this design is named '{}'; {} {} it", error.origin, error.name,
                       fmt::join(having, ", "), having.size() == 1 ? "has" : "have");
}

}  // namespace vinic::testbench
