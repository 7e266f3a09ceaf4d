// SPDX-License-Identifier: Apache-2.0
#include "testbench/workloads/arguments.h"

#include <algorithm>
#include <charconv>

#include "hw/sim/error.h"

namespace vinic::testbench {

std::pair<std::string, std::string> split_argument(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw sim::input_error("argument '{}' of the workload: expected name=value", text);
    return {text.substr(0, equals), text.substr(equals + 1)};
}

void check_argument_names(const std::string& workload, const workload_options& given,
                          const std::vector<workload_argument>& declared) {
    std::vector<std::string> names;
    for (const auto& argument : declared) names.push_back(argument.name);
    for (const auto& text : given.arguments) {
        const std::string name = split_argument(text).first;
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        const std::string near = sim::nearest_name(name, names);
        throw sim::input_error("{} has no argument '{}'; {}", workload, name,
                               near.empty() ? fmt::format("it has {}", fmt::join(names, ", "))
                                            : fmt::format("did you mean '{}'?", near));
    }
}

std::uint64_t declare_number(std::vector<workload_argument>& to, const workload_options& given,
                             workload_argument what, std::uint64_t least, std::uint64_t most) {
    what.value = what.default_text;
    for (const auto& text : given.arguments)
        if (const auto [name, value] = split_argument(text); name == what.name) what.value = value;
    std::uint64_t number = 0;
    const char* end = what.value.data() + what.value.size();
    const auto [rest, error] = std::from_chars(what.value.data(), end, number);
    if (error != std::errc{} || rest != end || number < least || number > most)
        throw sim::input_error("argument {}={}: expected a whole number from {} to {} ({}; default {})",
                               what.name, what.value, least, most, what.help, what.default_text);
    to.push_back(std::move(what));
    return number;
}

}  // namespace vinic::testbench
