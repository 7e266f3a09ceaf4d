
// Special registers of the LANai as its own code addresses them, and the bits of the interrupt status
// register. Facts: lanai_pcix.md B3 (LANai 4) and B4 (LANai 7 and 9). Written down once, here.
#pragma once

#include <stdint.h>

namespace vinic::abi::lanai9 {

// LANai 7, 8 and 9: registers from here on, 8 bytes apart; in the PCI window they start at card_map.h
// special_registers.
inline constexpr uint32_t register_base = 0xFFFFFE00;

enum register_offset : uint32_t {
    ISR = 0x050,   // interface status
    EIMR = 0x058,  // which ISR bits raise the host interrupt
    IT0 = 0x060,   // interval timers, ticks of 0.5 us, count down
    RTC = 0x068,   // real-time clock, ticks of 0.5 us
    LAR = 0x070,
    CPUC = 0x078,   // CPU cycle counter
    PULSE = 0x0B8,  // output pins P0..P3: start the host DMA chains
    IT1 = 0x0C0,
    IT2 = 0x0C8,
    RMW = 0x0D0,      // receive pointer
    RMC = 0x0D8,      // receive pointer, CRC-32 starts here: its remainder, 4 bytes, stands in place of the
                      // packet's CRC-32, before that of the CRC-8; 0 when the packet is intact
    RMP = 0x0E0,      // receive pointer: start of the buffer, then how far the engine came:
                      // behind the last word it wrote, that of the CRC-8 remainder. That byte follows the
                      // packet's last one and is 0 when the packet is intact (B3)
    RML = 0x0E8,      // receive limit: address of the last word of the buffer; writing it arms the engine
    SMP = 0x0F0,      // send pointer: first word
    SMH = 0x0F8,      // end of the routing header
    SML = 0x100,      // send limit: address of the last word of a part; more parts follow; starts the engine
    SMLT = 0x108,     // the same for the last part: tail and CRC are appended
    SMC = 0x110,      // start of CRC-32, for the next packet: it follows the packet's last byte
    SA = 0x118,       // leading bytes of the first word to skip
    MYRINET = 0x130,  // link control
    DEBUG = 0x138,
    LED = 0x140,
    MP = 0x150,    // memory protection
    CLOCK = 0x1F8  // clock multiplier (host side)
};

enum isr_bit : uint32_t {
    ISR_HEAD = 1u << 0,   // the head of a packet arrived and no buffer is armed
    ISR_RECV = 1u << 1,   // a packet's tail arrived
    ISR_BUFF = 1u << 2,   // the receive limit was hit before the tail
    ISR_SEND = 1u << 3,   // the send engine is done with its part
    ISR_WAKE1 = 1u << 4,  // host DMA channel 1 ended a block that asked for it
    ISR_WAKE2 = 1u << 5,  // the same, channel 2
    ISR_TIME0 = 1u << 6,  // interval timer 0 expired
    ISR_TIME1 = 1u << 7,
    ISR_ORUN1 = 1u << 8,  // bytes that the receive pointer went beyond the data
    ISR_ORUN2 = 1u << 9,
    ISR_ORUN4 = 1u << 10,
    ISR_NRES = 1u << 11,   // the network was reset: a packet was blocked for too long
    ISR_WAKE0 = 1u << 12,  // host DMA channel 0, or a doorbell was written
    ISR_TIME2 = 1u << 13,
    ISR_MEM = 1u << 14,  // the core touched memory that is not there
    ISR_PAR = 1u << 15,
    ISR_LINK_DOWN = 1u << 16,
    ISR_LANAI_SIG = 1u << 29,
    ISR_HOST_SIG = 1u << 30,  // interrupts the host where EIMR allows it
    ISR_DEBUG = 1u << 31
};

enum myrinet_bit : uint32_t {
    MYRINET_NRES_ENABLE = 1u << 0,
    MYRINET_CRC32_ENABLE = 1u << 1,
    MYRINET_TX_CRC8_ENABLE = 1u << 2,
    MYRINET_RX_CRC8_ENABLE = 1u << 3,
    MYRINET_ILLEGAL_ENABLE = 1u << 4,
    MYRINET_BEAT_ENABLE = 1u << 5
};

// One tick of RTC and of the interval timers (B4).
inline constexpr uint32_t tick_ns = 500;

}  // namespace vinic::abi::lanai9

namespace vinic::abi::lanai4 {

// LANai 4: registers from here on, 4 bytes apart.
inline constexpr uint32_t register_base = 0xFFFFFF00;

enum register_offset : uint32_t {
    ISR = 0x28,
    EIMR = 0x2C,
    IT = 0x30,
    RTC = 0x34,
    CKS = 0x38,
    EAR = 0x3C,      // host address of the DMA
    LAR = 0x40,      // local address of the DMA
    DMA_CTR = 0x44,  // bytes; writing it starts the DMA
    RMP = 0x48,
    RML = 0x4C,
    SMP = 0x50,
    SML = 0x54,
    SMLT = 0x58,
    SA = 0x6C,
    DMA_DIR = 0x80,  // 1: host to LANai
    DMA_STS = 0x84,
    TIMEOUT = 0x88,
    MYRINET = 0x8C,
    LED = 0x94,
    VERSION = 0x98,
    WRITE_ENABLE = 0x9C
};

enum isr_bit : uint32_t {
    ISR_RECV = 1u << 1,
    ISR_BUFF = 1u << 2,
    ISR_SEND = 1u << 3,
    ISR_DMA = 1u << 4,
    ISR_TIME = 1u << 5,
    ISR_WDOG = 1u << 6,
    ISR_TAIL = 1u << 7,
    ISR_ORUN1 = 1u << 8,
    ISR_ORUN2 = 1u << 9,
    ISR_WAKE = 1u << 10,
    ISR_NRES = 1u << 11,
    ISR_LINK = 1u << 12,
    ISR_HOST_SIG = 1u << 30,
    ISR_DBG = 1u << 31
};

enum myrinet_bit : uint32_t { MYRINET_NRES_ENABLE = 1u << 0, MYRINET_CRC_ENABLE = 1u << 1 };

}  // namespace vinic::abi::lanai4

namespace vinic::abi::simulator {

// Ports of the simulator beside the chip's own registers (facts A12: addresses from 0x7F000000 work well).
// Word stores only.
inline constexpr uint32_t assert_port =
    0x7F000000;  // address of a text that ends in zero: the run stops as a model error
inline constexpr uint32_t log_port = 0x7F000008;       // a character for the log
inline constexpr uint32_t log_word_port = 0x7F000010;  // a word for the log

}  // namespace vinic::abi::simulator
