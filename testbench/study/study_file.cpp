// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/study_file.h"

#include <algorithm>
#include <set>

#include "hw/sim/error.h"
#include "hw/sim/time.h"
#include "testbench/cli/options.h"
#include "testbench/study/axis_reader.h"
#include "testbench/study/search_reader.h"
#include "testbench/study/value_reader.h"

namespace vinic::testbench::study {

namespace {

constexpr std::uint64_t most_points = 1'000'000;

class study_reader : value_reader {
public:
    explicit study_reader(const std::filesystem::path& file) : value_reader(file.string()) {
        study_.path = file;
    }

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
        check_choice_of_points();
        keep_metrics_of_goals();
        return std::move(study_);
    }

private:
    static const std::vector<std::string>& keys() {
        static const std::vector<std::string> all{
            "question", "design",  "workload", "nodes",    "parameters",  "arguments", "axes",
            "only",     "repeats", "sample",   "optimise", "sensitivity", "metrics",   "limits"};
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
        else if (key == "optimise")
            study_.optimise = read_optimise(shown_, at, value);
        else if (key == "sensitivity")
            study_.sensitivity = read_sensitivity(shown_, at, value);
        else if (key == "metrics")
            study_.metrics = list(key, value);
        else if (key == "limits")
            read_limits(value);
        else
            unknown_key(place_of(shown_, at), key, keys());
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
            if (one.range && !study_.sample && !study_.optimise)
                throw sim::input_error(
                    "{}: {}: expected step, points or scale: powers_of_two; a range without "
                    "them needs `sample` or `optimise`",
                    one.origin, one.names.front());
        }
    }

    /// One of them says which points there are.
    void check_choice_of_points() const {
        if (study_.sample && study_.optimise)
            throw sim::input_error("{}: expected `sample` or `optimise`, not both", study_.optimise->origin);
        if (study_.optimise && study_.axes.empty() && study_.designs.size() < 2)
            throw sim::input_error("{}: optimise: expected `axes` to move on", study_.optimise->origin);
        if (!study_.sensitivity) return;
        const std::string& at = study_.sensitivity->origin;
        if (!study_.axes.empty() || study_.sample || study_.optimise || !study_.only.empty())
            throw sim::input_error(
                "{}: sensitivity changes parameters one by one: expected no axes, only, sample or optimise",
                at);
        if (study_.designs.size() > 1)
            throw sim::input_error("{}: sensitivity is that of one design: expected one", at);
    }

    /// Metrics that goals name are kept, too.
    void keep_metrics_of_goals() {
        if (!study_.optimise) return;
        for (const goal_text& goal : study_.optimise->goals) {
            const std::string name = goal.text.text.substr(0, goal.text.text.find(' '));
            const bool on_request = name.starts_with("statistics.") || name.starts_with("account.");
            const bool there =
                std::ranges::find(study_.metrics, name, &located::text) != study_.metrics.end();
            if (on_request && !there) study_.metrics.push_back({name, goal.text.origin});
        }
    }

    study_file study_;
};

}  // namespace

study_file read_study(const std::filesystem::path& file) { return study_reader(file).read(); }

}  // namespace vinic::testbench::study
