// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vinic::link {

/// The switches and cables of a network, as a plain list. A node is a place at which one card is attached;
/// where machines have several cards, the places of a machine follow one another.
struct topology {
    /// One end of a cable: a port of a switch, or a node (whose only port is 0).
    struct end {
        enum class kind { node, switch_port } at = kind::node;
        unsigned index = 0;
        unsigned port = 0;
        bool operator==(const end&) const = default;
    };
    struct cable {
        end a;
        end b;
    };

    unsigned nodes = 0;
    unsigned cards = 1;                  ///< of each machine
    std::vector<unsigned> switch_ports;  ///< ports of each switch
    std::vector<cable> cables;

    static end node(unsigned index) { return {end::kind::node, index, 0}; }
    static end switch_port(unsigned index, unsigned port) { return {end::kind::switch_port, index, port}; }

    /// The place of a machine's card.
    unsigned place_of(unsigned machine, unsigned card) const { return machine * cards + card; }
    /// "node 3" for the first card of machine 3, "node 3 nic1" for the second.
    std::string name_of(unsigned node) const;

    /// Two machines, and a cable from each card of the one to that of the same number of the other.
    static topology back_to_back(unsigned cards = 1);
    /// Node i at port i.
    static topology one_switch(unsigned nodes, unsigned ports);
    /// Leaf switches with half of their ports to nodes and half to spine switches, of which as many are built
    /// as nodes need; one switch when that is enough. Up to ports * ports / 2 nodes.
    static topology clos(unsigned nodes, unsigned ports);
    /// "back_to_back", "switch" or "clos" for so many machines; input_error with the names for another.
    static topology named(const std::string& name, unsigned machines, unsigned ports, unsigned cards = 1);

    /// The connected part that each node belongs to, then each switch: numbers from 0 on. The first cards of
    /// all machines may be on one network and the second ones on another.
    std::vector<unsigned> parts() const;

    /// input_error for a node without a cable, a port that does not exist or is used twice, a switch that
    /// cannot be reached, two machines of which no card reaches one of the other.
    void check() const;
};

/// The ways through a topology.
class routing {
public:
    /// Up*/down* routes, shortest first, balanced over equal ones, the same in every run: no cyclic wait is
    /// possible.
    explicit routing(const topology& of);

    /// The route bytes (facts/lanai_pcix.md B6) from a node to another, one for each switch. To itself: back
    /// through the first switch, empty where there is none. Empty, too, where nothing leads there.
    const std::vector<std::uint8_t>& route(unsigned from, unsigned to) const { return routes_[from][to]; }
    bool reaches(unsigned from, unsigned to) const { return parts_[from] == parts_[to]; }
    unsigned nodes() const { return static_cast<unsigned>(routes_.size()); }

    /// Replaces a route, for experiments; see find_cycle.
    void set(unsigned from, unsigned to, std::vector<std::uint8_t> bytes);

private:
    std::vector<unsigned> parts_;
    std::vector<std::vector<std::vector<std::uint8_t>>> routes_;
};

/// The byte that leads from one port of a switch to another.
std::uint8_t route_byte(unsigned from_port, unsigned to_port);

/// The node at which a packet with this route ends; none when it is dropped on the way.
std::optional<unsigned> destination(const topology& in, unsigned from,
                                    const std::vector<std::uint8_t>& bytes);

/// A cycle in the graph of which cable direction can wait for which when these routes are used, as text
/// ("switch 0 port 3 -> switch 1 port 2 -> ..."); none when the routes cannot deadlock.
std::optional<std::string> find_cycle(const topology& in, const routing& routes);

}  // namespace vinic::link
