// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/setup.h"

#include <algorithm>

#include "hw/sim/error.h"
#include "testbench/cli/paths.h"
#include "testbench/lua/script.h"
#include "testbench/platform/node_parts.h"
#include "testbench/report/sha256.h"
#include "testbench/workloads/builtin.h"
#include "testbench/workloads/replay.h"

namespace vinic::testbench {

design design_of(const platform_options& options) {
    design d = load_design(options.design);
    for (const auto& text : options.settings) {
        const auto [name, value] = split_setting(text, "--set");
        apply_setting(d, name, value);
    }
    if (options.nodes) d.nodes = {*options.nodes, "--nodes"};
    d.node_count();
    d.card_count();
    return d;
}

std::optional<firmware> firmware_of(const design& from) {
    const bool runs_firmware = needs_firmware(from.card);
    if (from.firmware && !runs_firmware)
        throw sim::input_error("{}: firmware is '{}', but a card of kind '{}' runs none",
                               from.firmware->origin, from.firmware->text, from.card.text);
    if (!runs_firmware) return {};
    if (!from.firmware)
        throw sim::input_error("design {}: a card of kind '{}' needs a firmware (key `firmware`)", from.name,
                               from.card.text);
    return load_firmware(*from.firmware);
}

namespace {

/// Those that the design's cards have; the design's own is one of them.
std::vector<std::string> transports_on(const design& on) {
    std::vector<std::string> all = transports_of(on.card);
    if (std::ranges::find(all, on.transport.text) == all.end())
        throw sim::input_error("{}: transport is '{}': a card of kind {} has {}", on.transport.origin,
                               on.transport.text, on.card.text, fmt::join(all, ", "));
    return all;
}

}  // namespace

std::unique_ptr<workload> load_workload(const std::string& name_or_file,
                                        const std::vector<std::string>& arguments, const design& on,
                                        std::uint64_t seed, bool unsafe) {
    const workload_options options{.arguments = arguments,
                                   .nodes = on.node_count(),
                                   .cards = on.card_count(),
                                   .seed = seed,
                                   .unsafe = unsafe,
                                   .transport = on.transport.text,
                                   .transports = transports_on(on)};
    const auto builtin = builtin_workloads();
    if (const auto found = builtin.find(name_or_file); found != builtin.end()) return found->second(options);
    if (name_or_file.ends_with(".trace"))
        return std::make_unique<replay>(find_file(name_or_file, folders().workloads, ".trace", "trace"),
                                        options);
    const bool is_path = name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".lua");
    if (!is_path) {
        std::vector<std::string> names = names_in(folders().workloads, ".lua");
        if (std::find(names.begin(), names.end(), name_or_file) == names.end()) {
            for (const auto& [name, make] : builtin) names.push_back(name);
            std::sort(names.begin(), names.end());
            const std::string near = sim::nearest_name(name_or_file, names);
            throw sim::input_error("no workload is named '{}'; {}", name_or_file,
                                   near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                                : fmt::format("did you mean '{}'?", near));
        }
    }
    return std::make_unique<script>(find_file(name_or_file, folders().workloads, ".lua", "workload"),
                                    options);
}

platform_mode mode_of(const platform_options& options) {
    return {.seed = options.seed, .lockstep = options.lockstep, .shuffle = options.shuffle};
}

json changed_parameters(const design& from) {
    json changed = json::object();
    for (const auto& [name, value] : from.overrides) changed[name] = value.text;
    if (from.nodes.origin.starts_with("--")) changed["nodes"] = from.nodes.text;
    if (from.cards.origin.starts_with("--")) changed["cards"] = from.cards.text;
    if (from.topology.shape.origin.starts_with("--")) changed["topology"] = from.topology.shape.text;
    if (from.card.origin.starts_with("--")) changed["card"] = from.card.text;
    if (from.firmware && from.firmware->origin.starts_with("--")) changed["firmware"] = from.firmware->text;
    return changed;
}

std::string hash_of(const design& from) {
    std::string all;
    for (const auto& file : from.files) all += read_file(file);
    return sha256(all);
}

}  // namespace vinic::testbench
