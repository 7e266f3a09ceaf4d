// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/search_reader.h"

#include "hw/sim/error.h"
#include "testbench/study/number.h"
#include "testbench/study/value_reader.h"

namespace vinic::testbench::study {

namespace {

constexpr std::uint64_t most_points = 1'000'000;
constexpr std::uint64_t most_in_a_generation = 1000;

double percent(const located& text) {
    const std::string number = text.text.substr(0, text.text.find('%'));
    const auto value = study::number(number);
    if (!value || *value <= 0 || *value >= 100 || !text.text.ends_with('%'))
        throw sim::input_error("{}: change is '{}': expected a share above 0 and below 100, such as 10%",
                               text.origin, text.text);
    return *value;
}

}  // namespace

optimise read_optimise(const std::string& shown, const YAML::Node& at, const YAML::Node& node) {
    const value_reader from(shown);
    from.check_keys(node, "optimise", {"minimise", "maximise", "budget", "population", "seed"});
    optimise read{.origin = place_of(shown, at)};
    for (const char* key : {"minimise", "maximise"})
        if (node[key])
            for (const located& text : from.list(key, node[key]))
                read.goals.push_back({text, std::string(key) == "maximise"});
    if (read.goals.empty())
        throw sim::input_error(
            "{}: optimise: expected minimise or maximise, as in "
            "`minimise: [latency_us size_bytes=8]`",
            read.origin);
    if (node["budget"]) read.budget = from.whole("budget", node["budget"], 1, most_points);
    if (node["population"])
        read.population = from.whole("population", node["population"], 4, most_in_a_generation);
    if (node["seed"]) read.seed = from.whole("seed", node["seed"], 0, ~std::uint64_t{0});
    return read;
}

sensitivity read_sensitivity(const std::string& shown, const YAML::Node& at, const YAML::Node& node) {
    const value_reader from(shown);
    from.check_keys(node, "sensitivity", {"change", "parameters", "ranges"});
    sensitivity read{.origin = place_of(shown, at)};
    if (node["change"]) read.change_percent = percent(from.scalar("change", node["change"]));
    if (node["parameters"]) read.parameters = from.list("parameters", node["parameters"]);
    if (!node["ranges"]) return read;
    if (!node["ranges"].IsMap())
        throw sim::input_error(
            "{}: ranges: expected names and two values each, as in "
            "`nic.lanai.clock_mhz: [100, 200]`",
            place_of(shown, node["ranges"]));
    for (const auto& entry : node["ranges"]) {
        const std::string name = entry.first.as<std::string>("");
        const auto values = from.list(name, entry.second);
        if (values.size() != 2)
            throw sim::input_error("{}: {}: expected two values, as in [100, 200]",
                                   place_of(shown, entry.second), name);
        read.ranges.push_back({name, values[0], values[1]});
    }
    return read;
}

}  // namespace vinic::testbench::study
