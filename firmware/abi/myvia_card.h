
// Contract between the MyVIA firmware and the host: what stands in the card's SRAM, which commands the driver
// gives, what rings and tables stand in host memory. Everything here is big-endian wherever it stands.
// Sources: calibration.md, MyVIA row (translation table with a cache on the card, ring of physical
// descriptors, doorbell queue in SRAM polled by firmware); the layout is ours.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace vinic::abi::myvia {

inline constexpr uint32_t magic = 0x56494E43;
inline constexpr uint32_t interface_version = 1;
inline constexpr uint32_t send_window = 16;  // packets in flight on a reliable connection

// --- Doorbell queues
// -------------------------------------------------------------------------------------------------- A
// process owns one page of SRAM, mapped into its address space: a ring of entries that it writes in order
// (word `data` first, then `what`, which makes the entry valid) and that the firmware clears when it has
// taken them. The firmware writes how many entries it has taken into the process's host_page now and then (at
// least each quarter of the ring).
inline constexpr uint32_t doorbell_page_bytes = 4096;
struct doorbell {
    uint32_t what;  // doorbell_valid | op << 16 | VI index
    uint32_t data;  // post: slots posted to that ring so far (free running); arm: completions seen so far
};
inline constexpr uint32_t doorbells_per_page = doorbell_page_bytes / sizeof(doorbell);
inline constexpr uint32_t doorbell_valid = 1u << 31;
enum doorbell_op : uint32_t {
    doorbell_send = 1,
    doorbell_receive = 2,
    doorbell_arm_send = 3,  // raise event_completion when a send descriptor beyond `data` completes
    doorbell_arm_receive = 4,
    doorbell_arm_queue = 5,   // the same for the completion queue whose index stands in place of the VI's
    doorbell_send_pushed = 6  // + n: as doorbell_send, and the message stands in entry n of the push area
};

// --- Other ways to ring. An image of firmware that has the symbol `doorbell_interface` takes doorbells in
// another way than the one above; the driver reads it in the image, before anything runs.
enum doorbell_kind : uint32_t {
    // Through the card's doorbell region (card_map.h): VI n has its page n, completion queue n the page
    // behind
    // those of all VIs (card_interface.max_vis) and the n queues before. A word written to 4 * doorbell_op of
    // a page rings, with the `data` of above. The driver gives the FIFO to the hardware when the card is
    // ready. A process has at most doorbells_per_page doorbells on their way, counted as above.
    doorbells_in_fifo = 1,
    // Pages of SRAM, numbered as those of the region, in an array aligned to doorbell_pages_alignment: so
    // bits
    // 12 and up of an address, modulo that, are the page. The word at 4 * doorbell_op of a page says how
    // things stand, and is not cleared: doorbell_valid | op << 16 | the lower 16 bits of what `data` is
    // above.
    // So that two words that arm are never equal, they have their number, modulo 2048, in bits 20 to 30.
    // The word of doorbell_send has n + 1 there when its last slot was pushed into entry n.
    // Nothing can be lost, so no credits are given.
    doorbells_in_vi_pages = 2
};
inline constexpr uint32_t doorbell_pages_alignment = 0x80000;
struct doorbell_interface_block {
    uint32_t kind;              // doorbell_kind
    const volatile void* sram;  // a word on the card: the FIFO, or the first page
    uint32_t size;              // of the FIFO: 4 KB << size
    // Tokens: a page of SRAM for each VI, in it `token_slots` slots (below) of the send queue, then as many
    // of the receive queue. The library writes a slot there before it rings, and the firmware reads it there;
    // of the ring in host memory, only what the card writes on completion is used. 0: there are none.
    const volatile void* tokens;
    uint32_t token_slots;
};
inline constexpr char doorbell_interface_symbol[] = "doorbell_interface";

// --- Pushed messages. Where card_interface.push_areas is not 0, a process owns an area of SRAM there in
// which it may put a message of one segment itself, slot and payload, before it rings doorbell_send_pushed:
// the card need fetch nothing. The slot stands in the ring all the same: the card fetches it, and the
// payload, when the short way is not to be had or the message is to be sent again. An entry is free when its
// descriptor has completed.
inline constexpr uint32_t push_entries = 8;
inline constexpr uint32_t push_bytes = 1024;
inline constexpr uint32_t push_area_bytes = 12288;  // of a process: whole pages

