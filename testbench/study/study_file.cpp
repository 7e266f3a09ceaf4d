// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/study_file.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "hw/sim/error.h"
#include "hw/sim/time.h"
#include "testbench/cli/options.h"
#include "testbench/platform/yaml.h"
#include "testbench/study/axis_reader.h"

namespace vinic::testbench::study {

namespace {

constexpr std::uint64_t most_points = 1'000'000;

class study_reader {
public:
    explicit study_reader(const std::filesystem::path& file) : shown_(file.string()) { study_.path = file; }

    study_file read() {
        const YAML::Node root = parse_yaml(study_.path, shown_);
        if (!root.IsMap()) throw sim::input_error("{}:1: expected keys and values: {}", shown_, known());
        std::set<std::string> seen;
        for (const auto& entry : root) {
            const std::string key = entry.first.as<std::string>("");
            if (!seen.insert(key).second)
                throw sim::input_error("{}: {} stands there twice", place_of(shown_, entry.first), key);
            read_key(entry.first, key, entry.second);
        }
        if (study_.workload.text.empty())
            throw sim::input_error("{}: no key `workload`, as in `workload: pingpong`", shown_);
        check_names();
        return std::move(study_);
    }

private:
    static const std::vector<std::string>& keys() {
        static const std::vector<std::string> all{"question",   "design",    "workload", "nodes",
                                                  "parameters", "arguments", "axes",     "only",
                                                  "repeats",    "sample",    "metrics",  "limits"};
        return all;
    }
    static std::string known() { return fmt::format("{}", fmt::join(keys(), ", ")); }

    void read_key(const YAML::Node& at, const std::string& key, const YAML::Node& value) {
        if (key == "question")
            study_.question = scalar(key, value).text;
        else if (key == "design")
            study_.designs = list(key, value);
        else if (key == "workload")
            study_.workload = scalar(key, value);
        else if (key == "nodes")
            study_.nodes = scalar(key, value);
        else if (key == "parameters")
            study_.parameters = settings(key, value);
        else if (key == "arguments")
            study_.arguments = settings(key, value);
        else if (key == "axes")
            read_axes(value);
        else if (key == "only")
            study_.only = list(key, value);
        else if (key == "repeats")
            study_.repeats = whole(key, value, 1, most_points);
        else if (key == "sample")
            read_sample(value);
        else if (key == "metrics")
            study_.metrics = list(key, value);
        else if (key == "limits")
            read_limits(value);
        else
            unknown_key(place_of(shown_, at), key, keys());
    }

    located scalar(const std::string& key, const YAML::Node& node) const {
        if (!node.IsScalar() || node.Scalar().empty())
            throw sim::input_error("{}: {}: expected a single value", place_of(shown_, node), key);
        return {node.Scalar(), place_of(shown_, node)};
    }

    std::vector<located> list(const std::string& key, const YAML::Node& node) const {
        if (node.IsScalar()) return {scalar(key, node)};
        if (!node.IsSequence())
            throw sim::input_error("{}: {}: expected a value or a list", place_of(shown_, node), key);
        std::vector<located> all;
        for (const auto& one : node) all.push_back(scalar(key, one));
        return all;
    }

    std::vector<std::pair<std::string, located>> settings(const std::string& key,
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

    std::uint64_t whole(const std::string& key, const YAML::Node& node, std::uint64_t least,
                        std::uint64_t most) const {
        const std::string text = node.IsScalar() ? node.Scalar() : "";
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < least ||
            value > most)
            throw sim::input_error("{}: {}: expected a whole number from {} to {}", place_of(shown_, node),
                                   key, least, most);
        return value;
    }

    void read_axes(const YAML::Node& node) {
        if (node.IsMap()) {  // one axis a line, without dashes
            for (const auto& entry : node) {
                YAML::Node one(YAML::NodeType::Map);
                one[entry.first] = entry.second;
                study_.axes.push_back(read_axis(shown_, one));
                study_.axes.back().origin = place_of(shown_, entry.first);
            }
            return;
        }
        if (!node.IsSequence())
            throw sim::input_error("{}: axes: expected a list, as in `- bus.clock_mhz: [33, 66]`",
                                   place_of(shown_, node));
        for (const auto& entry : node) study_.axes.push_back(read_axis(shown_, entry));
    }

