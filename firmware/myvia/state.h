// SPDX-License-Identifier: Apache-2.0

// States of a VI: entering the error state, leaving a connection, flushing both queues in order.
#pragma once

#include "firmware/myvia/completion.h"
#include "firmware/myvia/descriptor.h"

namespace vinic::myvia {

// Gives up the packet under construction. Its payload may still be on its way into the buffer, so the buffer
// goes the way of all packets, void.
inline void abandon_packet(vi& of) {
    packet* abandoned = of.building;
    if (abandoned == nullptr) return;
    of.building = nullptr;
    abandoned->epoch = void_epoch;
    abandoned->ready_at = payload_reads.head;
    wire_queue.push(abandoned);
    work |= work_wire;
}

// The VI leaves the connected state; what it has begun is void.
inline void stop_connection(vi& of, uint32_t state) {
    of.state = state;
    of.bell = no_process;
    of.epoch = ++epochs;
    on_deck = nullptr;  // it may be void now: looked at again when the engine is done
    abandon_packet(of);
    of.obstacles = obstacle_disconnected;
    of.sending.error = 0;
    of.receiving.kind = message_refused;
    of.acknowledgements = of.urgent = 0;
}

// The same, and what is posted will be flushed.
inline void leave_connection(vi& of, uint32_t state) {
    stop_connection(of, state);
    flush(of, flush_sends | flush_receives);
}

inline void enter_error(vi& of) { leave_connection(of, abi::myvia::vi_error); }

inline bool flush_queue(vi& of, work_queue& queue, bool receives) {
    while (queue.completed != queue.posted) {
        if (writes.space() <= 8) return false;
        complete_flushed(of, queue, receives);
    }
    queue.next = queue.fetched = queue.completed;
    queue.wanted = 0;
    if (receives)
        for (receive_target& target : of.receive_targets) target.bytes = 0;
    return true;
}

// Flushes as far as there is room. Waits until nothing reads the buffers of flushed sends any more.
inline void run_flush() {
    vi* last = flushing_vis.tail;
    while (flushing_vis.head != nullptr) {
        vi& of = *flushing_vis.pop();
        if (payload_reads.passed(of.flush_after) &&
            ((of.flushing & flush_sends) == 0 || flush_queue(of, of.send, false)) &&
            ((of.flushing & flush_receives) == 0 || flush_queue(of, of.receive, true))) {
            of.flushing = 0;
        } else {
            flushing_vis.push(&of);
            work |= work_flush | work_writes;
        }
        if (&of == last) return;
    }
}

}  // namespace vinic::myvia
