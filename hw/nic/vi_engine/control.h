// SPDX-License-Identifier: Apache-2.0
// What is not on a message's way: the driver's commands on VIs and connections, errors, sending again. The
// machines of the data path meet it and ask who stands behind this: machines (control_machines.h), or
// firmware on an embedded core (control_core.h).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>

#include "firmware/abi/vi_engine_card.h"
#include "firmware/abi/xuni_control.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/vi_context.h"

namespace vinic::nic {

/// A command of the driver.
struct card_command {
    std::uint32_t op = 0;
    std::array<std::uint32_t, abi::vi_engine::argument_words> arguments{};

    template <typename T>
    T as() const {
        T made;
        std::memcpy(&made, arguments.data(), sizeof made);
        return made;
    }
};

/// Tells who decides that something came about at a VI. The VI may have left its connection afterwards.
using incident_sink =
    std::function<void(vi_context& of, abi::xuni::control_event what, std::uint32_t argument)>;

class control {
public:
    virtual ~control() = default;
    virtual void raise(vi_context& of, abi::xuni::control_event what, std::uint32_t argument) = 0;
    /// A command on a VI, or send_control; gives what it answers.
    virtual step<std::uint32_t> command(const card_command& what) = 0;

    void set_retransmit_limit(std::uint32_t tries) { retransmit_limit_ = tries; }

protected:
    std::uint32_t retransmit_limit_ = 32;  ///< until the driver says
};

}  // namespace vinic::nic
