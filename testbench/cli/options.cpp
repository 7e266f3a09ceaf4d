// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/options.h"

#include <charconv>
#include <cmath>

#include "hw/sim/error.h"

namespace vinic::testbench {

std::uint64_t parse_seed(const std::string& text) {
    std::uint64_t seed = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, seed);
    if (error != std::errc{} || rest != end)
        throw sim::input_error("--seed {}: expected a whole number from 0 to {}", text, ~std::uint64_t{0});
    return seed;
}

sim::picoseconds parse_time(const std::string& text, const std::string& option) {
    constexpr std::pair<const char*, double> units[] = {
        {"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
    constexpr double longest_time = 9.2e18;  // what signed 64 bits hold: 106 days
    double number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    std::string unit(rest, text.data() + text.size());
    unit.erase(0, unit.find_first_not_of(' '));
    for (const auto& [name, factor] : units) {
        const double ps = number * factor;
        if (error == std::errc{} && unit == name && ps >= 1 && ps <= longest_time)
            return static_cast<sim::picoseconds>(std::llround(ps));
    }
    throw sim::input_error(
        "{}: '{}' is no time: expected a positive number and ps, ns, us, ms or s, as in 10us, up to 9.2e18 "
        "ps",
        option, text);
}

std::pair<std::string, std::string> split_setting(const std::string& text, const std::string& option) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw sim::input_error("{} '{}': expected name=value", option, text);
    return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace vinic::testbench
