// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/configuration.h"

#include <cctype>

#include "hw/sim/card_name.h"
#include "hw/sim/unknown_parameter.h"

namespace vinic::sim {

std::string_view without_node(std::string_view name) {
    constexpr std::string_view node = "node";
    if (!name.starts_with(node)) return name;
    std::size_t digits = node.size();
    while (digits < name.size() && std::isdigit(static_cast<unsigned char>(name[digits]))) ++digits;
    if (digits == node.size() || digits == name.size() || name[digits] != '.') return name;
    return name.substr(digits + 1);
}

void configuration::set(const std::string& name, setting value) { settings_[name] = std::move(value); }

const setting* configuration::consume(std::string_view module, std::string_view alias,
                                      std::string_view parameter) {
    const std::string dotted = "." + std::string(parameter);
    std::vector<std::string> names{std::string(module) + dotted, std::string(without_node(module)) + dotted,
                                   without_card(module) + dotted};
    if (!alias.empty()) names.push_back(std::string(alias) + dotted);
    const setting* found = nullptr;
    for (const auto& name : names) {
        const auto at = settings_.find(name);
        if (at == settings_.end()) continue;
        consumed_.insert(name);
        if (!found) found = &at->second;
    }
    return found;
}

void configuration::declare(parameter_info info) { parameters_.push_back(std::move(info)); }

void configuration::check_all_consumed() const {
    for (const auto& [name, value] : settings_) {
        if (consumed_.contains(name)) continue;
        std::set<std::string> names;
        for (const auto& parameter : parameters_) {
            names.insert(parameter.name);
            names.insert(std::string(without_node(parameter.name)));
            names.insert(without_card(parameter.name));
        }
        throw unknown_parameter(value.origin, name, nearest_name(name, names));
    }
}

}  // namespace vinic::sim
