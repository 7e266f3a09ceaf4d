// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/options.h"

#include <charconv>
#include <cmath>

#include "hw/sim/error.h"

namespace vinic::testbench {

sim::picoseconds parse_time(const std::string& text) {
    constexpr std::pair<const char*, double> units[] = {
        {"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
    double number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    std::string unit(rest, text.data() + text.size());
    unit.erase(0, unit.find_first_not_of(' '));
    for (const auto& [name, factor] : units) {
        const double ps = number * factor;
        if (error == std::errc{} && unit == name && ps >= 1 && ps < 1.8e19)
            return static_cast<sim::picoseconds>(std::llround(ps));
    }
    throw sim::input_error("'{}' is no time: expected a positive number and ps, ns, us, ms or s, as in 10us",
                           text);
}

std::pair<std::string, std::string> split_setting(const std::string& text, const std::string& option) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw sim::input_error("{} '{}': expected name=value", option, text);
    return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace vinic::testbench