    void check_keys(const YAML::Node& node, const std::string& key,
                    const std::vector<std::string>& allowed) const {
        if (!node.IsMap())
            throw sim::input_error("{}: {}: expected {}", place_of(shown_, node), key,
                                   fmt::join(allowed, ", "));
        for (const auto& entry : node)
            if (std::ranges::find(allowed, entry.first.as<std::string>("")) == allowed.end())
                unknown_key(place_of(shown_, entry.first), entry.first.as<std::string>(""), allowed);
    }

    void read_sample(const YAML::Node& node) {
        check_keys(node, "sample", {"points", "method", "seed"});
        study::sample read;
        if (!node["points"]) throw sim::input_error("{}: sample: expected points", place_of(shown_, node));
        read.points = whole("points", node["points"], 1, most_points);
        const std::string method = node["method"] ? scalar("method", node["method"]).text : "latin_hypercube";
        if (method != "random" && method != "latin_hypercube")
            throw sim::input_error("{}: method is '{}': expected random or latin_hypercube",
                                   place_of(shown_, node["method"]), method);
        read.method = method == "random" ? sampling::random : sampling::latin_hypercube;
        if (node["seed"]) read.seed = whole("seed", node["seed"], 0, ~std::uint64_t{0});
        study_.sample = read;
    }

    void read_limits(const YAML::Node& node) {
        check_keys(node, "limits", {"time", "memory"});
        if (node["time"]) {
            const located time = scalar("time", node["time"]);
            study_.limits.seconds =
                quantity(time, "time", {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}, "60s");
        }
        if (node["memory"]) {
            const located memory = scalar("memory", node["memory"]);
            study_.limits.memory_bytes = static_cast<std::uint64_t>(
                quantity(memory, "memory", {{"KB", 0x1p10}, {"MB", 0x1p20}, {"GB", 0x1p30}}, "2GB"));
        }
    }

    double quantity(const located& from, const std::string& key,
                    const std::vector<std::pair<std::string, double>>& units,
                    const std::string& example) const {
        double value = 0;
        const char* end = from.text.data() + from.text.size();
        const auto [rest, error] = std::from_chars(from.text.data(), end, value);
        std::string unit(rest, end);
        unit.erase(0, unit.find_first_not_of(' '));
        for (const auto& [name, factor] : units)
            if (error == std::errc{} && unit == name && value > 0 && value * factor < 1e15)
                return value * factor;
        throw sim::input_error("{}: {} is '{}': expected a limit such as {}", from.origin, key, from.text,
                               example);
    }

    /// A name has one place only: an axis, or a value that is the same everywhere.
    void check_names() const {
        std::set<std::string> taken;
        for (const auto& [name, value] : study_.parameters) taken.insert(name);
        for (const auto& [name, value] : study_.arguments) taken.insert("arguments." + name);
        if (study_.nodes) taken.insert("nodes");
        if (!study_.designs.empty()) taken.insert("design");
        if (study_.repeats > 1) taken.insert("seed");
        for (const auto& one : study_.axes) {
            for (const auto& name : one.names)
                if (!taken.insert(name).second)
                    throw sim::input_error("{}: {} has a value already{}", one.origin, name,
                                           name == "seed" ? ": `repeats` sets it" : "");
            if (one.range && !study_.sample)
                throw sim::input_error(
                    "{}: {}: expected step, points or scale: powers_of_two; a range without "
                    "them needs `sample`",
                    one.origin, one.names.front());
        }
    }

    std::string shown_;
    study_file study_;
};

}  // namespace

study_file read_study(const std::filesystem::path& file) { return study_reader(file).read(); }

}  // namespace vinic::testbench::study
