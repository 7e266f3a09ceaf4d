// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host_driver/card_driver.h"
#include "host_driver/types.h"

namespace vinic::driver {

/// What an administrator told every node: which cards there are, what their hosts are called, and the source
/// route from each to each. Filled by the platform before the nodes start.
class fabric_directory {
public:
    /// `rail`: the card's number within its node.
    void add_card(const std::string& host_name, unsigned rail, const node_address& address);
    /// Throws input_error for a route of more than abi::route_bytes_max bytes.
    void set_route(const node_address& from, const node_address& to, std::vector<std::uint8_t> bytes);

    /// Null when there is no way. A card reaches itself by loopback without being told.
    const route* find_route(const node_address& from, const node_address& to) const;

    /// The addresses of a host, those of cards on `rail` first, then in the order of `add_card`; empty when
    /// nobody has that name.
    std::vector<node_address> addresses_of(const std::string& host_name, unsigned rail) const;
    /// Null for an address that nobody has.
    const std::string* host_of(const node_address& address) const;
    const std::vector<node_address>& cards() const { return cards_; }

private:
    struct card {
        std::string host_name;
        unsigned rail = 0;
    };
    std::map<node_address, card> by_address_;
    std::vector<node_address> cards_;
    std::map<std::pair<node_address, node_address>, route> routes_;
};

}  // namespace vinic::driver
