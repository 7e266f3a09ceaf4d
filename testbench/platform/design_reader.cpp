// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/design_reader.h"

#include <algorithm>
#include <set>

#include "hw/sim/error.h"
#include "testbench/cli/paths.h"
#include "testbench/platform/yaml.h"

namespace vinic::testbench {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t most_ports = 64;
/// Of a parameter's name; more only come from an alias that holds itself.
constexpr int most_levels = 16;

}  // namespace

design design_reader::read(const std::string& name_or_file) {
    const fs::path file = find_file(name_or_file, folders().designs, ".yaml", "design");
    design_ = {};
    const bool shipped = file.parent_path() == folders().designs;
    read_file({file, shipped ? file.filename().string() : file.string()});
    if (design_.name.empty()) design_.name = file.stem().string();
    return std::move(design_);
}

std::string design_reader::place(const source& from, const YAML::Node& node) {
    return place_of(from.shown, node);
}

std::string design_reader::scalar(const source& from, const std::string& key, const YAML::Node& node) const {
    if (!node.IsScalar()) throw sim::input_error("{}: {}: expected a single value", place(from, node), key);
    return node.Scalar();
}

void design_reader::unknown_key(const source& from, const YAML::Node& key,
                                const std::vector<std::string>& known) const {
    testbench::unknown_key(place(from, key), key.Scalar(), known);
}

design_reader::source design_reader::resolve(const source& from, const YAML::Node& name) const {
    const std::string text = scalar(from, "a design", name);
    const std::string with_suffix = text.ends_with(".yaml") ? text : text + ".yaml";
    std::error_code none;
    const fs::path beside = from.file.parent_path() / with_suffix;
    if (fs::is_regular_file(beside, none)) {
        const bool shipped = beside.string().starts_with(folders().designs.string() + "/");
        return {beside, shipped ? fs::relative(beside, folders().designs).string() : beside.string()};
    }
    const fs::path shipped = folders().designs / with_suffix;
    if (fs::is_regular_file(shipped, none)) return {shipped, with_suffix};
    const fs::path folder = fs::path(with_suffix).parent_path();
    std::vector<std::string> names;
    for (const auto& near : names_in(folders().designs / folder, ".yaml"))
        names.push_back((folder / near).string());
    const std::string near = sim::nearest_name(text, names);
    throw sim::input_error("{}: no file {} beside it or among the designs{}", place(from, name), with_suffix,
                           near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near));
}

void design_reader::read_file(const source& from) {
    const fs::path canonical = fs::weakly_canonical(from.file);
    if (std::find(open_.begin(), open_.end(), canonical) != open_.end())
        throw sim::input_error("{}: builds on itself", from.shown);
    const YAML::Node root = parse_yaml(from.file, from.shown);
    if (!root.IsMap() && !root.IsNull())
        throw sim::input_error("{}:1: expected keys and values, as in `nodes: 2`", from.shown);
    open_.push_back(canonical);
    read_bases(from, root);
    own_.clear();
    // What a file builds on has a name and a description of its own.
    design_.name.clear();
    design_.description.clear();
    read_keys(from, root);
    design_.files.push_back(from.file);
    open_.pop_back();
}

void design_reader::read_bases(const source& from, const YAML::Node& root) {
    if (const YAML::Node base = root["base"]) read_file(resolve(from, base));
    const YAML::Node include = root["include"];
    if (!include) return;
    if (include.IsScalar()) return read_file(resolve(from, include));
    if (!include.IsSequence())
        throw sim::input_error("{}: include: expected a name or a list of names", place(from, include));
    for (const auto& one : include) read_file(resolve(from, one));
}

void design_reader::read_keys(const source& from, const YAML::Node& root) {
    std::set<std::string> seen;
    for (const auto& entry : root) {
        if (!entry.first.IsScalar()) throw sim::input_error("{}: expected a key", place(from, entry.first));
        const std::string key = entry.first.Scalar();
        const YAML::Node& value = entry.second;
        if (!seen.insert(key).second)
            throw sim::input_error("{}: {} stands there twice", place(from, entry.first), key);
        if (key == "base" || key == "include") {
            continue;
        } else if (key == "name") {
            design_.name = scalar(from, key, value);
        } else if (key == "description") {
            design_.description = scalar(from, key, value);
        } else if (key == "nodes") {
            design_.nodes = {scalar(from, key, value), place(from, value)};
        } else if (key == "cards") {
            design_.cards = {scalar(from, key, value), place(from, value)};
        } else if (key == "card") {
            design_.card = {scalar(from, key, value), place(from, value)};
        } else if (key == "transport") {
            design_.transport = {scalar(from, key, value), place(from, value)};
        } else if (key == "firmware") {
            std::string what = scalar(from, key, value);
            if (what.find('/') != std::string::npos && fs::path(what).is_relative())
                what = ("." / from.file.parent_path() / what).string();
            design_.firmware = located{what, place(from, value)};
        } else if (key == "topology") {
            read_topology(from, value);
        } else if (value.IsMap() || key.find('.') != std::string::npos) {
            read_parameters(from, key, value);
        } else {
            unknown_key(from, entry.first, design_keys());
        }
    }
}

