// SPDX-License-Identifier: Apache-2.0

// Sending again. The engine counts packets, acknowledgements and time; here is decided what follows when the
// time is over or the peer misses something.
#pragma once

#include "firmware/common/descriptor.h"
#include "firmware/xuni/vi.h"

namespace vinic::xuni {

[[gnu::noinline]] inline void send_again(uint32_t number) {
    if (connected(vis[number])) order(order_send_again, number);
}

// Each acknowledgement that comes gives the connection its tries anew.
[[gnu::noinline]] inline void time_over(uint32_t number, uint32_t oldest) {
    vi& of = vis[number];
    if (!connected(of)) return;
    if (of.oldest != oldest) of.tries = 0;
    of.oldest = oldest;
    if (++of.tries <= hardware::load(RETRANSMIT_LIMIT)) return send_again(number);
    end_connection(number, order_break, abi::vi_status_transport_error);
    order(order_report, number, abi::vi_engine::event_transport_lost, common::vip_error_connection_lost);
}

}  // namespace vinic::xuni
