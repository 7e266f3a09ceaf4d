// SPDX-License-Identifier: Apache-2.0
// The packet interface of the LANai: send DMA and receive DMA between the SRAM and the link (facts
// lanai_pcix.md B4).
//
// Send. SMP holds the first word of a part; writing its last word to SML (more parts follow) or SMLT (last
// part: CRC-8 and tail follow) starts the part; SA leading bytes of the first word are skipped. The bytes are
// those that the SRAM holds then; the engine takes slots as the bytes leave. SEND is set when the part has
// left; to start another one before is an error of the firmware. Where MYRINET enables CRC-32 and SMC was
// written for the packet, the CRC-32 of the bytes from there to the packet's end follows them, before the
// CRC-8: it is made as they pass, and costs the four bytes on the wire.
//
// Receive. RMP holds the first byte of a buffer; writing its last word to RML arms the engine for one packet.
// The bytes of a packet, from its type field on, take slots as they come in; they are all in the SRAM after
// the last slot of the packet, or of the buffer when that ends before the packet: BUFF, and the rest waits in
// the link's slack buffer until the engine is armed again. Behind the data lies the remainder of the CRC-8,
// zero for a whole packet. RECV: RMP stands at the next multiple of pointer_bytes behind that byte, and the
// ORUN bits say by how much it overran it. A head that waits while no buffer is armed sets HEAD. Where
// MYRINET enables CRC-32 and the buffer's start was written to RMC, the packet's last four bytes are taken
// for the CRC-32 of all that came before them in this buffer and those after it; in their place stands its
// remainder, zero for a whole packet. (That a remainder is what the engine leaves, as with CRC-8, and that
// SMC and RMC hold for one packet, is assumed: the facts name no more than the registers.)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hw/link/port.h"
#include "hw/nic/card_clock.h"
#include "hw/nic/special_registers.h"
#include "hw/nic/sram.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class send_dma : public sim::module {
public:
    send_dma(const sc_core::sc_module_name& name, const card_clock& clock, sram& memory,
             special_registers& registers);

    sim::parameter<std::uint64_t> start_clocks;

    sim::counter<sim::unit::packets> packets{*this, "packets", "packets sent"};
    sim::counter<sim::unit::bytes> bytes{*this, "bytes", "bytes sent, route included"};

    sim::value_probe state;
    sim::span_probe part{*this, "part", "a part: from its start to its last byte on the wire"};
    sim::packet_probe packet{*this, "packet", "a part, when the link takes it: route, header, payload"};

    void bind(link::port& port) { port_ = &port; }
    void reset();

    // From the link port.
    void on_part_sent();
    void on_sent();
    void on_sending_changed();

private:
    void start(std::uint32_t last_word, bool last, cycle at);
    void note_crc32();
    void set_pointer(std::uint32_t value, cycle at);
    void require_ready(const char* what, cycle at) const;
    void launch();
    void reserve_slots();
    void part_left();

    const card_clock& clock_;
    sram& memory_;
    special_registers& registers_;
    link::port* port_ = nullptr;
    std::uint32_t smp_ = 0, sa_ = 0, limit_ = 0;
    bool last_ = false;
    bool busy_ = false;
    std::optional<std::uint32_t> smc_;         // where the CRC-32 of the packet starts
    std::optional<std::uint64_t> crc32_from_;  // ... in the part under way
    cycle ready_from_ = 0;                     // the engine takes the next part from this cycle on
    std::uint32_t address_ = 0;                // of the part under way
    std::uint64_t length_ = 0;
    std::uint64_t wire_base_ = 0;  // number of its first byte at the port
    std::vector<std::uint8_t> data_;
    sim::picoseconds began_ = 0;
    sim::timer launch_{[this] { launch(); }};
};

class receive_dma : public sim::module {
public:
    receive_dma(const sc_core::sc_module_name& name, const card_clock& clock, const chip_traits& traits,
                sram& memory, special_registers& registers);

