// SPDX-License-Identifier: Apache-2.0

// Completions: the last words of the slot's control segment, then the entry of the completion queue, then the
// events that were armed, all in order on one channel.
#pragma once

#include "firmware/myvia/event.h"
#include "firmware/myvia/vi.h"

namespace vinic::myvia {

struct completion_queue {
    uint64_t ring;
    uint32_t entries;  // 0: unused
    uint32_t index, pass;
    uint32_t produced;  // free running
    uint32_t armed;
    uint32_t process;
};
inline completion_queue completion_queues[max_completion_queues];

// The longest sequence of blocks that one completion may post: status, entry, two events.
inline constexpr uint32_t completion_blocks = 4;

inline void write_queue_entry(uint32_t number, uint32_t vi_and_queue) {
    completion_queue& queue = *opaque(&completion_queues[number]);
    dma_entry_with_words& entry = *writes.next;
    entry.words[0] = network(vi_and_queue);
    entry.words[1] = network(queue.pass);
    writes.start(entry, queue.ring + queue.index * sizeof(abi::myvia::completion_entry),
                 hardware::sram_address(entry.words), sizeof(abi::myvia::completion_entry), action_none);
    ++queue.produced;
    if (++queue.index == queue.entries) {
        queue.index = 0;
        queue.pass = 3 - queue.pass;
    }
    if (!queue.armed) return;
    queue.armed = 0;
    post_event(abi::myvia::event_completion_queue, number, 0, 0);
}

[[gnu::noinline]] inline void tell_completion(vi& of, work_queue& queue, bool receives) {
    const uint32_t slot = queue.completed - 1;
    if (queue.completion_queue != abi::myvia::no_queue)
        write_queue_entry(queue.completion_queue,
                          of.index | (receives ? abi::myvia::completion_receive : 0u));
    if (!queue.armed) return;
    queue.armed = 0;
    post_event(receives ? abi::myvia::event_completion_receive : abi::myvia::event_completion_send, of.index,
               0, slot);
}

// The slot `queue.completed` has been written: what follows from that.
[[gnu::always_inline]] inline void slot_completed(vi& of, work_queue& queue, bool receives) {
    const uint32_t completed = queue.completed + 1;
    queue.completed = completed;
    queue.oldest_low = slot_low(queue, completed, of.ring_mask);
    if ((~queue.completion_queue | queue.armed) != 0) tell_completion(of, queue, receives);
}
static_assert(abi::myvia::no_queue == 0xFFFFFFFF);

// Writes words of the oldest slot's control segment, from `offset` to its end.
[[gnu::always_inline]] inline void write_slot(const work_queue& queue, dma_entry_with_words& entry,
                                              uint32_t offset) {
    writes.start(entry, join(queue.ring_high, queue.oldest_low + offset), hardware::sram_address(entry.words),
                 sizeof(abi::vi_control_segment) - offset, action_none);
}

// Completes the oldest slot. What the host finds in its other words is what it posted.
[[gnu::always_inline]] inline void complete(vi& of, work_queue& queue, bool receives, uint32_t length,
                                            uint32_t status) {
    dma_entry_with_words& entry = *writes.next;
    entry.words[0] = network(length);
    entry.words[1] = network(status | abi::vi_status_done);
    write_slot(queue, entry, offsetof(abi::vi_control_segment, length));
    slot_completed(of, queue, receives);
}

// The same for the oldest receive descriptor, with the immediate data that came.
inline void complete_immediately(vi& of, uint32_t immediate, uint32_t length, uint32_t status) {
    dma_entry_with_words& entry = *writes.next;
    entry.words[0] = network(immediate);
    entry.words[1] = network(length);
    entry.words[2] = network(status | abi::vi_status_immediate | abi::vi_status_done);
    write_slot(of.receive, entry, offsetof(abi::vi_control_segment, immediate_data));
    slot_completed(of, of.receive, true);
}

// The same for a slot that the card may never have read: the status word only.
inline void complete_flushed(vi& of, work_queue& queue, bool receives) {
    dma_entry_with_words& entry = *writes.next;
    entry.words[0] = network(abi::vi_status_done | abi::vi_status_flushed_error |
                             (receives ? abi::vi_status_op_receive : abi::vi_status_op_send));
    write_slot(queue, entry, offsetof(abi::vi_control_segment, status));
    slot_completed(of, queue, receives);
}

// The oldest started send is done.
[[gnu::noinline]] inline void complete_send(vi& of) {
    const send_record& record = record_of(of, of.send.completed);
    complete(of, of.send, false, record.length, record.status);
    // Those that wait for this: a descriptor in error, and one for which there was no record.
    if (of.sending.error != 0 || of.send.next - of.send.completed >= send_records_per_vi - 1) schedule(of);
}

}  // namespace vinic::myvia
