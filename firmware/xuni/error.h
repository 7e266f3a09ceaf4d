// SPDX-License-Identifier: Apache-2.0

// What follows on an error: whether the connection ends, what the peer is told, what the kernel agent is told
// (facts vipl.md 6.2).
#pragma once

#include "firmware/common/descriptor.h"
#include "firmware/xuni/vi.h"

namespace vinic::xuni {

enum class ends : uint32_t { never, if_connected, if_reliable, always };

struct reaction {
    ends connection;
    control_order how;
    uint32_t status;  // operand of that order
    uint32_t event;   // event_kind of vi_engine_card.h, and its argument
    uint32_t argument;
};

inline constexpr uint32_t first_error = event_write_aborted;

inline constexpr reaction reactions[] = {
    // event_write_aborted
    {ends::never, order_break, 0, abi::vi_engine::event_error, common::vip_error_rdma_write_abort},
    // event_overrun
    {ends::if_connected, order_break, 0, abi::vi_engine::event_error, common::vip_error_vi_overrun},
    // event_send_failed
    {ends::always, order_break, 0, abi::vi_engine::event_vi_error, 0},
    // event_peer_refused: of reliable delivery, whose descriptors may have completed before
    {ends::always, order_break, 0, abi::vi_engine::event_error, common::vip_error_connection_lost},
    // event_receive_failed
    {ends::always, order_refuse, abi::vi_status_remote_descriptor_error, abi::vi_engine::event_vi_error, 0},
    // event_write_failed
    {ends::always, order_refuse, abi::vi_status_rdma_protection_error, abi::vi_engine::event_vi_error, 0},
    // event_queue_empty
    {ends::if_reliable, order_refuse, abi::vi_status_remote_descriptor_error, abi::vi_engine::event_error,
     common::vip_error_receive_queue_empty},
    // event_write_refused
    {ends::if_reliable, order_refuse, abi::vi_status_rdma_protection_error, abi::vi_engine::event_error,
     common::vip_error_rdma_write_protection}};
static_assert(sizeof reactions / sizeof(reaction) == event_write_refused - first_error + 1);

inline bool ends_connection(const vi& of, ends when) {
    if (when == ends::if_connected) return connected(of);
    return when == ends::always || (when == ends::if_reliable && reliable(of));
}

// A connection that a command has ended in the meantime is nobody's business any more.
[[gnu::noinline]] inline void react(uint32_t number, const reaction& to) {
    const vi& of = vis[number];
    if (of.state == abi::vi_engine::vi_unused) return;
    if (ends_connection(of, to.connection)) {
        if (!connected(of)) return;
        end_connection(number, to.how, to.status);
    }
    order(order_report, number, to.event, to.argument);
}

// At reliable reception the descriptor says why.
[[gnu::noinline]] inline void error(uint32_t number, uint32_t event, uint32_t status) {
    if (event != event_peer_refused || vis[number].reliability != abi::vi_reliable_reception)
        return react(number, reactions[event - first_error]);
    react(number,
          {ends::always, order_break, status & abi::vi_status_error_mask, abi::vi_engine::event_vi_error, 0});
}

}  // namespace vinic::xuni
