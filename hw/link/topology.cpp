// SPDX-License-Identifier: Apache-2.0
#include "hw/link/topology.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "hw/sim/error.h"

namespace vinic::link {

namespace {

constexpr unsigned unreachable = std::numeric_limits<unsigned>::max();

std::string text_of(const topology::end& e) {
    return e.at == topology::end::kind::node ? fmt::format("node {}", e.index)
                                             : fmt::format("switch {} port {}", e.index, e.port);
}

bool is_switch(const topology::end& e) { return e.at == topology::end::kind::switch_port; }

/// One direction of a cable: number 2 * cable for A to B, 2 * cable + 1 for B to A.
struct channel {
    topology::end from;
    topology::end to;
};

std::vector<channel> channels_of(const topology& t) {
    std::vector<channel> all;
    for (const topology::cable& c : t.cables) {
        all.push_back({c.a, c.b});
        all.push_back({c.b, c.a});
    }
    return all;
}

/// The channels that leave each switch, by port.
std::vector<std::vector<unsigned>> leaving(const topology& t, const std::vector<channel>& channels) {
    std::vector<std::vector<unsigned>> out(t.switch_ports.size());
    for (unsigned c = 0; c < channels.size(); ++c)
        if (is_switch(channels[c].from)) out[channels[c].from.index].push_back(c);
    for (auto& list : out) std::ranges::sort(list, {}, [&](unsigned c) { return channels[c].from.port; });
    return out;
}

/// Distance of each switch from the given ones, over cables between switches.
std::vector<unsigned> distances(const topology& t, const std::vector<channel>& channels,
                                std::vector<unsigned> from) {
    const auto out = leaving(t, channels);
    std::vector<unsigned> distance(t.switch_ports.size(), unreachable);
    for (const unsigned s : from) distance[s] = 0;
    for (std::size_t i = 0; i < from.size(); ++i)
        for (const unsigned c : out[from[i]]) {
            const topology::end& to = channels[c].to;
            if (!is_switch(to) || distance[to.index] != unreachable) continue;
            distance[to.index] = distance[from[i]] + 1;
            from.push_back(to.index);
        }
    return distance;
}

}  // namespace

std::string topology::name_of(unsigned node) const {
    const unsigned card = node % cards;
    return fmt::format("node {}{}", node / cards, card == 0 ? std::string() : fmt::format(" nic{}", card));
}

topology topology::back_to_back(unsigned cards) {
    topology t;
    t.nodes = 2 * cards;
    t.cards = cards;
    for (unsigned i = 0; i < cards; ++i) t.cables.push_back({node(t.place_of(0, i)), node(t.place_of(1, i))});
    return t;
}

topology topology::one_switch(unsigned nodes, unsigned ports) {
    if (nodes == 0 || nodes > ports)
        throw sim::input_error("a switch of {} ports connects 1 to {} nodes, not {}", ports, ports, nodes);
    topology t;
    t.nodes = nodes;
    t.switch_ports.push_back(ports);
    for (unsigned i = 0; i < nodes; ++i) t.cables.push_back({node(i), switch_port(0, i)});
    return t;
}

topology topology::clos(unsigned nodes, unsigned ports) {
    if (nodes <= ports) return one_switch(nodes, ports);
    if (ports % 2 != 0) throw sim::input_error("a Clos network needs an even number of ports, not {}", ports);
    const unsigned half = ports / 2;
    const unsigned leaves = (nodes + half - 1) / half;
    if (leaves > ports)
        throw sim::input_error("a Clos network of switches of {} ports connects up to {} nodes, not {}",
                               ports, ports * half, nodes);
    // As few spines as have a port for each upward cable, such that each leaf has equally many to each spine.
    unsigned spines = (leaves + 1) / 2;
    while (half % spines != 0) ++spines;

    topology t;
    t.nodes = nodes;
    t.switch_ports.assign(leaves + spines, ports);
    for (unsigned i = 0; i < nodes; ++i) t.cables.push_back({node(i), switch_port(i / half, i % half)});
    for (unsigned leaf = 0; leaf < leaves; ++leaf)
        for (unsigned up = 0; up < half; ++up) {
            const unsigned spine = up % spines;
            const unsigned port = leaf * (half / spines) + up / spines;
            t.cables.push_back({switch_port(leaf, half + up), switch_port(leaves + spine, port)});
        }
    return t;
}

topology topology::named(const std::string& name, unsigned machines, unsigned ports, unsigned cards) {
    if (name == "back_to_back") {
        if (machines != 2) throw sim::input_error("topology back_to_back connects 2 nodes, not {}", machines);
        return back_to_back(cards);
    }
    if (name == "switch" || name == "clos") {
        topology t = name == "switch" ? one_switch(machines * cards, ports) : clos(machines * cards, ports);
        t.cards = cards;
        return t;
    }
    throw sim::input_error("no topology is named '{}'; there are back_to_back, switch and clos", name);
}

std::vector<unsigned> topology::parts() const {
    std::vector<unsigned> part(nodes + switch_ports.size());
    std::iota(part.begin(), part.end(), 0u);
    const auto number = [&](const end& e) { return is_switch(e) ? nodes + e.index : e.index; };
    for (const cable& c : cables) {
        const auto [low, high] = std::minmax({part[number(c.a)], part[number(c.b)]});
        std::ranges::replace(part, high, low);
    }
    const std::set<unsigned> used(part.begin(), part.end());
    for (unsigned& p : part) p = static_cast<unsigned>(std::distance(used.begin(), used.find(p)));
    return part;
}

namespace {

void check_parts(const topology& t) {
    const std::vector<unsigned> part = t.parts();
    for (unsigned s = 0; s < t.switch_ports.size(); ++s) {
        const unsigned mine = part[t.nodes + s];
        const bool useful = std::find(part.begin(), part.begin() + t.nodes, mine) != part.begin() + t.nodes;
        if (t.cards == 1 && mine != part[t.nodes])
            throw sim::input_error("topology: switch {} cannot be reached from switch 0", s);
        if (!useful) throw sim::input_error("topology: switch {} reaches no node", s);
    }
    std::vector<std::set<unsigned>> reached(t.nodes / t.cards);  // parts, by machine
    for (unsigned i = 0; i < t.nodes; ++i) reached[i / t.cards].insert(part[i]);
    for (unsigned a = 0; a < reached.size(); ++a)
        for (unsigned b = a + 1; b < reached.size(); ++b)
            if (std::ranges::none_of(reached[a], [&](unsigned p) { return reached[b].contains(p); }))
                throw sim::input_error("topology: nothing leads from node {} to node {}", a, b);
}

}  // namespace

void topology::check() const {
    const auto text = [this](const end& e) { return is_switch(e) ? text_of(e) : name_of(e.index); };
    std::set<std::tuple<bool, unsigned, unsigned>> used;
    for (const cable& c : cables)
        for (const end& e : {c.a, c.b}) {
            const bool exists = is_switch(e) ? e.index < switch_ports.size() && e.port < switch_ports[e.index]
                                             : e.index < nodes && e.port == 0;
            if (!exists) throw sim::input_error("topology: there is no {}", text(e));
            if (!used.emplace(is_switch(e), e.index, e.port).second)
                throw sim::input_error("topology: {} has more than one cable", text(e));
        }
    for (unsigned i = 0; i < nodes; ++i)
        if (!used.contains({false, i, 0})) throw sim::input_error("topology: {} has no cable", name_of(i));
    check_parts(*this);
}

std::uint8_t route_byte(unsigned from_port, unsigned to_port) {
    return static_cast<std::uint8_t>(0x80 | ((to_port - from_port) & 0x3F));
}

namespace {

/// Finds the routes of one topology under an order of its switches: a way first climbs the order, then
/// descends, so no cyclic wait is possible whatever the order is.
class way_finder {
public:
    /// `rank`: the higher switch of two has the higher rank; equal ranks are ordered by index.
    way_finder(const topology& t, std::vector<unsigned> rank)
        : channels_(channels_of(t)), out_(leaving(t, channels_)), rank_(std::move(rank)) {
        load_.resize(channels_.size());
        for (const channel& c : channels_)
            if (!is_switch(c.from)) home_[c.from.index] = c.to;
        remaining_.resize(t.switch_ports.size());
        for (unsigned s = 0; s < remaining_.size(); ++s) remaining_[s] = distances_to(s);
        part_ = t.parts();
    }

