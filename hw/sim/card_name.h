// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace vinic::sim {

/// The name that stands for every card of every node: "node3.nic1.lanai" -> "nic.lanai", and so for a card's
/// `driver` and `agent`. Of other names the part behind the node.
std::string without_card(std::string_view name);

}  // namespace vinic::sim