// --- Rings in host memory
// --------------------------------------------------------------------------------------------- Work queue:
// physically contiguous ring of slots of 64 bytes, big-endian: the descriptor's control segment and first two
// further segments, each field turned round by the library, since the card would spend eleven instructions on
// each and the host spends one. `next` and `next_handle` are not the program's: they are the virtual address
// and the memory handle of its own descriptor, where the firmware fetches segments 2 and up, behind the 64th
// byte, in the program's byte order. On completion the card writes the last words of the control segment:
// length and status, before them the immediate data if some came. The library clears status before it rings.
// A flushed slot gets only its status word (on the send queue without op bits: the card may never have read
// the slot, the library has).
struct slot_segment {
    uint64_t address;
    uint32_t handle;
    uint32_t length;
};
struct slot {
    uint64_t next;
    uint32_t next_handle;
    uint32_t control_and_count;  // control << 16 | segment_count
    uint32_t reserved;
    uint32_t immediate;
    uint32_t length;
    uint32_t status;
    slot_segment segments[2];
};
struct pushed_message {
    myvia::slot slot;
    uint32_t payload[push_bytes / 4];  // bytes as they lie in memory, zeros up to a whole word
};
inline constexpr uint32_t slot_bytes = 64;
inline constexpr uint32_t slot_segments = 2;
inline constexpr uint32_t slot_completion_offset = 16;
static_assert(sizeof(slot) == slot_bytes && offsetof(slot, reserved) == slot_completion_offset);

// Completion queue: ring of entries, written in order; `valid` is the pass (1, 2, 1, 2, ...) so that nothing
// need be cleared.
struct completion_entry {
    uint32_t vi_and_queue;  // VI index, bit 31: receive queue
    uint32_t valid;
};
inline constexpr uint32_t completion_receive = 1u << 31;

// Event queue of the kernel agent: entries of 128 bytes, written in order, then HOST_SIG interrupts the host,
// which clears HOST_SIG first and then takes all valid entries.
struct event_entry {
    uint16_t kind;         // event_kind
    uint16_t vi;           // or completion queue
    uint32_t argument;     // error code, or bytes of payload
    uint32_t argument2;    // slot number of the descriptor concerned (free running), where there is one
    uint8_t payload[112];  // of a control packet
    uint32_t valid;        // the pass, as in completion_entry; written last
};
static_assert(sizeof(event_entry) == 128);
enum event_kind : uint16_t {
    event_control_packet = 1,
    event_completion_send = 2,  // an armed completion
    event_completion_receive = 3,
    event_completion_queue = 4,
    event_error =
        5,  // argument: VIP_ERROR_CODE (facts vipl.md 1.3); the VI is in error state where 6.2 says so
    event_transport_lost = 6,  // retransmission gave up; the VI is in error state
    event_vi_error =
        7  // the VI entered the error state because of what its descriptor's status says (facts vipl.md 6.2);
           // there is no asynchronous error, but the kernel agent must know and tell the peer
};

// Page table: in host memory, one entry of 8 bytes (physical address of the 4 KiB frame) for each page of
// each registered region; a region's pages have consecutive indices.
struct page_entry {
    uint32_t frame_high;
    uint32_t frame_low;
};

// Written by the firmware, read by the library: one for each process, in host memory.
struct host_page {
    uint32_t doorbells_taken;  // free running
};

// --- Card interface
// --------------------------------------------------------------------------------------------------- Symbol
// `card_interface` of the firmware image. The driver fills `host_*` before it takes the LANai out of reset;
// the firmware sets `ready` when it runs.
struct command {
    uint32_t op;  // command_op
    uint32_t arguments[31];
};

