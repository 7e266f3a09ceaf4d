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

// What to do when a block is done, and with what.
enum dma_action : uint32_t {
    action_none,
    action_send_slots,     // argument: vi
    action_receive_slots,  // argument: vi
    action_translation,    // argument: line of the translation cache
    action_segments,       // argument: segment_window
    action_release,        // argument: packet
    action_placed,         // the same, and its reliable connection is told
    action_interrupt       // an event has been written
};

// Arguments are addresses of multiples of 8: one word holds both.
inline constexpr uintptr_t action_mask = 7;
inline uintptr_t then(dma_action action, const volatile void* argument) {
    return reinterpret_cast<uintptr_t>(argument) | action;
}
template <typename type>
type& argument_of(uintptr_t event) {
    return *reinterpret_cast<type*>(event & ~action_mask);
}

struct alignas(32) dma_entry {
    abi::dma_block block;
    uintptr_t event;
};

// With room for what the block writes, which is free again when the block is.
struct alignas(64) dma_entry_with_words {
    abi::dma_block block;
    uintptr_t event;
    alignas(8) uint32_t words[4];
};

// When a channel sets its WAKE bit.
enum class wake_policy { always, asked, never };

template <unsigned channel, uint32_t size, bool to_host, wake_policy policy, typename entry_type = dma_entry>
struct dma_channel {
    static_assert((size & (size - 1)) == 0);
    entry_type ring[size];
    entry_type* next;     // the block to fill
    entry_type* oldest;   // that is not known to be done
    uint32_t head, tail;  // the same as numbers of blocks, free running

    static constexpr bool has_events = channel == 0 || channel == 2;
    static constexpr uint32_t flags = abi::dma_flag_terminal | (to_host ? 0u : abi::dma_flag_host_to_lanai) |
                                      (policy == wake_policy::always ? abi::dma_flag_wake : 0u);

    static entry_type* behind(uint32_t next_and_flags) {
        return static_cast<entry_type*>(hardware::at_sram_address(next_and_flags & ~abi::dma_flags_mask));
    }

    void initialise() {
        next = oldest = ring;
        head = tail = 0;
        for (uint32_t i = 0; i != size; ++i) {
            ring[i].block.next_and_flags = hardware::sram_address(&ring[(i + 1) % size]) | flags;
            ring[i].block.checksum = 0;
            ring[i].event = action_none;
        }
    }

    uint32_t space() const { return size - (head - tail); }
    bool has_room(uint32_t blocks) const { return head - tail <= size - blocks; }
    bool full() const { return head - tail == size; }

    // Whether all blocks before number `position` (a former `head`) are done.
    bool passed(uint32_t position) const { return static_cast<int32_t>(tail - position) >= 0; }

    // The caller has made sure of space.
    [[gnu::always_inline]] void post(uint64_t host, const volatile void* local, uint32_t bytes,
                                     uintptr_t event = action_none) {
        start(*next, host, hardware::sram_address(local), bytes, event);
    }

    // `entry` is *next. `wake`: with wake_policy::asked.
    [[gnu::always_inline]] void start(entry_type& entry, uint64_t host, uint32_t local, uint32_t bytes,
                                      uintptr_t event, bool wake = false) {
        if (wake) entry.block.next_and_flags |= abi::dma_flag_wake;
        entry.block.bytes = bytes;
        entry.block.local_address = local;
        entry.block.host_high = high_word(host);
        entry.block.host_low = low_word(host);
        if constexpr (has_events) entry.event = event;
        hardware::barrier();
        hardware::store(hardware::PULSE, 1u << channel);
        next = behind(entry.block.next_and_flags);
        ++head;
    }

    // Whether the oldest block has come to its end. One that was not started, or was seen to be done, has
    // checksum 0.
    static bool is_done(const entry_type* entry) {
        return *const_cast<const volatile uint32_t*>(&entry->block.checksum) != 0;
    }
    bool has_done() const { return is_done(oldest); }

    // The oldest block, if it has come to its end; it is to be dropped then.
    [[gnu::always_inline]] entry_type* done() {
        entry_type* entry = opaque(oldest);
        if (!is_done(entry)) return nullptr;
        entry->block.checksum = 0;
        ++tail;
        return entry;
    }
    [[gnu::always_inline]] void drop(entry_type& entry) {
        const uint32_t link = entry.block.next_and_flags;
        oldest = behind(link);
        if constexpr (policy == wake_policy::asked) entry.block.next_and_flags = link & ~abi::dma_flag_wake;
    }
};

inline dma_channel<0, 64, false, wake_policy::always> short_reads;
inline dma_channel<1, 64, false, wake_policy::always> payload_reads;
inline dma_channel<2, 128, true, wake_policy::asked, dma_entry_with_words> writes;
inline dma_channel<3, 16, true, wake_policy::never> credits;

}  // namespace vinic::myvia
