// SPDX-License-Identifier: Apache-2.0
#include "testbench/vibe/suite.h"

#include <algorithm>

#include "hw/sim/error.h"
#include "testbench/platform/yaml.h"
#include "testbench/report/table.h"

namespace vinic::testbench::vibe {

namespace {

/// The programs always call, or spin provably; but filling 32 MB may take long on a machine that is busy.
constexpr const char* grace_ms = "60000";

const std::vector<std::string> test_keys{"test", "program", "arguments", "vary", "keys", "values"};

std::string text(const std::string& shown, const std::string& key, const YAML::Node& node) {
    if (node.IsScalar() && !node.Scalar().empty()) return node.Scalar();
    throw sim::input_error("{}: {}: expected a single value", place_of(shown, node), key);
}

std::vector<std::string> list(const std::string& shown, const std::string& key, const YAML::Node& node) {
    if (!node.IsSequence() || node.size() == 0)
        throw sim::input_error("{}: {}: expected a list", place_of(shown, node), key);
    std::vector<std::string> all;
    for (const auto& one : node) all.push_back(text(shown, key, one));
    return all;
}

YAML::Node required(const std::string& shown, const YAML::Node& node, const char* key) {
    if (const YAML::Node found = node[key]) return found;
    throw sim::input_error("{}: expected the key {}", place_of(shown, node), key);
}

test read_test(const std::string& shown, const YAML::Node& node) {
    if (!node.IsMap())
        throw sim::input_error("{}: tests: expected keys {}", place_of(shown, node),
                               fmt::join(test_keys, ", "));
    for (const auto& entry : node)
        if (std::ranges::find(test_keys, entry.first.as<std::string>("")) == test_keys.end())
            unknown_key(place_of(shown, entry.first), entry.first.as<std::string>(""), test_keys);
    test t{.name = text(shown, "test", required(shown, node, "test")),
           .program = text(shown, "program", required(shown, node, "program")),
           .keys = list(shown, "keys", required(shown, node, "keys")),
           .values = list(shown, "values", required(shown, node, "values"))};
    if (const YAML::Node arguments = node["arguments"]) {
        if (!arguments.IsMap())
            throw sim::input_error("{}: arguments: expected names and values", place_of(shown, arguments));
        for (const auto& entry : arguments)
            t.arguments.emplace_back(text(shown, "arguments", entry.first),
                                     text(shown, "arguments", entry.second));
    }
    if (const YAML::Node vary = node["vary"]) {
        if (!vary.IsMap() || vary.size() != 1)
            throw sim::input_error("{}: vary: expected one argument and its values", place_of(shown, vary));
        t.varied = text(shown, "vary", vary.begin()->first);
        t.values_of_varied = list(shown, "vary", vary.begin()->second);
    }
    return t;
}

}  // namespace

std::string name_of(const std::string& design) { return std::filesystem::path(design).stem().string(); }

std::vector<test> read_suite(const std::filesystem::path& file) {
    const std::string shown = file.string();
    const YAML::Node root = parse_yaml(file, shown);
    if (!root.IsMap() || !root["tests"] || !root["tests"].IsSequence())
        throw sim::input_error("{}:1: expected the key tests, a list", shown);
    std::vector<test> all;
    for (const auto& one : root["tests"]) all.push_back(read_test(shown, one));
    return all;
}

suite_run::suite_run(std::vector<test> tests, options on)
    : tests_(std::move(tests)), options_(std::move(on)) {}

/// The client on node 0, and its server on node 1.
std::vector<std::string> suite_run::words_of(const test& of, const std::string& varied) const {
    std::vector<std::string> program{(options_.programs / of.program).string()};
    for (const auto& [name, given] : of.arguments) program.push_back(name + "=" + given);
    if (!of.varied.empty()) program.push_back(of.varied + "=" + varied);
    std::vector<std::string> all = program;
    all.insert(all.end(), {"node1", ":"});
    all.insert(all.end(), program.begin(), program.end());
    return all;
}

void suite_run::ask(validation::simulations& of) {
    for (std::size_t t = 0; t < tests_.size(); ++t) {
        const test& one = tests_[t];
        const auto varied = one.varied.empty() ? std::vector<std::string>{""} : one.values_of_varied;
        for (const auto& value : varied)
            for (std::size_t d = 0; d < options_.designs.size(); ++d) {
                std::vector<std::string> command{"exec", "--grace", grace_ms, "--design",
                                                 options_.designs[d]};
                if (options_.seed != 1)
                    command.insert(command.end(), {"--seed", std::to_string(options_.seed)});
                for (const auto& setting : options_.settings)
                    command.insert(command.end(), {"--set", setting});
                const std::size_t run =
                    of.want(command, words_of(one, value), validation::simulations::output::table);
                asked_.push_back({.test = t, .design = d, .varied = value, .run = run});
            }
    }
}

/// "depth 4", "wait poll, 8 bytes": what tells a row from the others of its test.
std::string suite_run::case_of(const test& of, const std::string& varied, const json& row) const {
    std::string text;
    for (const auto& key : of.keys) {
        const json value = row.contains(key) ? row[key] : key == of.varied ? json(varied) : json();
        const bool bytes = key.ends_with("_bytes");
        if (value == "-") continue;  // does not apply
        if (!text.empty()) text += ", ";
        if (row.contains(key) && value.is_string())
            text += cell(value);
        else if (bytes)
            text += cell(value) + " bytes";
        else if (key.ends_with("_percent"))
            text += cell(value) + " %";
        else
            text += heading(key) + " " + cell(value);
    }
    return text;
}

json suite_run::rows(const validation::simulations& of) const {
    json all = json::array();
    std::vector<std::string> known;  // test, case and quantity of each row
    for (const asked& one : asked_) {
        const test& t = tests_[one.test];
        for (const auto& row : of.rows(one.run))
            for (const auto& value : t.values) {
                if (!row.contains(value)) continue;
                const std::string which = case_of(t, one.varied, row);
                const std::string key = fmt::format("{}\n{}\n{}", one.test, which, value);
                auto at = std::ranges::find(known, key);
                if (at == known.end()) {
                    known.push_back(key);
                    all.push_back({{"test", t.name}, {"case", which}, {"quantity", heading(value)}});
                    at = known.end() - 1;
                }
                all[static_cast<std::size_t>(at - known.begin())][name_of(options_.designs[one.design])] =
                    row[value];
            }
    }
    return all;
}

json suite_run::about(const asked& one, const std::string& why, const validation::simulations& of) const {
    const test& t = tests_[one.test];
    return {{"test", t.name + (t.varied.empty() ? "" : fmt::format(", {} {}", t.varied, one.varied))},
            {"design", name_of(options_.designs[one.design])},
            {"why", why},
            {"command", of.command(one.run)}};
}

json suite_run::failures(const validation::simulations& of) const {
    json all = json::array();
    for (const asked& one : asked_)
        if (const std::string& why = of.failure(one.run); !why.empty()) all.push_back(about(one, why, of));
    return all;
}

json suite_run::unsupported(const validation::simulations& of) const {
    json all = json::array();
    for (const asked& one : asked_)
        if (const std::string& why = of.remark(one.run); !why.empty()) all.push_back(about(one, why, of));
    return all;
}

}  // namespace vinic::testbench::vibe