    bool reaches_all() const {
        for (const auto& [a, from] : home_)
            for (const auto& [b, to] : home_)
                if (is_switch(from) && part_[a] == part_[b] &&
                    remaining_[to.index][state(from.index, false)] == unreachable)
                    return false;
        return true;
    }

    std::vector<std::uint8_t> find(unsigned from, unsigned to) {
        const topology::end& start = home_.at(from);
        if (!is_switch(start) || part_[from] != part_[to]) return {};
        const topology::end& goal = home_.at(to);
        std::vector<std::uint8_t> bytes;
        unsigned port = start.port;
        for (const unsigned c : lightest(start.index, goal.index)) {
            ++load_[c];
            bytes.push_back(route_byte(port, channels_[c].from.port));
            port = channels_[c].to.port;
        }
        bytes.push_back(route_byte(port, goal.port));
        return bytes;
    }

private:
    static unsigned state(unsigned at, bool descending) { return at * 2 + (descending ? 1 : 0); }
    bool climbs(const channel& c) const {
        return std::tuple(rank_[c.to.index], c.to.index) > std::tuple(rank_[c.from.index], c.from.index);
    }

    /// Cables between switches still to cross from each state, on the shortest legal way.
    std::vector<unsigned> distances_to(unsigned goal) const {
        std::vector<unsigned> distance(rank_.size() * 2, unreachable);
        std::vector<unsigned> queue{state(goal, false), state(goal, true)};
        for (const unsigned s : queue) distance[s] = 0;
        for (std::size_t i = 0; i < queue.size(); ++i) {
            const unsigned s = queue[i];
            for (const unsigned back : out_[s / 2]) {
                const channel& c =
                    channels_[back ^ 1];  // the other direction of the same cable: it leads here
                if (!is_switch(c.from)) continue;
                const bool up = climbs(c);
                if (up && s % 2 == 1) continue;
                for (const bool descending : {false, true}) {
                    if (up && descending) continue;
                    if (!up && s % 2 == 0) continue;
                    const unsigned before = state(c.from.index, descending);
                    if (distance[before] != unreachable) continue;
                    distance[before] = distance[s] + 1;
                    queue.push_back(before);
                }
            }
        }
        return distance;
    }

