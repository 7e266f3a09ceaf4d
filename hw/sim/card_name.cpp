// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/card_name.h"

#include <algorithm>

#include "hw/sim/configuration.h"

namespace vinic::sim {

std::string without_card(std::string_view name) {
    const std::string_view all = without_node(name);
    const std::string_view first = all.substr(0, all.find('.'));
    for (const std::string_view stem : {"nic", "driver", "agent"})
        if (first.starts_with(stem) && std::all_of(first.begin() + stem.size(), first.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; }))
            return std::string(stem) + std::string(all.substr(first.size()));
    return std::string(all);
}

}  // namespace vinic::sim
