// SPDX-License-Identifier: Apache-2.0
#include "hw/link/switch.h"

#include <algorithm>
#include <utility>

#include "hw/link/inbox.h"
#include "hw/sim/error.h"

namespace vinic::link {

namespace {
constexpr unsigned nobody = ~0u;
}

/// The packet at the front of an input: its route byte is being looked at, it waits for an output, it is on
/// its way, or it is thrown away.
struct crossbar_switch::input : receiver::host {
    enum class stage { empty, routing, waiting, crossing, sinking };

    input(crossbar_switch& s, unsigned i) : of(s), index(i), half(s, s.slack, *this) {}

    void signal(phase what, picoseconds delay) override {
        transfer message;
        sc_core::sc_time t = sim::to_sc_time(delay);
        (*of.in[index])->nb_transport_bw(message, what, t);
    }
    void arrival_appended(const run& characters) override;
    void arrival_cut(std::uint64_t from) override;
    bool newest_is_front() const { return half.newest().base == half.front().base; }

    crossbar_switch& of;
    unsigned index;
    receiver half;
    inbox messages;
    stage at = stage::empty;
    unsigned target = nobody;
    picoseconds since = 0;  ///< when its route was known
};

struct crossbar_switch::output : transmitter::host {
    output(crossbar_switch& s, unsigned i) : of(s), index(i), half(*this) {}

    void announce(transfer& message, phase what, picoseconds delay) override {
        sc_core::sc_time t = sim::to_sc_time(delay);
        (*of.out[index])->nb_transport_fw(message, what, t);
    }
    void emission_appended(const run& characters) override {
        of.inputs_[source]->half.taking_appended(
            {characters.first + ahead, characters.count, characters.at, characters.period});
    }
    void emission_cut(std::uint64_t from) override { of.inputs_[source]->half.taking_cut(from + ahead); }

    /// The characters of the crossing packet as this output numbers them.
    run renumbered(const run& arriving) const {
        return {arriving.first - ahead, arriving.count, arriving.at, arriving.period};
    }
    bool alive() const { return half.cable().byte_ps != 0; }

