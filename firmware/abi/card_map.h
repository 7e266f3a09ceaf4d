
// The LANai card as the PCI bus sees it: BAR 0 (facts lanai_pcix.md B5). SRAM, EEPROM and special registers
// are big-endian, the control registers little-endian.
#pragma once

#include <stdint.h>

namespace vinic::abi::card_map {

// PCI identity (B1).
inline constexpr uint16_t vendor_id = 0x14C1;
inline constexpr uint16_t device_id = 0x8043;

// Boards with LANai 5 and later: 16 MB.
inline constexpr uint32_t bar_bytes = 0x1000000;
inline constexpr uint32_t sram = 0x000000;
inline constexpr uint32_t sram_window_bytes = 0x800000;
inline constexpr uint32_t config_copy = 0x800000;
inline constexpr uint32_t control = 0x800040;
inline constexpr uint32_t pointers =
    0x800100;  // 4 words dma_channel_base, then 4 words fifo_base; SRAM addresses
inline constexpr uint32_t special_registers = 0x804000;
inline constexpr uint32_t doorbells =
    0x808000;  // to the end: (address, data) of each write goes to a FIFO in SRAM
inline constexpr uint32_t doorbell_page_bytes = 0x1000;

enum control_bit : uint32_t {
    CONTROL_FIFO_SIZE_MASK = 7u,  // FIFO of 4 KB << n
    CONTROL_FIFO_MULTI_QUEUE = 1u << 3,
    CONTROL_FIFO_LIMIT_CHECK = 1u << 4,
    CONTROL_DMA_TRIGGER0 = 1u << 20,  // write only: as PULSE
    CONTROL_DMA_TRIGGER1 = 1u << 21,
    CONTROL_DMA_TRIGGER2 = 1u << 22,
    CONTROL_DMA_TRIGGER3 = 1u << 23,
    CONTROL_INTERRUPT_DISABLE = 1u << 24,
    CONTROL_INTERRUPT_ENABLE = 1u << 25,
    CONTROL_BOARD_RESET_ASSERT = 1u << 26,
    CONTROL_BOARD_RESET_REMOVE = 1u << 27,
    CONTROL_EBUS_RESET_ASSERT = 1u << 28,
    CONTROL_EBUS_RESET_REMOVE = 1u << 29,
    CONTROL_LANAI_RESET_ASSERT = 1u << 30,
    CONTROL_LANAI_RESET_REMOVE = 1u << 31
};

// What the doorbell FIFO in SRAM holds, per write.
struct doorbell_entry {
    uint32_t address;  // offset in the doorbell region; doorbell_entry_free once the firmware took it
    uint32_t data;
};
inline constexpr uint32_t doorbell_entry_free = 0xFFFFFFFF;

}  // namespace vinic::abi::card_map

namespace vinic::abi {

// Descriptor of a block of host DMA in SRAM, 8-byte aligned (facts B4, B5; LANai 7 and 9). A chain is walked
// along `next`; PULSE bit n (or the trigger bit of the control register) makes channel n execute blocks, from
// where it stopped before, up to and including the next terminal block; pulses that come while it runs are
// counted. Channel n starts at its base pointer, taken over when that pointer is written.
struct dma_block {
    uint32_t next_and_flags;  // address of the next block, flags below
    uint32_t checksum;  // written by the engine when the block is done: two 16-bit ones-complement sums;
                        // never zero then; a WAKE that was asked for comes after it
    uint32_t bytes;
    uint32_t local_address;  // LAR: SRAM
    uint32_t host_high;      // EAH
    uint32_t host_low;       // EAL
};
inline constexpr uint32_t dma_flag_host_to_lanai = 1u << 0;  // E2L; else LANai to host
inline constexpr uint32_t dma_flag_terminal = 1u << 1;       // the chain stops after this block
inline constexpr uint32_t dma_flag_wake = 1u << 2;           // sets the channel's WAKE bit when done
inline constexpr uint32_t dma_flags_mask = 7;

static_assert(sizeof(dma_block) == 24);

}  // namespace vinic::abi