    /// How a state is best reached after some cables.
    struct step {
        std::uint64_t load = ~std::uint64_t{0};
        unsigned over = 0;    ///< the last channel
        unsigned before = 0;  ///< the state that it left
    };

    /// Of the shortest legal ways, the one whose channels carry the fewest routes so far.
    std::vector<unsigned> lightest(unsigned from, unsigned to) const {
        const unsigned cables = remaining_[to][state(from, false)];
        std::vector<std::vector<step>> reached(cables + 1, std::vector<step>(rank_.size() * 2));
        reached[0][state(from, false)].load = 0;
        std::vector<unsigned> front{state(from, false)};
        for (unsigned done = 0; done < cables; ++done) {
            std::vector<unsigned> next;
            for (const unsigned s : front)
                for (const unsigned c : out_[s / 2]) {
                    if (!is_switch(channels_[c].to)) continue;
                    const bool up = climbs(channels_[c]);
                    if (up && s % 2 == 1) continue;
                    const unsigned after = state(channels_[c].to.index, !up);
                    if (remaining_[to][after] != cables - done - 1) continue;
                    step& best = reached[done + 1][after];
                    const std::uint64_t load = reached[done][s].load + load_[c];
                    if (best.load <= load) continue;
                    if (best.load == step{}.load) next.push_back(after);
                    best = {load, c, s};
                }
            front = std::move(next);
        }
        const auto& last = reached[cables];
        unsigned s =
            last[state(to, true)].load < last[state(to, false)].load ? state(to, true) : state(to, false);
        std::vector<unsigned> way(cables);
        for (unsigned i = cables; i > 0; s = reached[i][s].before, --i) way[i - 1] = reached[i][s].over;
        return way;
    }

