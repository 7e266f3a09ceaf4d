// SPDX-License-Identifier: Apache-2.0
#include "hw/host/interrupt_line.h"

#include <utility>

namespace vinic::host {

interrupt_line::interrupt_line(const sc_core::sc_module_name& name, std::function<void(bool)> on_level)
    : sim::module(name),
      level_probe(*this, "level", 1, "1 while a card asserts INTA#"),
      on_level_(std::move(on_level)) {}

unsigned interrupt_line::attach() {
    driven_.push_back(false);
    return static_cast<unsigned>(driven_.size() - 1);
}

void interrupt_line::set(unsigned card, bool level) {
    if (driven_.at(card) == level) return;
    const bool before = asserted();
    driven_[card] = level;
    drivers_ += level ? 1u : -1u;
    if (asserted() == before) return;
    level_probe.set(asserted());
    on_level_(asserted());
}

}  // namespace vinic::host
