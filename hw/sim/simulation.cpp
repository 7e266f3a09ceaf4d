// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/simulation.h"

#include <stdexcept>

#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"

namespace vinic::sim {

namespace {

simulation* current_simulation = nullptr;
std::unique_ptr<calendar> current_calendar;

template <typename T>
void enter(std::map<std::string, T*>& where, T& what) {
    if (!where.emplace(what.name(), &what).second) throw std::logic_error("two of the name " + what.name());
}

}  // namespace

simulation::simulation(configuration config, std::uint64_t seed)
    : kernel_(std::make_unique<sc_core::sc_simcontext>()),
      outer_kernel_(sc_core::sc_curr_simcontext),
      config_(std::move(config)),
      seed_(seed) {
    if (current_simulation) throw std::logic_error("one simulation at a time");
    current_simulation = this;
    sc_core::sc_curr_simcontext = kernel_.get();
    current_calendar = std::make_unique<calendar>();
}

simulation::~simulation() {
    current_calendar.reset();
    sc_core::sc_curr_simcontext = outer_kernel_;
    current_simulation = nullptr;
}

simulation& simulation::current() {
    if (!current_simulation) throw std::logic_error("no simulation");
    return *current_simulation;
}

calendar& calendar::current() {
    if (!current_calendar) throw std::logic_error("no simulation");
    return *current_calendar;
}

void simulation::add(statistic& what) { enter(statistics_, what); }
void simulation::remove(statistic& what) { statistics_.erase(what.name()); }
std::uint32_t simulation::add(probe& what) {
    enter(probes_, what);
    return probes_made_++;
}
void simulation::remove(probe& what) { probes_.erase(what.name()); }

}  // namespace vinic::sim

/// SystemC's library refers to it; vinic's programs have a main of their own and start the kernel themselves.
int sc_main(int, char*[]) { return 0; }
