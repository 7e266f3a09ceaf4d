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
    // Positions: free running, in bytes.
    uint32_t head;  // the next block to fill
    uint32_t tail;  // the oldest block that is not known to be done

    static constexpr bool has_events = channel == 0 || channel == 2;
    static constexpr uint32_t flags = abi::dma_flag_terminal | (to_host ? 0u : abi::dma_flag_host_to_lanai) |
                                      (policy == wake_policy::always ? abi::dma_flag_wake : 0u);

    entry_type& at(uint32_t position) {
        char* first = reinterpret_cast<char*>(ring);
        return *opaque(reinterpret_cast<entry_type*>(first + position % sizeof(ring)));
    }

    void initialise() {
        head = tail = 0;
        for (uint32_t i = 0; i != size; ++i) {
            const uint32_t next = hardware::sram_address(&ring[(i + 1) & (size - 1)]);
            ring[i].block.next_and_flags = next | flags;
            ring[i].block.checksum = 0;
            ring[i].event = action_none;
        }
    }

    uint32_t space() const { return size - (head - tail) / sizeof(entry_type); }
    bool has_room(uint32_t blocks) const { return head - tail <= sizeof(ring) - blocks * sizeof(entry_type); }
    bool full() const { return head - tail == sizeof(ring); }

    // Whether all blocks before `position` (a former `head`) are done.
    bool passed(uint32_t position) const { return static_cast<int32_t>(tail - position) >= 0; }

    entry_type& next() { return at(head); }

    // The caller has made sure of space. Whoever asks for an event asks for the WAKE bit too, which makes the
    // main loop look.
    [[gnu::always_inline]] void post(uint64_t host, const volatile void* local, uint32_t bytes,
                                     uintptr_t event = action_none) {
        post_at(host, hardware::sram_address(local), bytes, event);
    }

    [[gnu::always_inline]] void post_at(uint64_t host, uint32_t local, uint32_t bytes, uintptr_t event) {
        start(next(), host, local, bytes, event);
    }

    // `entry` is next().
    [[gnu::always_inline]] void start(entry_type& entry, uint64_t host, uint32_t local, uint32_t bytes,
                                      uintptr_t event) {
        if constexpr (policy == wake_policy::asked)
            if (event != action_none) entry.block.next_and_flags |= abi::dma_flag_wake;
        entry.block.bytes = bytes;
        entry.block.local_address = local;
        entry.block.host_high = high_word(host);
        entry.block.host_low = low_word(host);
        if constexpr (has_events) entry.event = event;
        head += sizeof(entry_type);
        hardware::barrier();
        hardware::store(hardware::PULSE, 1u << channel);
    }

    // The oldest block that has come to its end since the last call, or none. A block that was not started,
    // or was seen to be done, has checksum 0.
    [[gnu::always_inline]] entry_type* done() {
        entry_type& entry = at(tail);
        if (*const_cast<volatile uint32_t*>(&entry.block.checksum) == 0) return nullptr;
        entry.block.checksum = 0;
        if constexpr (policy == wake_policy::asked)
            if (entry.event != action_none) entry.block.next_and_flags &= ~abi::dma_flag_wake;
        tail += sizeof(entry_type);
        return &entry;
    }
};

inline dma_channel<0, 64, false, wake_policy::always> short_reads;
inline dma_channel<1, 64, false, wake_policy::always> payload_reads;
inline dma_channel<2, 128, true, wake_policy::asked, dma_entry_with_words> writes;
inline dma_channel<3, 16, true, wake_policy::never> credits;

}  // namespace vinic::myvia
