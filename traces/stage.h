// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "hw/sim/time.h"

namespace vinic::traces {

/// The parts of a message's journey, in the order in which it passes them.
enum class journey : std::uint8_t { post, doorbell, descriptor, payload, send, wire, data, completion, take };
inline constexpr std::array<const char*, 9> journey_names{"post", "doorbell", "descriptor", "payload", "send",
                                                          "wire", "data",     "completion", "take"};

/// What happens, or is waited for, in one part.
enum class activity : std::uint8_t {
    library,   ///< the processor executes VIPL
    posting,   ///< in the posting buffer of the host bridge, behind earlier stores
    busy,      ///< the core is busy with other work
    look,      ///< the core polls and has not looked yet
    firmware,  ///< the core works for this message
    logic,     ///< the engine's state machines work for this message
    earlier,   ///< earlier packets of the message
    channel,   ///< the DMA channel is busy with an earlier block
    start,     ///< PULSE to the engine, or SML to the link
    engine,    ///< another channel or packet has the engine
    fetch,     ///< of the DMA block from SRAM
    setup,     ///< of the DMA block
    request,   ///< first data from the SRAM, if it goes out; the next edge of the bus clock, for REQ#
    grant,     ///< REQ# to the address phase
    address,   ///< address phase, decode, initial wait states
    latency,   ///< delayed or split read: from the first attempt to the one that brings data
    transfer,  ///< data phases
    place,     ///< into the SRAM
    finish,    ///< write-back of the checksum, WAKE
    head,      ///< first byte: link, cables, switches
    body,      ///< the rest of the packet, up to RECV
    visible,   ///< in host memory, not yet visible to the processor
    poll,      ///< the processor has not looked yet, or an interrupt wakes it
    // Where the kernel carries messages over an Ethernet card: the sender's software ...
    entry,       ///< the library, up to the trap
    trap,        ///< into the kernel, and what every call does there
    descriptor,  ///< the kernel reads and checks a VI descriptor
    protocol,    ///< header, place in the message: VI, UDP, TCP
    buffer,      ///< a packet's buffer
    copy,        ///< from the program's memory
    checksum,    ///< over that
    window,      ///< until acknowledgements make room: in the peer's window, in the socket's buffer
    ip,          ///< IP, down to the device
    driver,      ///< onto the transmit ring
    store,       ///< the doorbell: bridge and bus
    // ... the card ...
    turn,     ///< earlier work of the card
    ring,     ///< read of the descriptor
    gather,   ///< the frame, from host memory
    room,     ///< in the FIFO: earlier frames, start
    frame,    ///< on the wire: preamble to FCS, cables, switches
    scatter,  ///< the frame, into host memory
    note,     ///< what has become of it, likewise
    // ... and the receiver's.
    coalesce,       ///< the card waits before it interrupts
    delivery,       ///< the interrupt, up to the driver
    handler,        ///< the driver finds out why
    behind,         ///< earlier frames of the interrupt
    taking,         ///< off the receive ring
    backlog,        ///< queued for the softirq
    softirq,        ///< up to the packet's turn
    network,        ///< IP
    transport,      ///< VI, UDP, TCP
    placing,        ///< where the payload goes
    delivery_copy,  ///< into the program's memory, by the kernel
    completing,     ///< the receive descriptor
    wake,           ///< the process is woken
    scheduler,      ///< ... until it runs
    copy_out,       ///< into the program's memory, by its own call
    checksum_out,   ///< over that, or before it
    returns,        ///< VIPL hands the message over
    meanwhile       ///< off the path
};
inline constexpr std::size_t activities = static_cast<std::size_t>(activity::meanwhile) + 1;

struct stage {
    journey part = journey::post;
    activity what = activity::library;

    bool operator==(const stage&) const = default;
    auto operator<=>(const stage&) const = default;
};

/// "descriptor: wait for the bus"
std::string name_of(const stage& s);
/// Whether the message stands still and waits for a resource, an edge or somebody who looks.
bool is_wait(const stage& s);

/// Who works, or is waited for. `wire` is between the two sides.
enum class lane : std::uint8_t {
    host_of_sender,
    bus_of_sender,
    dma_of_sender,
    core_of_sender,
    wire,
    core_of_receiver,
    dma_of_receiver,
    bus_of_receiver,
    host_of_receiver
};
inline constexpr std::array<const char*, 9> lane_names{"host", "bus",          "DMA and SRAM", "core", "wire",
                                                       "core", "DMA and SRAM", "bus",          "host"};
lane lane_of(const stage& s);

struct interval {
    stage what;
    sim::picoseconds begin;
    sim::picoseconds end;

    sim::picoseconds length() const { return end - begin; }
};

}  // namespace vinic::traces
