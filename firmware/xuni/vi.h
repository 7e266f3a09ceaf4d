// SPDX-License-Identifier: Apache-2.0

// What the firmware knows of each VI.
#pragma once

#include "firmware/abi/vi_descriptor.h"
#include "firmware/xuni/hardware.h"

namespace vinic::xuni {

using abi::vi_engine::max_vis;

// A power of two in size: indexing is a shift.
struct vi {
    uint32_t state;  // as of the last order; the engine may have stopped a connected VI, and says so
    uint32_t reliability;
    uint32_t tries;   // to send again from `oldest` on
    uint32_t oldest;  // packet that was not acknowledged when the time was over last
};
static_assert(sizeof(vi) == 16);

inline vi vis[max_vis];

inline bool reliable(const vi& of) { return of.reliability != abi::vi_unreliable; }
inline bool connected(const vi& of) { return of.state == abi::vi_engine::vi_connected; }

// The connection is over; `how` is order_break or order_refuse.
inline void end_connection(uint32_t number, control_order how, uint32_t status) {
    vis[number].state = abi::vi_engine::vi_error;
    order(how, number, status);
}

}  // namespace vinic::xuni
