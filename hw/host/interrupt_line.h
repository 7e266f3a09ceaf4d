// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hw/sim/module.h"
#include "hw/sim/probe.h"

namespace vinic::host {

/// INTA#: level-triggered and shared, so it is asserted while any card drives it.
class interrupt_line : public sim::module {
public:
    sim::value_probe level_probe;

    /// `on_level` hears each change of the line.
    interrupt_line(const sc_core::sc_module_name& name, std::function<void(bool)> on_level);

    /// A card that can drive the line; the number is its handle.
    unsigned attach();
    void set(unsigned card, bool asserted);
    bool asserted() const { return drivers_ != 0; }

private:
    std::function<void(bool)> on_level_;
    std::vector<bool> driven_;
    unsigned drivers_ = 0;
};

}  // namespace vinic::host