    sim::parameter<std::uint64_t> pointer_bytes;

    sim::counter<sim::unit::packets> packets{*this, "packets", "packets received"};
    sim::counter<sim::unit::bytes> bytes{*this, "bytes", "bytes received, without CRCs"};
    sim::counter<sim::unit::packets> bad_crc{*this, "bad_crc",
                                             "packets with a CRC-8 remainder other than zero"};
    sim::counter<sim::unit::packets> bad_crc32{*this, "bad_crc32",
                                               "packets with a CRC-32 remainder other than zero"};
    sim::counter<sim::unit::events> limits_hit{*this, "limits_hit",
                                               "buffers that ended before their packet (BUFF)"};
    sim::counter<sim::unit::events> heads_waited{*this, "heads_waited",
                                                 "packets that found no buffer armed (HEAD)"};

    sim::value_probe state;
    sim::span_probe reception{*this, "reception",
                              "a packet into its buffer: from its head, or the arming that it "
                              "waited for, to its last byte in the SRAM"};
    sim::packet_probe packet{*this, "packet", "a packet in its buffer, when RECV is set"};

    void bind(link::port& port) { port_ = &port; }
    void reset();

    // From the link port.
    void on_head();
    void on_take_limit();
    void on_tail(const link::reception& came);
    void on_taking_changed();

private:
    void set_pointer(std::uint32_t value, bool starts_crc32);
    void arm(std::uint32_t last_word, cycle at);
    std::uint32_t pointer(cycle at) const;
    void react();
    void begin_taking();
    void reserve_slots();
    void store(std::span<const std::uint8_t> characters);
    void leave_crc32_remainder(const link::reception& came);
    void stored_limit();
    void stored_tail();
    std::uint64_t slots_of(std::uint64_t from, std::uint64_t to) const;
    void show();

    const card_clock& clock_;
    sram& memory_;
    special_registers& registers_;
    link::port* port_ = nullptr;

    std::uint32_t rmp_ = 0;   // start of the buffer, or where the engine came to
    std::uint64_t room_ = 0;  // bytes of the armed buffer
    bool armed_ = false;
    bool taking_ = false;             // a packet flows into the buffer
    bool storing_ = false;            // its last word is on the way to the SRAM
    bool head_ = false;               // a packet stands at the front of the slack buffer and is not taken
    bool told_ = false;               // ... and HEAD was set for it, or it had a buffer already
    std::uint64_t taken_before_ = 0;  // characters of the packet that earlier buffers took
    std::vector<std::uint8_t> data_;  // characters on their way to the SRAM
    bool starts_crc32_ = false;       // the buffer's start was written to RMC
    std::optional<std::uint64_t> crc32_from_;  // the first byte of the packet that its CRC-32 covers
    std::uint64_t packet_bytes_ = 0;           // without CRCs
    std::uint32_t crc32_remainder_ = 0;
    std::uint8_t remainder_ = 0;
    sim::picoseconds began_ = 0;
    sim::timer react_{[this] { react(); }};
};

/// Hands the calls of the link port to the two engines.
class packet_interface : public link::port_client {
public:
    packet_interface(send_dma& send, receive_dma& receive, special_registers& registers)
        : send_(send), receive_(receive), registers_(registers) {}

    void on_head(const link::packet_ptr&) override { receive_.on_head(); }
    void on_take_limit() override { receive_.on_take_limit(); }
    void on_tail(const link::reception& came) override { receive_.on_tail(came); }
    void on_taking_changed() override { receive_.on_taking_changed(); }
    void on_part_sent() override { send_.on_part_sent(); }
    void on_sent() override { send_.on_sent(); }
    void on_sending_changed() override { send_.on_sending_changed(); }
    void on_blocked() override { registers_.raise({isr_event::nres}); }

private:
    send_dma& send_;
    receive_dma& receive_;
    special_registers& registers_;
};

}  // namespace vinic::nic
