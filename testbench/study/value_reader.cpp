// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/value_reader.h"

#include <algorithm>
#include <charconv>

#include "hw/sim/error.h"
#include "testbench/study/axis_reader.h"

namespace vinic::testbench::study {

located value_reader::scalar(const std::string& key, const YAML::Node& node) const {
    if (!node.IsScalar() || node.Scalar().empty())
        throw sim::input_error("{}: {}: expected a single value", place_of(shown_, node), key);
    return {node.Scalar(), place_of(shown_, node)};
}

std::vector<located> value_reader::list(const std::string& key, const YAML::Node& node) const {
    if (node.IsScalar()) return {scalar(key, node)};
    if (!node.IsSequence())
        throw sim::input_error("{}: {}: expected a value or a list", place_of(shown_, node), key);
    std::vector<located> all;
    for (const auto& one : node) all.push_back(scalar(key, one));
    return all;
}

std::vector<std::pair<std::string, located>> value_reader::settings(const std::string& key,
                                                                    const YAML::Node& node) const {
    if (!node.IsMap())
        throw sim::input_error("{}: {}: expected names and values", place_of(shown_, node), key);
    std::vector<std::pair<std::string, located>> all;
    for (const auto& entry : node) {
        const std::string name = entry.first.as<std::string>("");
        all.emplace_back(name, read_value(shown_, name, entry.second));
    }
    return all;
}

std::uint64_t value_reader::whole(const std::string& key, const YAML::Node& node, std::uint64_t least,
                                  std::uint64_t most) const {
    const std::string text = node.IsScalar() ? node.Scalar() : "";
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < least ||
        value > most)
        throw sim::input_error("{}: {}: expected a whole number from {} to {}", place_of(shown_, node), key,
                               least, most);
    return value;
}

void value_reader::check_keys(const YAML::Node& node, const std::string& key,
                              const std::vector<std::string>& allowed) const {
    if (!node.IsMap())
        throw sim::input_error("{}: {}: expected {}", place_of(shown_, node), key, fmt::join(allowed, ", "));
    for (const auto& entry : node)
        if (std::ranges::find(allowed, entry.first.as<std::string>("")) == allowed.end())
            unknown_key(place_of(shown_, entry.first), entry.first.as<std::string>(""), allowed);
}

double value_reader::quantity(const located& from, const std::string& key,
                              const std::vector<std::pair<std::string, double>>& units,
                              const std::string& example) const {
    double value = 0;
    const char* end = from.text.data() + from.text.size();
    const auto [rest, error] = std::from_chars(from.text.data(), end, value);
    std::string unit(rest, end);
    unit.erase(0, unit.find_first_not_of(' '));
    for (const auto& [name, factor] : units)
        if (error == std::errc{} && unit == name && value > 0 && value * factor < 1e15) return value * factor;
    throw sim::input_error("{}: {} is '{}': expected a limit such as {}", from.origin, key, from.text,
                           example);
}

}  // namespace vinic::testbench::study
