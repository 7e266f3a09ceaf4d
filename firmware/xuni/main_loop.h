// SPDX-License-Identifier: Apache-2.0

// The main loop: one event after the other. It only loads while there is none, so that the simulator can skip
// its turns exactly.
#pragma once

#include "firmware/xuni/command.h"
#include "firmware/xuni/error.h"
#include "firmware/xuni/retransmission.h"

namespace vinic::xuni {

inline void take(uint32_t event) {
    const uint32_t number = hardware::load(EVENT_VI), argument = hardware::load(EVENT_ARGUMENT);
    hardware::store(EVENT_TAKEN, 1);
    if (event >= first_error) return error(number, event, argument);
    switch (event) {
        case event_command:
            return command(argument);
        case event_settled:
            return settled(number);
        case event_time_over:
            return time_over(number, argument);
        default:
            return send_again(number);
    }
}

// One event, if there is one.
[[gnu::always_inline]] inline void poll() {
    const uint32_t event = hardware::load(EVENT);
    if (event != event_none) take(event);
}

}  // namespace vinic::xuni
