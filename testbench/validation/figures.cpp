// SPDX-License-Identifier: Apache-2.0
#include "testbench/validation/figures.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "hw/sim/error.h"
#include "testbench/platform/yaml.h"

namespace vinic::testbench::validation {

namespace {

using names = std::vector<std::string>;

const std::map<std::string, evidence> grades{{"S", evidence::seen},
                                             {"D", evidence::derived},
                                             {"B", evidence::background},
                                             {"P", evidence::prediction}};

class figures_reader {
public:
    explicit figures_reader(const std::filesystem::path& file) : shown_(file.string()) {
        read_.path = file;
        const YAML::Node root = parse_yaml(file, shown_);
        check_keys(root, "figures", {"tolerance_percent", "runs", "systems"});
        if (root["tolerance_percent"])
            read_.tolerance_percent = number("tolerance_percent", root["tolerance_percent"]);
        read_runs(required(root, "runs"));
        const YAML::Node systems = required(root, "systems");
        if (!systems.IsSequence()) throw sim::input_error("{}: systems: expected a list", place(systems));
        for (const auto& one : systems) read_system(one);
    }

    figures_file result() { return std::move(read_); }

private:
    std::string place(const YAML::Node& node) const { return place_of(shown_, node); }

    void check_keys(const YAML::Node& node, const std::string& what, const names& allowed) const {
        if (!node.IsMap())
            throw sim::input_error("{}: {}: expected keys {}", place(node), what, fmt::join(allowed, ", "));
        std::set<std::string> seen;
        for (const auto& entry : node) {
            const std::string key = entry.first.as<std::string>("");
            if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
                unknown_key(place(entry.first), key, allowed);
            if (!seen.insert(key).second)
                throw sim::input_error("{}: {} stands there twice", place(entry.first), key);
        }
    }

    YAML::Node required(const YAML::Node& node, const char* key) const {
        if (const YAML::Node found = node[key]) return found;
        throw sim::input_error("{}: expected the key {}", place(node), key);
    }

    std::string text(const std::string& key, const YAML::Node& node) const {
        if (!node.IsScalar() || node.Scalar().empty())
            throw sim::input_error("{}: {}: expected a single value", place(node), key);
        return node.Scalar();
    }
    std::string text_of(const YAML::Node& node, const char* key) const {
        return text(key, required(node, key));
    }

    double number(const std::string& key, const YAML::Node& node) const {
        const std::string given = text(key, node);
        double value = 0;
        const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
        if (error != std::errc{} || end != given.data() + given.size() || !(value >= 0))
            throw sim::input_error("{}: {} is '{}': expected a number from 0 on", place(node), key, given);
        return value;
    }

    std::vector<std::pair<std::string, std::string>> pairs(const std::string& key,
                                                           const YAML::Node& node) const {
        std::vector<std::pair<std::string, std::string>> all;
        if (!node) return all;
        if (!node.IsMap()) throw sim::input_error("{}: {}: expected names and values", place(node), key);
        for (const auto& entry : node) {
            const std::string name = text(key, entry.first);
            all.emplace_back(name, text(name, entry.second));
        }
        return all;
    }

    void read_runs(const YAML::Node& node) {
        if (!node.IsMap())
            throw sim::input_error("{}: runs: expected names, each with a workload", place(node));
        for (const auto& entry : node) {
            const std::string name = text("runs", entry.first);
            check_keys(entry.second, name, {"workload", "arguments", "set"});
            const YAML::Node workload = required(entry.second, "workload");
            run_recipe recipe{.workload = {text("workload", workload), place(workload)},
                              .arguments = pairs("arguments", entry.second["arguments"]),
                              .settings = pairs("set", entry.second["set"]),
                              .origin = place(entry.first)};
            if (!read_.runs.emplace(name, std::move(recipe)).second)
                throw sim::input_error("{}: the run {} stands there twice", place(entry.first), name);
        }
    }

