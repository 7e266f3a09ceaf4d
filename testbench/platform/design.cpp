// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/design.h"

#include <charconv>

#include "hw/sim/error.h"
#include "testbench/platform/design_reader.h"
#include "testbench/platform/setting.h"

namespace vinic::testbench {

const std::vector<std::string>& design_keys() {
    static const std::vector<std::string> keys{"name",     "description", "base",  "include",  "card",
                                               "firmware", "nodes",       "cards", "topology", "transport"};
    return keys;
}

namespace {

std::uint64_t count_of(const char* key, const located& value, std::uint64_t most) {
    std::uint64_t count = 0;
    const char* end = value.text.data() + value.text.size();
    const auto [rest, error] = std::from_chars(value.text.data(), end, count);
    if (error != std::errc{} || rest != end || count < 1 || count > most)
        throw sim::input_error("{}: {} is '{}': expected a number from 1 to {}", value.origin, key,
                               value.text, most);
    return count;
}

}  // namespace

std::uint64_t design::node_count() const { return count_of("nodes", nodes, 128); }
std::uint64_t design::card_count() const { return count_of("cards", cards, 4); }

sim::configuration design::configuration() const {
    sim::configuration all;
    for (const auto& [parameter, value] : settings) all.set(parameter, value);
    for (const auto& [parameter, value] : overrides) all.set(parameter, value);
    return all;
}

design load_design(const std::string& name_or_file) { return design_reader().read(name_or_file); }

void apply_setting(design& to, const std::string& name, const std::string& value) {
    apply_setting(to, name, located{value, "--set"});
}

void apply_setting(design& to, const std::string& name, const located& value) {
    if (name == "nodes") {
        to.nodes = value;
    } else if (name == "cards") {
        to.cards = value;
    } else if (name == "card") {
        to.card = value;
    } else if (name == "transport") {
        to.transport = value;
    } else if (name == "firmware") {
        to.firmware = value;
    } else if (name == "topology") {
        to.topology = {};
        to.topology.shape = value;
    } else {
        to.overrides[name] = {value.text, value.origin, ""};
    }
}

}  // namespace vinic::testbench
