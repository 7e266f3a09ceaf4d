// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/window.h"

#include <charconv>
#include <optional>
#include <vector>

#include "hw/sim/error.h"
#include "testbench/cli/options.h"

namespace vinic::testbench {

namespace {

std::uint64_t parse_count(const std::string& text, const std::string& option, const std::string& whole) {
    std::uint64_t n = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, n);
    if (error == std::errc{} && rest == end && n > 0) return n;
    throw sim::input_error("{} {}: '{}' is no number from 1 on", option, whole, text);
}

sim::picoseconds parse_cycle(const std::string& text, const std::string& option, const clock_map& known) {
    const std::size_t at = text.find('@');
    const std::string name = text.substr(0, at), number = text.substr(at + 1);
    const auto clock = known.find(name);
    if (clock == known.end()) {
        std::vector<std::string> names;
        for (const auto& [one, domain] : known) names.push_back(one);
        const std::string near = sim::nearest_name(name, names);
        throw sim::input_error("{} {}: no clock is named '{}'; {}", option, text, name,
                               near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                            : fmt::format("did you mean '{}'?", near));
    }
    // Edge 0 is the beginning of the run.
    return number == "0" ? 0 : clock->second.edge(parse_count(number, option, text));
}

/// Demangled names have arguments, which nobody types.
std::string parse_function(const std::string& name, const std::string& option, const platform& of) {
    const nic::lanai_core* const core = of.nodes().front()->cards.front().nic->core();
    if (!core)
        throw sim::input_error("{} function:{}: the cards of this design run no firmware", option, name);
    std::vector<std::string> names;
    for (const char* one : core->function.states()) {
        if (name == one) return one;
        names.emplace_back(one);
    }
    const std::string near = sim::nearest_name(name, names);
    throw sim::input_error("{} function:{}: the firmware has no such function{}", option, name,
                           near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near));
}

std::uint32_t parse_address(const std::string& text, const std::string& option) {
    std::uint32_t address = 0;
    const char* const end = text.data() + text.size();
    if (text.starts_with("0x")) {
        const auto [rest, error] = std::from_chars(text.data() + 2, end, address, 16);
        if (error == std::errc{} && rest == end && address % 4 == 0) return address;
    }
    throw sim::input_error("{} address:{}: expected the address of an instruction, as in address:0x1234",
                           option, text);
}

std::optional<traces::boundary> parse_boundary(const std::string& text, const std::string& option,
                                               const platform& of) {
    using traces::happening;
    if (text.empty()) return std::nullopt;
    if (text.find('@') != std::string::npos) return parse_cycle(text, option, clocks_of(of));
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) {
        if (text.find_first_of("0123456789") == 0) return parse_time(text, option);
        throw sim::input_error(
            "{} {}: expected a time (10us), a cycle (node0.bus.clock@1200), doorbell:N, message:N, "
            "function:NAME or address:0x1234",
            option, text);
    }
    const std::string what = text.substr(0, colon), which = text.substr(colon + 1);
    if (what == "doorbell")
        return happening{happening::kind::doorbell, parse_count(which, option, text), {}, 0};
    if (what == "message")
        return happening{happening::kind::message, parse_count(which, option, text), {}, 0};
    if (what == "function")
        return happening{happening::kind::function, 1, parse_function(which, option, of), 0};
    if (what == "address") return happening{happening::kind::address, 1, {}, parse_address(which, option)};
    const std::string near =
        sim::nearest_name(what, std::vector<std::string>{"doorbell", "message", "function", "address"});
    throw sim::input_error("{} {}: '{}' is none of doorbell, message, function and address{}", option, text,
                           what, near.empty() ? std::string() : fmt::format("; did you mean {}?", near));
}

}  // namespace

clock_map clocks_of(const platform& of) {
    clock_map all;
    for (const auto& one : of.nodes()) {
        all.emplace(std::string(one->bus.name()) + ".clock", one->bus.properties().clock);
        for (const node::plugged_card& card : one->cards)
            all.emplace(std::string(card.nic->name()) + ".clock", card.nic->clock_domain());
    }
    return all;
}

traces::window window_of(const std::string& option, const window_text& text, const platform& of) {
    return {parse_boundary(text.from, option + "-from", of), parse_boundary(text.to, option + "-to", of)};
}

}  // namespace vinic::testbench
