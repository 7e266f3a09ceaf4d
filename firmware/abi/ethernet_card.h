// SPDX-License-Identifier: Apache-2.0

// Contract between the plain Ethernet card and its driver: registers in BAR 0 and descriptors in host memory,
// in the manner of the Gigabit Ethernet controllers of 2000; the layout is ours. All of it is little-endian,
// as PCI devices are.
#pragma once

#include <stdint.h>

namespace vinic::abi::ethernet {

inline constexpr uint32_t vendor_id = 0x10EE;
inline constexpr uint32_t device_id = 0xE7E0;
inline constexpr uint32_t bar_bytes = 4096;

enum register_offset : uint32_t {
    IDENTITY = 0x00,       // read only: device_id << 16 | vendor_id
    CONTROL = 0x04,        // control_bit
    CAUSE = 0x08,          // cause_bit; a read clears it, and with it the interrupt
    MASK = 0x0C,           // causes that interrupt
    COALESCE_SENT = 0x10,  // coalesce: interrupt at so many reports, or so long after the first
    COALESCE_RECEIVED = 0x14,
    ADDRESS_HIGH = 0x18,  // the station's: first two bytes
    ADDRESS_LOW = 0x1C,   // ... and the other four
    TRANSMIT_RING_LOW = 0x20,
    TRANSMIT_RING_HIGH = 0x24,
    TRANSMIT_ENTRIES = 0x28,  // a power of two
    TRANSMIT_POSTED =
        0x2C,  // descriptors handed over, counted from 0; a write that does not go ahead is ignored
    RECEIVE_RING_LOW = 0x30,
    RECEIVE_RING_HIGH = 0x34,
    RECEIVE_ENTRIES = 0x38,
    RECEIVE_POSTED = 0x3C,
    REGISTERS_END = 0x40
};

enum control_bit : uint32_t { CONTROL_TRANSMIT = 1u << 0, CONTROL_RECEIVE = 1u << 1 };
enum cause_bit : uint32_t { CAUSE_SENT = 1u << 0, CAUSE_RECEIVED = 1u << 1 };

// COALESCE_*: events in the low half, microseconds in the high half; 1 event: no waiting.
constexpr uint32_t coalesce(uint32_t events, uint32_t us) { return us << 16 | (events & 0xFFFF); }

// A part of a frame to be sent (without preamble, padding and FCS, which the MAC adds), or room for a frame
// to come (destination to payload). The card writes `status` of a transmit descriptor that asks for a report,
// and `length` to `status` of each receive descriptor that it has filled.
struct descriptor {
    uint64_t address;
    uint16_t length;
    uint16_t flags;  // descriptor_flag
    uint32_t status;
};
static_assert(sizeof(descriptor) == 16);
enum descriptor_flag : uint16_t {
    LAST = 1u << 0,   // of the frame
    REPORT = 1u << 1  // write the status when the frame has left, and count an event
};
enum descriptor_status : uint32_t {
    DONE = 1u << 0,
    TOO_LONG = 1u << 1  // a frame that was longer than its buffer: nothing was written
};
inline constexpr uint32_t written_back_offset = 8;  // of a receive descriptor
inline constexpr uint32_t written_back_bytes = 8;
inline constexpr uint32_t status_offset = 12;
inline constexpr uint32_t status_bytes = 4;

}  // namespace vinic::abi::ethernet
