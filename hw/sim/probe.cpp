// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/probe.h"

#include "hw/sim/simulation.h"

namespace vinic::sim {

probe::probe(const module& owner, const std::string& name, kind of_kind, std::string help)
    : name_(std::string(owner.name()) + "." + name), help_(std::move(help)), kind_(of_kind) {
    number_ = simulation::current().add(*this);
}

probe::~probe() { simulation::current().remove(*this); }

}  // namespace vinic::sim