    std::vector<channel> channels_;
    std::vector<std::vector<unsigned>> out_;
    std::vector<unsigned> rank_;
    std::vector<unsigned> part_;  ///< of each node, then each switch
    std::vector<std::uint64_t> load_;
    std::map<unsigned, topology::end> home_;  ///< where each node's cable ends
    std::vector<std::vector<unsigned>> remaining_;
};

/// The farther from all nodes, the higher: the spines of a Clos are all at the top.
std::vector<unsigned> rank_by_depth(const topology& t) {
    std::set<unsigned> edge;
    for (const channel& c : channels_of(t))
        if (!is_switch(c.from) && is_switch(c.to)) edge.insert(c.to.index);
    return distances(t, channels_of(t), {edge.begin(), edge.end()});
}

/// The nearer to a root, the higher; the root of a part is its most central switch. Every switch can climb to
/// it.
std::vector<unsigned> rank_by_root(const topology& t) {
    const std::vector<unsigned> part = t.parts();
    std::vector<unsigned> rank(t.switch_ports.size());
    std::map<unsigned, unsigned> best;  // how far it is from the root to the farthest, by part
    for (unsigned root = 0; root < t.switch_ports.size(); ++root) {
        const std::vector<unsigned> distance = distances(t, channels_of(t), {root});
        unsigned reach = 0;
        for (const unsigned d : distance)
            if (d != unreachable) reach = std::max(reach, d);
        const auto [at, first] = best.emplace(part[t.nodes + root], reach);
        if (!first && reach >= at->second) continue;
        at->second = reach;
        for (unsigned s = 0; s < rank.size(); ++s)
            if (distance[s] != unreachable) rank[s] = reach - distance[s];
    }
    return rank;
}

}  // namespace

routing::routing(const topology& of) {
    of.check();
    parts_ = of.parts();
    way_finder ways(of, rank_by_depth(of));
    if (!ways.reaches_all()) ways = way_finder(of, rank_by_root(of));
    routes_.resize(of.nodes);
    for (unsigned from = 0; from < of.nodes; ++from)
        for (unsigned to = 0; to < of.nodes; ++to) routes_[from].push_back(ways.find(from, to));
}

void routing::set(unsigned from, unsigned to, std::vector<std::uint8_t> bytes) {
    routes_[from][to] = std::move(bytes);
}

namespace {

/// Walks the channels that route bytes lead over.
class walker {
public:
    explicit walker(const topology& t) : channels_(channels_of(t)) {
        for (unsigned c = 0; c < channels_.size(); ++c) starting_[key(channels_[c].from)] = c;
    }

    /// The channels from a node on; where the bytes lead nowhere the way ends.
    std::vector<unsigned> walk(unsigned from, const std::vector<std::uint8_t>& bytes) const {
        std::vector<unsigned> way{starting_.at(key(topology::node(from)))};
        for (const std::uint8_t byte : bytes) {
            topology::end at = channels_[way.back()].to;
            if (!is_switch(at)) break;
            at.port += static_cast<unsigned>((byte & 0x3F) - ((byte & 0x20) << 1));
            const auto next = starting_.find(key(at));
            if (next == starting_.end()) break;
            way.push_back(next->second);
        }
        return way;
    }

    std::size_t size() const { return channels_.size(); }
    std::string text(unsigned c) const { return text_of(channels_[c].from); }

private:
    static std::tuple<bool, unsigned, unsigned> key(const topology::end& e) {
        return {is_switch(e), e.index, e.port};
    }
    std::vector<channel> channels_;
    std::map<std::tuple<bool, unsigned, unsigned>, unsigned> starting_;
};

/// Depth-first search for a way back to a channel that is still being visited.
class cycle_search {
public:
    explicit cycle_search(std::vector<std::set<unsigned>> waits_for)
        : waits_for_(std::move(waits_for)), mark_(waits_for_.size(), unseen) {}

    std::vector<unsigned> run() {
        for (unsigned c = 0; c < waits_for_.size(); ++c)
            if (mark_[c] == unseen && visit(c)) return {std::ranges::find(path_, path_.back()), path_.end()};
        return {};
    }

private:
    enum mark { unseen, open, done };

    bool visit(unsigned c) {
        mark_[c] = open;
        path_.push_back(c);
        for (const unsigned next : waits_for_[c]) {
            if (mark_[next] == open) {
                path_.push_back(next);
                return true;
            }
            if (mark_[next] == unseen && visit(next)) return true;
        }
        mark_[c] = done;
        path_.pop_back();
        return false;
    }

    std::vector<std::set<unsigned>> waits_for_;
    std::vector<mark> mark_;
    std::vector<unsigned> path_;
};

}  // namespace

std::optional<std::string> find_cycle(const topology& in, const routing& routes) {
    const walker ways(in);
    std::vector<std::set<unsigned>> waits_for(ways.size());
    for (unsigned from = 0; from < routes.nodes(); ++from)
        for (unsigned to = 0; to < routes.nodes(); ++to) {
            const std::vector<unsigned> way = ways.walk(from, routes.route(from, to));
            for (std::size_t i = 1; i < way.size(); ++i) waits_for[way[i - 1]].insert(way[i]);
        }
    const std::vector<unsigned> cycle = cycle_search(std::move(waits_for)).run();
    if (cycle.empty()) return std::nullopt;
    std::string text;
    for (const unsigned c : cycle) text += (text.empty() ? "" : " -> ") + ways.text(c);
    return text;
}

std::optional<unsigned> destination(const topology& in, unsigned from,
                                    const std::vector<std::uint8_t>& bytes) {
    const topology::end last = channels_of(in)[walker(in).walk(from, bytes).back()].to;
    if (is_switch(last)) return std::nullopt;
    return last.index;
}

}  // namespace vinic::link
