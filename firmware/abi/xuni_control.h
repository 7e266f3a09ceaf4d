// SPDX-License-Identifier: Apache-2.0

// Contract between a VI engine (hw/nic/vi_engine) and the firmware on its embedded LANai core, which decides
// what is not on a message's way: commands on VIs and connections, errors, sending again. The engine reports
// by events, one after the other; the core answers by orders, which are done in the order in which they were
// stored. Facts: calibration.md, row XUNI, says that there is such a core; the layout is ours.
#pragma once

#include <stdint.h>

#include "firmware/abi/vi_engine_card.h"

namespace vinic::abi::xuni {

// The symbol of an image for such a core: a word of its own, big-endian, the version of this contract.
inline constexpr char interface_symbol[] = "control_interface";
inline constexpr uint32_t interface_version = 1;

// Registers, words, beside the special registers (lanai_registers.h). One instruction reaches each (facts
// A12).
inline constexpr uint32_t register_base = 0xFFFFF000;

enum control_register : uint32_t {
    EVENT = 0x00,           // control_event of the oldest event; 0: there is none
    EVENT_VI = 0x04,        // and its VI
    EVENT_ARGUMENT = 0x08,  // and what is said with it
    EVENT_TAKEN = 0x0C,     // stored: the oldest event is dropped
    ORDER_VI = 0x10,        // operands of the next order: they keep their values
    ORDER_ARGUMENT = 0x14,
    ORDER_ARGUMENT2 = 0x18,
    ORDER = 0x1C,             // stored: a control_order
    ORDER_ROOM = 0x20,        // orders for which there is room; one that finds none is lost
    RETRANSMIT_LIMIT = 0x24,  // as the driver gave it
    QUEUE = 0x28,   // stored: number of a completion queue; loaded: the entries of that queue, 0: it is none
    COMMAND = 0x80  // 32 words: the arguments of the driver's command, from its event to order_done
};
inline constexpr uint32_t register_bytes = COMMAND + 4 * vi_engine::argument_words;

enum control_event : uint32_t {
    event_none = 0,
    event_command = 1,  // argument: command_op; only those on VIs, and send_control
    event_settled = 2,  // what order_settle waited for has come
    // The connection goes on:
    event_time_over = 3,      // nothing was acknowledged for retransmit_ns; argument: the oldest packet
    event_asked_again = 4,    // the peer misses packets
    event_write_aborted = 5,  // packets of an RDMA write were lost
    // A connected VI stands still until an order ends its connection:
    event_overrun = 6,         // its program rang for more descriptors than the ring holds
    event_send_failed = 7,     // a send descriptor has completed with its error
    event_peer_refused = 8,    // argument: status bits
    event_receive_failed = 9,  // a receive descriptor has completed with its error
    event_write_failed = 10,   // the same, of an RDMA write with immediate data
    // The same if it is reliable; else it goes on:
    event_queue_empty = 11,   // there is no receive descriptor
    event_write_refused = 12  // an RDMA write without immediate data that is not allowed
};

// Orders on a VI are without effect where its state has changed in between.
enum control_order : uint32_t {
    // With what stands in COMMAND, which the firmware has checked:
    order_create = 1,        // the VI is idle, with queues
    order_set = 2,           // attributes
    order_connect = 3,       // the VI is connected
    order_send_control = 4,  // a packet for the peer's kernel agent
    order_done = 5,          // the command is done; argument: command_error
    // With operands:
    order_leave = 6,       // argument: vi_state; the connection ends, both queues are flushed
    order_stop = 7,        // the same without the flush
    order_settle = 8,      // argument: settle_bit; event_settled follows
    order_send_again = 9,  // all that is not acknowledged
    order_break = 10,   // VI in error state, both queues flushed; argument: unless 0, status bits with which
                        // the oldest send descriptor completes
    order_refuse = 11,  // VI in error state, both queues flushed; argument: status bits for the peer
    order_report = 12   // an event for the kernel agent: argument event_kind, argument2 its argument
};

enum settle_bit : uint32_t {
    settle_flushed = 1,  // both queues of the VI
    settle_fetched = 2,  // no descriptor of the VI is on its way
    settle_written = 4   // what was decided before, for any VI, is in host memory
};

}  // namespace vinic::abi::xuni
