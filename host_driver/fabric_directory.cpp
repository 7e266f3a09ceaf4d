// SPDX-License-Identifier: Apache-2.0
#include "host_driver/fabric_directory.h"

#include "firmware/abi/wire_format.h"
#include "hw/sim/error.h"

namespace vinic::driver {

void fabric_directory::add_card(const std::string& host_name, unsigned rail, const node_address& address) {
    if (!by_address_.emplace(address, card{.host_name = host_name, .rail = rail}).second)
        throw sim::input_error("two cards have the same address (the second is {} card {})", host_name, rail);
    cards_.push_back(address);
}

void fabric_directory::set_route(const node_address& from, const node_address& to,
                                 std::vector<std::uint8_t> bytes) {
    if (bytes.size() > abi::route_bytes_max)
        throw sim::input_error("a route of {} bytes: a packet has room for {}", bytes.size(),
                               abi::route_bytes_max);
    routes_[{from, to}] = {.bytes = std::move(bytes), .to = to};
}

const route* fabric_directory::find_route(const node_address& from, const node_address& to) const {
    static const route to_itself{.bytes = {}, .loopback = true};
    if (from == to) return &to_itself;
    const auto found = routes_.find({from, to});
    return found == routes_.end() ? nullptr : &found->second;
}

std::vector<node_address> fabric_directory::addresses_of(const std::string& host_name, unsigned rail) const {
    std::vector<node_address> found;
    for (const bool same_rail : {true, false})
        for (const node_address& address : cards_) {
            const card& c = by_address_.at(address);
            if (c.host_name == host_name && (c.rail == rail) == same_rail) found.push_back(address);
        }
    return found;
}

const std::string* fabric_directory::host_of(const node_address& address) const {
    const auto found = by_address_.find(address);
    return found == by_address_.end() ? nullptr : &found->second.host_name;
}

}  // namespace vinic::driver