    void read_system(const YAML::Node& node) {
        check_keys(node, "systems", {"system", "design", "figures"});
        const std::string system = text_of(node, "system");
        located design;
        if (const YAML::Node named = node["design"]) design = {text("design", named), place(named)};
        const YAML::Node list = required(node, "figures");
        if (!list.IsSequence()) throw sim::input_error("{}: figures: expected a list", place(list));
        for (const auto& one : list) read_figure(one, system, design);
    }

    void read_figure(const YAML::Node& node, const std::string& system, const located& design) {
        check_keys(node, "figures",
                   {"what", "published", "unit", "evidence", "fitted", "tolerance_percent", "source", "run",
                    "row", "column", "peak_of", "half_peak_of", "over"});
        figure f{.system = system,
                 .design = design,
                 .what = text_of(node, "what"),
                 .unit = text_of(node, "unit"),
                 .source = text_of(node, "source"),
                 .origin = place(node)};
        read_published(f, required(node, "published"));
        const YAML::Node grade = required(node, "evidence");
        const auto found = grades.find(text("evidence", grade));
        if (found == grades.end())
            throw sim::input_error(
                "{}: evidence is '{}': expected S (seen), D (derived), B (unverified) or P (prediction)",
                place(grade), grade.Scalar());
        f.evidence = found->second;
        if (node["fitted"]) f.fitted = text("fitted", node["fitted"]);
        if (node["tolerance_percent"])
            f.tolerance_percent = number("tolerance_percent", node["tolerance_percent"]);
        if (node["run"]) {
            f.measure = read_measure(node, design);
        } else if (!design.text.empty()) {
            throw sim::input_error("{}: expected the key run: how {} measures it", place(node), design.text);
        }
        if (const YAML::Node over = node["over"]) {
            check_keys(over, "over", {"design", "run", "row", "column", "peak_of", "half_peak_of"});
            located other = design;
            if (const YAML::Node named = over["design"]) other = {text("design", named), place(named)};
            if (!f.measure) throw sim::input_error("{}: over: expected the key run beside it", place(over));
            f.over = read_measure(over, other);
        }
        read_.figures.push_back(std::move(f));
    }

    void read_published(figure& f, const YAML::Node& node) const {
        if (!node.IsMap()) {
            f.least = f.most = number("published", node);
            return;
        }
        check_keys(node, "published", {"from", "to"});
        if (node["from"]) f.least = number("from", node["from"]);
        if (node["to"]) f.most = number("to", node["to"]);
        if (!f.least && !f.most)
            throw sim::input_error("{}: published: expected a number, or from, to, or both", place(node));
        if (f.least && f.most && *f.least > *f.most)
            throw sim::input_error("{}: published: from {} is above to {}", place(node), *f.least, *f.most);
    }

    measure read_measure(const YAML::Node& node, const located& design) const {
        const std::string run = text_of(node, "run");
        if (!read_.runs.contains(run)) {
            names known;
            for (const auto& [name, recipe] : read_.runs) known.push_back(name);
            const std::string near = sim::nearest_name(run, known);
            throw sim::input_error("{}: no run is named '{}'; {}", place(node["run"]), run,
                                   near.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                                                : fmt::format("did you mean '{}'?", near));
        }
        measure m{.design = design, .run = run, .row = pairs("row", node["row"]), .origin = place(node)};
        std::size_t ways = 0;
        for (const auto& [key, what] :
             {std::pair{"column", measure::kind::cell}, std::pair{"peak_of", measure::kind::peak},
              std::pair{"half_peak_of", measure::kind::half_peak}}) {
            if (!node[key]) continue;
            ++ways;
            m.what = what;
            m.column = text(key, node[key]);
        }
        if (ways != 1)
            throw sim::input_error("{}: expected one of column, peak_of and half_peak_of", place(node));
        return m;
    }

    std::string shown_;
    figures_file read_;
};

}  // namespace

figures_file read_figures(const std::filesystem::path& file) { return figures_reader(file).result(); }

}  // namespace vinic::testbench::validation