struct card_interface_block {
    uint32_t magic;
    uint32_t version;
    uint32_t ready;       // 1 when the firmware has written its part
    uint32_t sram_bytes;  // by the driver
    uint32_t max_vis;     // by the firmware, from here on
    uint32_t max_regions;
    uint32_t max_completion_queues;
    uint32_t max_processes;
    uint32_t max_segments;
    uint32_t max_transfer_bytes;
    uint32_t reliability_mask;
    uint32_t doorbell_pages;        // SRAM address of the page of process 0; the others follow
    uint32_t host_event_ring_high;  // by the driver
    uint32_t host_event_ring_low;
    uint32_t host_event_entries;
    uint32_t host_page_table_high;
    uint32_t host_page_table_low;
    uint32_t host_page_table_entries;
    uint32_t retransmit_ticks;  // of 0.5 us: time without acknowledgement before sending again
    uint32_t retransmit_limit;  // tries without progress before the connection is lost
    uint32_t command_number;    // the driver writes the command, then counts this up
    uint32_t command_done;      // the firmware: equals command_number when done
    uint32_t command_status;    // 0 or a command_error
    uint32_t event_taken;       // by the driver: events consumed so far (free running)
    uint32_t dma_chains[4];  // by the firmware: first block of each host DMA channel; the driver writes them
                             // to card_map::pointers when `ready` is set
    uint32_t go;  // by the driver: 1 when that is done; before, the firmware takes neither commands
                  // nor packets
    command request;
    uint32_t push_areas;  // by the firmware: SRAM address of the area of process 0, or 0; the others follow
    uint32_t physical_regions;  // by the firmware: 1 if it knows region_physical
};

enum command_op : uint32_t {
    command_create_vi = 1,       // create_vi_arguments
    command_destroy_vi = 2,      // vi
    command_connect_vi = 3,      // connect_vi_arguments
    command_disconnect_vi = 4,   // vi, state to enter (vi_idle or vi_error), keep: unless `keep` is 1 (the
                                 // connection did not come about) both queues are flushed
    command_set_region = 5,      // region_arguments
    command_clear_region = 6,    // region; cached translations are dropped
    command_open_process = 7,    // process, host_page physical address high, low
    command_close_process = 8,   // process
    command_create_queue = 9,    // completion queue: queue, ring address high, low, entries, process. On a
                                 // queue that exists it replaces the ring (resize): entries of earlier
                                 // completions stand in the old one when the command is done, later ones go
                                 // to the new one from its start, pass 1
    command_destroy_queue = 10,  // queue
    command_send_control = 11,  // route_length, route[2 words, left-aligned bytes], bytes, payload (up to 100
                                // bytes: connection_packet.h)
    command_set_vi = 12         // as create_vi, for an idle VI: attributes
};
enum command_error : uint32_t {
    command_ok = 0,
    command_bad_argument = 1,
    command_no_resource = 2,
    command_wrong_state = 3
};

enum vi_state : uint32_t { vi_unused = 0, vi_idle = 1, vi_connected = 2, vi_error = 3 };

inline constexpr uint32_t no_queue = 0xFFFFFFFF;

struct create_vi_arguments {
    uint32_t vi;
    uint32_t process;  // whose doorbell page may ring for it
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

inline constexpr uint32_t route_loopback =
    0xFFFFFFFF;  // in place of a length: the packet does not leave the card

struct connect_vi_arguments {
    uint32_t vi;
    uint32_t remote_vi;
    uint32_t connection_key;  // what the peer puts into its packets, and we into ours
    uint32_t route_length;    // bytes (0: back to back), or route_loopback
    uint8_t route[8];         // left-aligned
    uint32_t peer_max_transfer;
};

// A memory handle: region + 1 in the low bits (so never zero, and never all ones), above them a generation
// that changes each time the region's number is used again.
inline constexpr uint32_t handle_region_bits = 16;

struct region_arguments {
    uint32_t region;
    uint32_t handle;
    uint32_t address_high;  // virtual address of the first byte
    uint32_t address_low;
    uint32_t length;
    uint32_t first_page;  // index in the page table
    uint32_t protection_tag;
    uint32_t rdma_enables;  // bit 0 write, bit 1 read, and region_physical
};
// The addresses of the region are those of physically contiguous memory: nothing is translated, and it has no
// place in the page table.
inline constexpr uint32_t region_physical = 4;

static_assert(sizeof(create_vi_arguments) <= sizeof(command::arguments));
static_assert(sizeof(connect_vi_arguments) <= sizeof(command::arguments));
static_assert(sizeof(region_arguments) <= sizeof(command::arguments));

}  // namespace vinic::abi::myvia
