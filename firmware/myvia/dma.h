// SPDX-License-Identifier: Apache-2.0

// The four host DMA channels (facts lanai_pcix.md B4, B5): each a closed ring of blocks in SRAM, every block
// terminal and started by a pulse of its own, so that a transfer of several blocks is under way before its
// last block is known.
//
//   0 descriptors, page table lines, further segments: short reads that somebody waits for;
//   1 payload of what is sent: long reads, which must not stand in front of the short ones;
//   2 all writes whose order programs can see: payload, then the descriptor's completion, then the entry of
//     the completion queue, then an event of the kernel agent;
//   3 counts of doorbells taken: nobody waits for them, and channel 3 has no WAKE bit.
#pragma once

#include "firmware/abi/card_map.h"
#include "firmware/myvia/hardware.h"

namespace vinic::myvia {

// What to do when a block is done.
enum dma_action : uint32_t {
    action_none,
    action_send_slots,     // argument: vi
    action_receive_slots,  // argument: vi
    action_translation,    // argument: set of the translation cache
    action_segments,       // argument: segment_window
    action_release,        // argument: packet
    action_interrupt       // an event has been written
};

struct dma_entry {
    abi::dma_block block;
    uint32_t action;
    uintptr_t argument;
};

// When a channel sets its WAKE bit.
enum class wake_policy { always, asked, never };

template <unsigned channel, uint32_t size, bool to_host, wake_policy policy>
struct dma_channel {
    static_assert((size & (size - 1)) == 0);
    alignas(8) dma_entry ring[size];
    uint32_t head;  // free running: the next block to fill
    uint32_t tail;  // the oldest block that is not known to be done

    static constexpr bool has_actions = channel == 0 || channel == 2;
    static constexpr uint32_t flags = abi::dma_flag_terminal | (to_host ? 0u : abi::dma_flag_host_to_lanai) |
                                      (policy == wake_policy::always ? abi::dma_flag_wake : 0u);

    void initialise() {
        head = tail = 0;
        for (uint32_t i = 0; i != size; ++i) {
            const uint32_t next = hardware::sram_address(&ring[(i + 1) & (size - 1)]);
            ring[i].block.next_and_flags = next | flags;
            ring[i].action = action_none;
        }
    }

    uint32_t space() const { return size - (head - tail); }

    // Whether all blocks before `position` (a former `head`) are done.
    bool passed(uint32_t position) const { return static_cast<int32_t>(tail - position) >= 0; }

    // The caller has made sure of space. `wake` asks for the WAKE bit, which makes the main loop look.
    [[gnu::always_inline]] void post(uint64_t host, const volatile void* local, uint32_t bytes,
                                     bool wake = false, dma_action action = action_none,
                                     uintptr_t argument = 0) {
        post_at(host, hardware::sram_address(local), bytes, wake, action, argument);
    }

    [[gnu::always_inline]] void post_at(uint64_t host, uint32_t local, uint32_t bytes, bool wake,
                                        dma_action action, uintptr_t argument) {
        dma_entry& entry = *opaque(&ring[head & (size - 1)]);
        if constexpr (policy == wake_policy::asked) {
            const uint32_t next = entry.block.next_and_flags & ~abi::dma_flag_wake;
            entry.block.next_and_flags = next | (wake ? abi::dma_flag_wake : 0u);
        }
        entry.block.checksum = 0;
        entry.block.bytes = bytes;
        entry.block.local_address = local;
        entry.block.host_high = high_word(host);
        entry.block.host_low = low_word(host);
        if constexpr (has_actions) {
            entry.action = action;
            entry.argument = argument;
        }
        ++head;
        hardware::barrier();
        hardware::store(hardware::PULSE, 1u << channel);
    }

    // The oldest block that has come to its end since the last call, or none.
    [[gnu::always_inline]] dma_entry* done() {
        if (tail == head) return nullptr;
        dma_entry& entry = *opaque(&ring[tail & (size - 1)]);
        if (*const_cast<volatile uint32_t*>(&entry.block.checksum) == 0) return nullptr;
        ++tail;
        return &entry;
    }
};

inline dma_channel<0, 64, false, wake_policy::always> short_reads;
inline dma_channel<1, 64, false, wake_policy::always> payload_reads;
inline dma_channel<2, 128, true, wake_policy::asked> writes;
inline dma_channel<3, 16, true, wake_policy::never> credits;

}  // namespace vinic::myvia
