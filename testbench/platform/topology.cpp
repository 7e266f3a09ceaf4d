// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/topology.h"

#include <charconv>
#include <map>

#include "hw/sim/error.h"

namespace vinic::testbench {

namespace {

constexpr unsigned default_ports = 8;

class list_builder {
public:
    list_builder(const topology_description& from, unsigned nodes, unsigned cards) : from_(from) {
        built_.nodes = nodes * cards;
        built_.cards = cards;
    }

    link::topology build() {
        for (const auto& entry : from_.switches) {
            if (!index_.emplace(entry.name, static_cast<unsigned>(index_.size())).second)
                throw sim::input_error("{}: two switches are named {}", entry.origin, entry.name);
            built_.switch_ports.push_back(static_cast<unsigned>(entry.ports));
        }
        for (const auto& cable : from_.cables)
            built_.cables.push_back({end(cable.from, cable.origin), end(cable.to, cable.origin)});
        return built_;
    }

private:
    static unsigned number(std::string_view text, const std::string& whole, const std::string& origin) {
        unsigned value = 0;
        const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || rest != text.data() + text.size()) not_an_end(whole, origin);
        return value;
    }

    [[noreturn]] static void not_an_end(const std::string& text, const std::string& origin) {
        throw sim::input_error("{}: '{}': expected an end such as node0, node0.nic1 or switch0:5", origin,
                               text);
    }

    /// "node3" is its first card, as "node3.nic" is.
    link::topology::end node(const std::string& text, const std::string& origin) const {
        constexpr std::string_view before = "node", card_before = "nic";
        const std::size_t dot = text.find('.');
        const std::string_view whole = text, machine = whole.substr(0, dot);
        if (!machine.starts_with(before)) not_an_end(text, origin);
        unsigned card = 0;
        if (dot != std::string::npos) {
            const std::string_view name = whole.substr(dot + 1);
            if (!name.starts_with(card_before)) not_an_end(text, origin);
            if (name != card_before) card = number(name.substr(card_before.size()), text, origin);
        }
        if (card >= built_.cards)
            throw sim::input_error("{}: there is no {}: the number of cards of a node (key `cards`) is {}",
                                   origin, text, built_.cards);
        return link::topology::node(
            built_.place_of(number(machine.substr(before.size()), text, origin), card));
    }

    link::topology::end end(const std::string& text, const std::string& origin) const {
        const std::size_t colon = text.find(':');
        if (colon == std::string::npos) return node(text, origin);
        const std::string name = text.substr(0, colon);
        const auto found = index_.find(name);
        if (found == index_.end()) {
            std::vector<std::string> names;
            for (const auto& entry : from_.switches) names.push_back(entry.name);
            const std::string near = sim::nearest_name(name, names);
            throw sim::input_error("{}: no switch is named '{}'{}", origin, name,
                                   near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near));
        }
        return link::topology::switch_port(found->second,
                                           number(std::string_view(text).substr(colon + 1), text, origin));
    }

    const topology_description& from_;
    std::map<std::string, unsigned> index_;
    link::topology built_;
};

/// "switch 1 port 9" -> "switch right port 9".
std::string with_names(std::string text, const topology_description& of) {
    constexpr std::string_view before = "switch ";
    for (std::size_t at = 0; (at = text.find(before, at)) != std::string::npos;) {
        at += before.size();
        std::size_t index = 0;
        const auto [rest, error] = std::from_chars(text.data() + at, text.data() + text.size(), index);
        if (error != std::errc{} || index >= of.switches.size()) continue;
        text.replace(at, static_cast<std::size_t>(rest - text.data()) - at, of.switches[index].name);
    }
    return text;
}

void check(const link::topology& built, const topology_description& from) {
    try {
        built.check();
    } catch (const sim::input_error& error) {
        throw sim::input_error("{}", with_names(error.what(), from));
    }
}

}  // namespace

link::topology build_topology(const topology_description& from, unsigned nodes, unsigned cards) {
    try {
        link::topology built;
        if (from.shape.text == "list")
            built = list_builder(from, nodes, cards).build();
        else
            built = link::topology::named(
                from.shape.text, nodes,
                from.switch_ports ? static_cast<unsigned>(from.switch_ports) : default_ports, cards);
        check(built, from);
        return built;
    } catch (const sim::input_error& error) {
        const std::string what = error.what();
        throw sim::input_error("{}",
                               what.starts_with(from.shape.origin.substr(0, from.shape.origin.find(':')))
                                   ? what
                                   : fmt::format("{}: {}", from.shape.origin, what));
    }
}

}  // namespace vinic::testbench
