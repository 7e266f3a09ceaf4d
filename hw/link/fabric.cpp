// SPDX-License-Identifier: Apache-2.0
#include "hw/link/fabric.h"

#include <algorithm>

#include "hw/sim/error.h"

namespace vinic::link {

fabric::fabric(const sc_core::sc_module_name& name, const topology& of)
    : sim::module(name),
      switching(*this,
                {.name = "switching",
                 .value = "crossbar",
                 .choices = {"crossbar", "ethernet"},
                 .help = "what switches are: source-routed cut-through crossbars, or Ethernet switches"}),
      layout_(of),
      routes_(of),
      attached_(of.nodes) {
    const bool ethernet = switching.get() == "ethernet";
    // Without a loop each connected part is a tree, of one cable less than it has ends and switches.
    const std::vector<unsigned> parts = of.parts();
    const std::size_t trees = 1 + *std::ranges::max_element(parts);
    if (ethernet && of.cables.size() + trees != of.nodes + of.switch_ports.size())
        throw sim::input_error("{}: {} cables between {} cards and {} Ethernet switches make a loop",
                               this->name(), of.cables.size(), of.nodes, of.switch_ports.size());
    for (unsigned i = 0; i < of.switch_ports.size(); ++i) {
        const std::string is = "switch" + std::to_string(i);
        if (ethernet) {
            ethernet_switches_.push_back(std::make_unique<ethernet_switch>(is.c_str(), of.switch_ports[i]));
            continue;
        }
        switches_.push_back(std::make_unique<crossbar_switch>(is.c_str(), of.switch_ports[i]));
        switches_.back()->explain = [this] { return waiting(); };
    }
    for (unsigned i = 0; i < of.cables.size(); ++i) {
        cables_.push_back(std::make_unique<cable>(("cable" + std::to_string(i)).c_str()));
        cable& between = *cables_.back();
        plug(of.cables[i].a, of.cables[i].b, between.from_a, between.to_a);
        plug(of.cables[i].b, of.cables[i].a, between.from_b, between.to_b);
    }
}

/// One end of a cable: into a switch now, into a card when it is attached.
void fabric::plug(const topology::end& here, const topology::end& there, target_socket& from,
                  initiator_socket& to) {
    if (here.at == topology::end::kind::node) {
        attached_[here.index] = {&from, &to};
        return;
    }
    if (!ethernet_switches_.empty()) {
        ethernet_switch& at = *ethernet_switches_[here.index];
        at.out(here.port).bind(from);
        to.bind(at.in(here.port));
        return;
    }
    crossbar_switch& at = *switches_[here.index];
    at.out[here.port]->bind(from);
    to.bind(*at.in[here.port]);
    at.name_peer(here.port, there.at == topology::end::kind::node
                                ? layout_.name_of(there.index)
                                : fmt::format("{} port {}", switches_[there.index]->basename(), there.port));
}

void fabric::attach(unsigned node, initiator_socket& out, target_socket& in) {
    if (node >= attached_.size())
        throw sim::input_error("{}: there is no node {}, only 0 to {}", name(), node, attached_.size() - 1);
    out.bind(*attached_[node].from);
    attached_[node].to->bind(in);
}

picoseconds fabric::byte_time() const {
    picoseconds slowest = 0;
    for (const auto& one : cables_) slowest = std::max(slowest, one->byte_ps.get());
    return slowest;
}

std::vector<std::string> fabric::waiting() const {
    std::vector<std::string> all;
    for (const auto& s : switches_)
        for (std::string& line : s->waiting()) all.push_back(std::move(line));
    return all;
}

}  // namespace vinic::link