    crossbar_switch& of;
    unsigned index;
    transmitter half;
    inbox messages;
    unsigned source = nobody;  ///< the input whose packet holds this output
    unsigned last_source = nobody;
    picoseconds granted = 0;
    std::uint64_t ahead = 0;  ///< number of a character at the input minus its number here
    std::vector<bool> requests;
};

void crossbar_switch::input::arrival_appended(const run& characters) {
    if (at == stage::sinking && newest_is_front()) half.taking_follow(characters, sim::now(), 0);
    if (at != stage::crossing || !newest_is_front()) return;
    output& to = *of.outputs_[target];
    if (half.front().length) to.half.close(half.front().length - 1, sim::now());
    to.half.available(to.renumbered(characters), sim::now());
}

void crossbar_switch::input::arrival_cut(std::uint64_t from) {
    if (at == stage::sinking && newest_is_front()) half.taking_cut(from);
    if (at != stage::crossing || !newest_is_front()) return;
    output& to = *of.outputs_[target];
    to.half.retract(from - to.ahead, sim::now());
}

crossbar_switch::crossbar_switch(const sc_core::sc_module_name& name, unsigned ports)
    : sim::module(name, "switch"),
      slack(*this),
      routing_ps(*this, {.name = "routing_ps",
                         .unit = "ps",
                         .value = 150'000,
                         .min = 0,
                         .max = 10'000'000,
                         .help = "from the arrival of a route byte to the request for its output",
                         .source = "facts/lanai_pcix.md B6"}),
      arbitration(*this, {.name = "arbitration",
                          .value = "round_robin",
                          .choices = {"round_robin", "fixed"},
                          .help = "who gets an output that several inputs wait for; fixed: the lowest port"}),
      nres_ps(*this, {.name = "nres_ps",
                      .unit = "ps",
                      .value = 62'500'000'000,
                      .min = 0,
                      .max = 10'000'000'000'000,
                      .help = "a packet blocked for so long means a wedged network; 0: never",
                      .source = "facts/lanai_pcix.md B6"}),
      packets(*this, "packets", "packets that crossed"),
      illegal_routes(*this, "illegal_routes",
                     "packets dropped: no route byte, or to a port that is not there"),
      dead_ports(*this, "dead_ports", "packets dropped: no cable at the output"),
      output_wait(*this, "output_wait", "from a request for an output to its grant"),
      peers_(ports, "an unnamed end"),
      agenda_(kinds, ports, [this] { act(); }) {
    endpoint& self = *this;
    for (unsigned i = 0; i < ports; ++i) {
        in.push_back(std::make_unique<target_socket>(("in" + std::to_string(i)).c_str()));
        out.push_back(std::make_unique<initiator_socket>(("out" + std::to_string(i)).c_str()));
        forward_adapters_.push_back(std::make_unique<forward_adapter>(self, i));
        backward_adapters_.push_back(std::make_unique<backward_adapter>(self, i));
        in[i]->bind(*forward_adapters_[i]);
        out[i]->bind(*backward_adapters_[i]);
        inputs_.push_back(std::make_unique<input>(*this, i));
        outputs_.push_back(std::make_unique<output>(*this, i));
        outputs_[i]->requests.resize(ports);
        crossing.push_back(std::make_unique<sim::span_probe>(*this, "out" + std::to_string(i),
                                                             "a packet, from its grant to its GAP"));
    }
}

crossbar_switch::~crossbar_switch() = default;

std::uint64_t crossbar_switch::highest_slack(unsigned port) const { return inputs_[port]->half.highest(); }
std::uint64_t crossbar_switch::slack_size(unsigned port) const { return inputs_[port]->half.capacity(); }

void crossbar_switch::forward(unsigned port, transfer& message, phase what, picoseconds delay) {
    input& at = *inputs_[port];
    if (what == phase::connect) return at.half.connect(message.cable);
    if (what == phase::tail) return;
    at.messages.put(sim::now() + delay, what, message);
    agenda_.set(arrival, port, at.messages.due());
}

void crossbar_switch::backward(unsigned port, transfer& message, phase what, picoseconds delay) {
    output& at = *outputs_[port];
    if (what == phase::connect) return at.half.connect(message.cable);
    at.messages.put(sim::now() + delay, what, message);
    agenda_.set(control, port, at.messages.due());
}

void crossbar_switch::act() {
    while (const auto item = agenda_.next()) perform(item->kind, item->port);
}

void crossbar_switch::perform(unsigned what, unsigned port) {
    switch (what) {
        case control:
            return do_control(port);
        case arrival:
            return do_arrival(port);
        case routed:
            return do_route(port);
        case tail:
            return do_tail(port);
        case sunk:
            return finish(port);
        case grant:
            return do_grant(port);
        case launch:
            outputs_[port]->half.launch(sim::now());
            return refresh_output(port);
        case level:
            inputs_[port]->half.level(sim::now());
            return refresh_input(port);
        default:
            wedged();
    }
}

void crossbar_switch::do_control(unsigned port) {
    output& at = *outputs_[port];
    if (at.messages.take().what == phase::stop)
        at.half.stop(sim::now());
    else
        at.half.go(sim::now());
    agenda_.set(control, port, at.messages.due());
    refresh_output(port);
    if (at.source != nobody) refresh_input(at.source);
}

void crossbar_switch::do_arrival(unsigned port) {
    input& at = *inputs_[port];
    const inbox::entry e = at.messages.take();
    agenda_.set(arrival, port, at.messages.due());
    at.half.accept(e.message, e.what);
    if (at.at == input::stage::empty) start_routing(port);
    if (at.at == input::stage::crossing) refresh_output(at.target);
    refresh_input(port);
}

/// The delay is that of a pipeline: it counts from the arrival of the route byte, also when the packet stands
/// behind another until later.
void crossbar_switch::start_routing(unsigned port) {
    input& at = *inputs_[port];
    at.at = input::stage::routing;
    const picoseconds arrived = at.half.arrival().time_of(at.half.front().base);
    const picoseconds delay = at.half.cable().free ? 0 : routing_ps.get();
    agenda_.set(routed, port, std::max(sim::now(), arrived + delay));
}

/// Facts B6: bit 7 set, the low six bits a signed distance from the input port.
void crossbar_switch::do_route(unsigned port) {
    input& at = *inputs_[port];
    const receiver::held& front = at.half.front();
    const std::uint8_t byte = front.what->bytes()[front.first_byte];
    const int distance = (byte & 0x3F) - ((byte & 0x20) << 1);
    const int target = static_cast<int>(port) + distance;
    at.half.taking_appended({front.base, 1, sim::now(), 0});
    if ((byte & 0xC0) != 0x80 || target < 0 || target >= static_cast<int>(ports())) {
        illegal_routes.add();
        sink(port);
    } else if (!outputs_[static_cast<unsigned>(target)]->alive()) {
        dead_ports.add();
        sink(port);
    } else {
        at.at = input::stage::waiting;
        at.target = static_cast<unsigned>(target);
        at.since = sim::now();
        outputs_[at.target]->requests[port] = true;
        ask_for_grant(at.target);
    }
    refresh_input(port);
}

void crossbar_switch::sink(unsigned port) {
    input& at = *inputs_[port];
    at.at = input::stage::sinking;
    const receiver::held& front = at.half.front();
    const std::uint64_t end = front.length ? front.base + front.length : never;
    at.half.arrival().for_each(front.base + 1, end,
                               [&](const run& r) { at.half.taking_follow(r, sim::now(), 0); });
}

/// The packet at the front of an input is gone.
void crossbar_switch::finish(unsigned port) {
    input& at = *inputs_[port];
    at.half.pop();
    at.at = input::stage::empty;
    if (!at.half.empty()) start_routing(port);
    refresh_input(port);
}

void crossbar_switch::ask_for_grant(unsigned port) {
    const output& at = *outputs_[port];
    if (at.source != nobody || std::ranges::find(at.requests, true) == at.requests.end()) return;
    agenda_.set(grant, port, std::max(sim::now(), at.half.free_from()));
}

unsigned crossbar_switch::choose(const output& among) const {
    const bool fair = arbitration.get() == "round_robin" && among.last_source != nobody;
    unsigned candidate = fair ? among.last_source + 1 : 0;
    while (!among.requests[candidate % ports()]) ++candidate;
    return candidate % ports();
}

void crossbar_switch::do_grant(unsigned port) {
    output& to = *outputs_[port];
    const unsigned winner = choose(to);
    input& from = *inputs_[winner];
    to.requests[winner] = false;
    to.source = to.last_source = winner;
    to.granted = sim::now();
    from.at = input::stage::crossing;
    output_wait.add(sim::now() - from.since);

    const receiver::held& front = from.half.front();
    to.ahead = front.base + 1 - to.half.next_character();
    to.half.begin(front.what, front.first_byte + 1, front.hop + 1);
    if (front.length) to.half.close(front.length - 1, sim::now());
    const std::uint64_t end = front.length ? front.base + front.length : never;
    from.half.arrival().for_each(front.base + 1, end,
                                 [&](const run& r) { to.half.available(to.renumbered(r), sim::now()); });
    refresh_output(port);
    refresh_input(winner);
}

void crossbar_switch::do_tail(unsigned port) {
    output& at = *outputs_[port];
    const unsigned source = std::exchange(at.source, nobody);
    at.half.tail();
    packets.add();
    crossing[port]->report(at.granted, sim::now(), "packet", {{"from", source}});
    finish(source);
    ask_for_grant(port);
    refresh_output(port);
}

void crossbar_switch::refresh_input(unsigned port) {
    input& at = *inputs_[port];
    agenda_.set(level, port, at.half.level_due(sim::now()));
    picoseconds gone = never;
    if (at.at == input::stage::sinking && at.half.front().length)
        gone = at.half.taking().time_of(at.half.front().base + at.half.front().length - 1);
    agenda_.set(sunk, port, gone == never ? never : std::max(gone, sim::now()));
    watch_blocked(nres_in, port, at.at == input::stage::waiting);
}

void crossbar_switch::refresh_output(unsigned port) {
    output& at = *outputs_[port];
    agenda_.set(launch, port, at.half.launch_due());
    agenda_.set(tail, port, at.half.tail_due());
    watch_blocked(nres_out, port, at.half.held());
}

void crossbar_switch::watch_blocked(unsigned what, unsigned port, bool blocked) {
    if (!blocked || nres_ps == 0)
        agenda_.set(what, port, never);
    else if (agenda_.due(what, port) == never)
        agenda_.set(what, port, sim::now() + nres_ps);
}

void crossbar_switch::wedged() {
    std::string text = fmt::format("wedged network: a packet has been blocked for {} ps", nres_ps.get());
    for (const std::string& line : explain ? explain() : waiting()) text += "\n  " + line;
    throw sim::model_error(name(), text);
}

std::vector<std::string> crossbar_switch::waiting() const {
    std::vector<std::string> lines;
    for (const auto& i : inputs_) {
        if (i->at != input::stage::waiting) continue;
        const unsigned holder = outputs_[i->target]->source;
        lines.push_back(fmt::format(
            "{}: the packet at port {} from {} waits for port {} to {}{}", name(), i->index, peers_[i->index],
            i->target, peers_[i->target],
            holder == nobody ? std::string() : fmt::format(", held by the one at port {}", holder)));
    }
    for (const auto& o : outputs_) {
        if (o->half.starved(sim::now()))
            lines.push_back(
                fmt::format("{}: the packet from port {} at port {} waits for the rest of it from {}", name(),
                            o->source, o->index, peers_[o->source]));
        else if (o->half.held())
            lines.push_back(fmt::format("{}: the packet from port {} at port {} is stopped by {}", name(),
                                        o->source, o->index, peers_[o->index]));
    }
    return lines;
}

}  // namespace vinic::link
