// SPDX-License-Identifier: Apache-2.0

// Contract between a hardwired VI card (hw/nic/vi_engine) and the host: BAR 0, commands, rings and tables in
// host memory. The card is little-endian, as the programs on its hosts are; what is on the wire is not
// (wire_format.h). Sources: calibration.md, rows cLAN, HVIA-GE, XUNI (doorbell, translation and completion in
// hardware); the layout is ours.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/abi/vi_descriptor.h"

namespace vinic::abi::vi_engine {

inline constexpr uint16_t vendor_id = 0x5649;
inline constexpr uint16_t device_id = 0x0001;

// --- BAR 0
inline constexpr uint32_t bar_bytes = 0x1000000;
inline constexpr uint32_t registers = 0x000000;    // card_register
inline constexpr uint32_t vi_pages = 0x100000;     // a doorbell page for each VI
inline constexpr uint32_t queue_pages = 0x500000;  // a doorbell page for each completion queue
inline constexpr uint32_t core_memory = 0x600000;  // of an embedded core: bytes as the core sees them
inline constexpr uint32_t core_memory_end = 0x800000;
inline constexpr uint32_t page_table = 0x800000;       // cards with the translation table in their own memory
inline constexpr uint32_t page_table_end = bar_bytes;  // reads as ones

inline constexpr uint32_t doorbell_page_bytes = 4096;
inline constexpr uint32_t max_vis = 1024;
inline constexpr uint32_t max_queues = 256;
inline constexpr uint32_t max_regions = 4096;
inline constexpr uint32_t max_processes = 16;
inline constexpr uint32_t max_segments = 252;
inline constexpr uint32_t max_transfer_bytes = 65536;
static_assert(vi_pages + max_vis * doorbell_page_bytes <= queue_pages);
static_assert(queue_pages + max_queues * doorbell_page_bytes <= core_memory);
static_assert(core_memory_end <= page_table);

// A doorbell page is mapped into the one process that owns the VI or the queue: its address says whose
// doorbell rings. Words in it; the rest is without effect.
enum vi_doorbell : uint32_t {
    doorbell_send = 0x00,         // slots posted to that ring so far (free running)
    doorbell_receive = 0x04,      // the same
    doorbell_arm_send = 0x08,     // raise event_completion when a descriptor beyond this count completes
    doorbell_arm_receive = 0x0C,  // the same
    doorbell_bytes = 0x10
};
inline constexpr uint32_t doorbell_arm_queue = 0x00;  // of a completion queue's page

enum card_register : uint32_t {
    identity = 0x00,           // device_id << 16 | vendor_id
    limits_pages = 0x04,       // entries of the translation table, if it is in the card's memory; else 0
    limits_packet = 0x08,      // bytes of payload in a packet
    core_memory_bytes = 0x0C,  // of the embedded core; 0: the card has none
    table_high = 0x10,         // translation table in host memory, for cards that have none of their own
    table_low = 0x14,
    table_entries = 0x18,
    event_ring_high = 0x20,  // event_entry, written in order
    event_ring_low = 0x24,
    event_entries = 0x28,
    event_taken = 0x2C,       // by the driver: events consumed so far (free running)
    retransmit_ns = 0x30,     // time without acknowledgement before sending again
    retransmit_limit = 0x34,  // tries without progress before the connection is lost
    core_run = 0x3C,          // 1: the embedded core runs, from address 0; 0: it is in reset
    interrupt = 0x38,         // 1: an event stands in the ring; written 1: cleared
    command = 0x40,           // command_op: starts the command in `arguments`
    commands_done = 0x44,     // commands done so far (free running)
    command_status = 0x48,    // 0 or a command_error, of the last command
    arguments = 0x80          // 32 words
};
inline constexpr uint32_t argument_words = 32;
inline constexpr uint32_t register_bytes = arguments + 4 * argument_words;

// An entry of the translation table: physical address of the 4 KiB frame. A region's pages are consecutive.
struct page_entry {
    uint32_t frame_low;
    uint32_t frame_high;
};

// --- Rings in host memory
// Work queue: physically contiguous ring of slots: the first 64 bytes of the program's descriptors. `next`
// and `next_handle` are not the program's: they say where its own descriptor lies, where the card reads
// segments 2 and up. On completion the card writes the last words of the control segment: length and status,
// before them the immediate data if some came. A flushed slot gets its status word only.
struct slot {
    vi_control_segment control;
    vi_data_segment segments[2];
};
inline constexpr uint32_t slot_bytes = 64;
inline constexpr uint32_t slot_segments = 2;
static_assert(sizeof(slot) == slot_bytes);

// Completion queue: ring of entries, written in order; `valid` is the pass (1, 2, 1, 2, ...) so that nothing
// need be cleared.
struct completion_entry {
    uint32_t vi_and_queue;  // VI index, bit 31: receive queue
    uint32_t valid;
};
inline constexpr uint32_t completion_receive = 1u << 31;

// Event queue of the kernel agent: written in order, then `interrupt` is set.
struct event_entry {
    uint16_t kind;         // event_kind
    uint16_t vi;           // or completion queue
    uint32_t argument;     // error code, or bytes of payload
    uint8_t payload[112];  // of a control packet
    uint32_t reserved;
    uint32_t valid;  // the pass, as in completion_entry
};
static_assert(sizeof(event_entry) == 128);
enum event_kind : uint16_t {
    event_control_packet = 1,
    event_completion_send = 2,  // an armed completion
    event_completion_receive = 3,
    event_completion_queue = 4,
    event_error = 5,           // argument: VIP_ERROR_CODE (facts vipl.md 1.3)
    event_transport_lost = 6,  // retransmission gave up; the VI is in error state
    event_vi_error = 7         // the VI is in error state because of what its descriptor's status says
};

// --- Commands: arguments first, then the register `command`. A command counts after what was rung before it;
// one that takes something away is done when nothing under way can touch it any more.
enum command_op : uint32_t {
    command_create_vi = 1,      // create_vi_arguments
    command_destroy_vi = 2,     // vi
    command_connect_vi = 3,     // connect_vi_arguments
    command_disconnect_vi = 4,  // vi, state to enter (vi_idle or vi_error), keep: unless 1, both queues are
                                // flushed
    command_set_region = 5,     // region_arguments
    command_clear_region = 6,   // region
    command_create_queue = 7,   // queue, ring address high, low, entries: on a queue that exists it replaces
                                // the ring
    command_destroy_queue = 8,  // queue
    command_send_control = 9,   // send_control_arguments
    command_set_vi = 10,        // as create_vi, for an idle VI: attributes
    command_quiesce = 11        // done when nothing is under way between card and host memory
};
enum command_error : uint32_t {
    command_ok = 0,
    command_bad_argument = 1,
    command_no_resource = 2,
    command_wrong_state = 3
};
enum vi_state : uint32_t { vi_unused = 0, vi_idle = 1, vi_connected = 2, vi_error = 3 };

inline constexpr uint32_t no_queue = 0xFFFFFFFF;
inline constexpr uint32_t route_loopback = 0xFFFFFFFF;  // in place of a length: the packet stays on the card

struct create_vi_arguments {
    uint32_t vi;
    uint32_t protection_tag;
    uint32_t reliability;  // vi_reliability
    uint32_t max_transfer_bytes;
    uint32_t rdma_enables;  // bit 0 write, bit 1 read: what the peer may do
    uint32_t send_ring_high;
    uint32_t send_ring_low;
    uint32_t receive_ring_high;
    uint32_t receive_ring_low;
    uint32_t ring_slots;  // a power of two
    uint32_t send_queue;  // completion queue, or no_queue
    uint32_t receive_queue;
};
struct connect_vi_arguments {
    uint32_t vi;
    uint32_t remote_vi;
    uint32_t connection_key;
    uint32_t route_length;  // bytes (0: back to back), or route_loopback
    uint8_t route[8];
    uint32_t peer_max_transfer;
};
// A memory handle: region + 1 in the low bits, above them a generation.
inline constexpr uint32_t handle_region_bits = 16;
struct region_arguments {
    uint32_t region;
    uint32_t handle;
    uint32_t address_high;
    uint32_t address_low;
    uint32_t length;
    uint32_t first_page;
    uint32_t protection_tag;
    uint32_t rdma_enables;
};
inline constexpr uint32_t control_bytes_max = 100;
struct send_control_arguments {
    uint32_t route_length;
    uint8_t route[8];
    uint32_t bytes;
    uint8_t payload[control_bytes_max];
};
static_assert(sizeof(create_vi_arguments) <= 4 * argument_words);
static_assert(sizeof(send_control_arguments) <= 4 * argument_words);

}  // namespace vinic::abi::vi_engine