void design_reader::read_topology(const source& from, const YAML::Node& node) {
    static const std::vector<std::string> keys{"shape", "switch_ports", "switches", "cables"};
    topology_description& to = design_.topology = {};
    to.shape.origin = place(from, node);
    if (node.IsScalar()) {
        to.shape.text = node.Scalar();
        return;
    }
    if (!node.IsMap()) throw sim::input_error("{}: topology: expected a shape or a list", place(from, node));
    to.shape.text = node["cables"] ? "list" : "switch";
    for (const auto& entry : node) {
        const std::string key = entry.first.Scalar();
        if (key == "shape") {
            to.shape.text = scalar(from, key, entry.second);
        } else if (key == "switch_ports") {
            to.switch_ports = entry.second.as<std::uint64_t>(0);
            if (to.switch_ports < 2 || to.switch_ports > most_ports)
                throw sim::input_error("{}: switch_ports: expected a number from 2 to {}",
                                       place(from, entry.second), most_ports);
        } else if (key == "switches") {
            read_switches(from, entry.second);
        } else if (key == "cables") {
            read_cables(from, entry.second);
        } else {
            unknown_key(from, entry.first, keys);
        }
    }
}

void design_reader::read_switches(const source& from, const YAML::Node& list) {
    if (!list.IsMap())
        throw sim::input_error("{}: switches: expected names and numbers of ports, as in `switch0: 8`",
                               place(from, list));
    for (const auto& entry : list) {
        const std::uint64_t ports = entry.second.as<std::uint64_t>(0);
        if (ports < 1 || ports > most_ports)
            throw sim::input_error("{}: {}: expected its number of ports, 1 to {}", place(from, entry.second),
                                   entry.first.Scalar(), most_ports);
        design_.topology.switches.push_back({entry.first.Scalar(), ports, place(from, entry.first)});
    }
}

void design_reader::read_cables(const source& from, const YAML::Node& list) {
    if (!list.IsSequence()) throw sim::input_error("{}: cables: expected a list of pairs", place(from, list));
    for (const auto& pair : list) {
        if (!pair.IsSequence() || pair.size() != 2 || !pair[0].IsScalar() || !pair[1].IsScalar())
            throw sim::input_error("{}: cables: expected two ends, as in [node0, switch0:1]",
                                   place(from, pair));
        design_.topology.cables.push_back({pair[0].Scalar(), pair[1].Scalar(), place(from, pair)});
    }
}

void design_reader::read_parameters(const source& from, const std::string& name, const YAML::Node& node) {
    static const std::vector<std::string> keys{"value", "source"};
    if (std::count(name.begin(), name.end(), '.') > most_levels)
        throw sim::input_error("{}: {}...: more than {} levels; does an alias hold itself?",
                               place(from, node), name.substr(0, name.find('.')), most_levels);
    if (node.IsScalar()) return add_parameter(from, name, node, {node.Scalar(), place(from, node), ""});
    if (!node.IsMap())
        throw sim::input_error("{}: {}: expected a value or {{value, source}}", place(from, node), name);
    if (node["value"]) {
        for (const auto& entry : node)
            if (entry.first.Scalar() != "value" && entry.first.Scalar() != "source")
                unknown_key(from, entry.first, keys);
        const YAML::Node value = node["value"];
        const YAML::Node given_source = node["source"];
        return add_parameter(from, name, value,
                             {scalar(from, name, value), place(from, value),
                              given_source ? scalar(from, "source", given_source) : std::string()});
    }
    for (const auto& entry : node) {
        const std::string key = entry.first.Scalar();
        read_parameters(from, name + "." + key, entry.second);
    }
}

void design_reader::add_parameter(const source& from, const std::string& name, const YAML::Node& at,
                                  sim::setting value) {
    const auto [earlier, fresh] = own_.emplace(name, place(from, at));
    if (!fresh)
        throw sim::input_error("{}: {} was given at {} already", place(from, at), name, earlier->second);
    design_.settings[name] = std::move(value);
}

}  // namespace vinic::testbench
