// SPDX-License-Identifier: Apache-2.0

// Completion queues (facts vipl.md 4.7).
#include "vipl/call.h"

namespace vinic::vipl {

// Entries of VIs that the program has destroyed mean nothing any more.
bool take_entry(program& p, queue_object& queue, VIP_VI_HANDLE* vi, VIP_BOOLEAN* receive) {
    for (;;) {
        driver::completion_queue::entry entry;
        if (!queue.carried.empty()) {
            entry = queue.carried.front();
            queue.carried.pop_front();
        } else if (queue.kernel->ring->head_valid()) {
            entry = queue.kernel->ring->take();
        } else {
            return false;
        }
        if (queue.kernel->watch) queue.kernel->watch->leave(1);
        const auto found = p.vi_on_card.find({queue.nic->card, entry.vi});
        if (found == p.vi_on_card.end()) continue;
        *vi = found->second;
        *receive = entry.receive ? VIP_TRUE : VIP_FALSE;
        return true;
    }
}

namespace {

bool has_entry(const queue_object& queue) {
    return !queue.carried.empty() || queue.kernel->ring->head_valid();
}

host::poll_point look_at(const queue_object& queue) {
    const host::physical_range head = queue.kernel->ring->head();
    return {.key = head.begin, .watched = head};
}

VIP_RETURN take(thread& t, queue_object& queue, VIP_VI_HANDLE* vi, VIP_BOOLEAN* receive) {
    t.self.compute(t.of.lib.queue_done_clocks);
    return take_entry(t.of, queue, vi, receive) ? VIP_SUCCESS : VIP_NOT_DONE;
}

}  // namespace

extern "C" {

VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE NicHandle, VIP_ULONG EntryCount, VIP_CQ_HANDLE* CQHandle) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (!nic || CQHandle == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    const auto made = std::make_shared<queue_object>();
    made->nic = nic;
    const driver::status result = system_call(
        t, [&] { return nic->agent->create_queue(t.self, nic->kernel, EntryCount, made->kernel); });
    if (result != driver::status::success) return to_return(result);
    made->handle = t.of.queues.add(made);
    t.of.queue_of[made->kernel.get()] = made->handle;
    *CQHandle = made->handle;
    return VIP_SUCCESS;
}

VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE CQHandle) {
    thread& t = program::current();
    const auto queue = t.of.queues.find(CQHandle);
    if (!queue) return refuse(t, VIP_INVALID_PARAMETER);
    const driver::status result =
        system_call(t, [&] { return queue->nic->agent->destroy_queue(t.self, queue->kernel); });
    if (result != driver::status::success) return to_return(result);
    t.of.queue_of.erase(queue->kernel.get());
    t.of.queues.remove(CQHandle);
    return VIP_SUCCESS;
}

// What stands in the old ring is carried over, before anything of the new one.
VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE CQHandle, VIP_ULONG EntryCount) {
    thread& t = program::current();
    const auto queue = t.of.queues.find(CQHandle);
    if (!queue || EntryCount == 0) return refuse(t, VIP_INVALID_PARAMETER);
    const std::shared_ptr<driver::completion_queue> before = queue->kernel->ring;
    const driver::status result = system_call(t, [&] {
        if (EntryCount < queue->carried.size() + before->pending()) return driver::status::error_resource;
        return queue->nic->agent->resize_queue(t.self, queue->kernel, EntryCount);
    });
    if (result != driver::status::success) return to_return(result);
    while (before->head_valid()) queue->carried.push_back(before->take());
    queue->kernel->ring->continues(*before);
    return VIP_SUCCESS;
}

VIP_RETURN VipCQDone(VIP_CQ_HANDLE CQHandle, VIP_VI_HANDLE* ViHandle, VIP_BOOLEAN* RecvQueue) {
    thread& t = program::current();
    const auto queue = t.of.queues.find(CQHandle);
    if (!queue || ViHandle == nullptr || RecvQueue == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    host::poll_point head = look_at(*queue);
    head.cost = t.of.lib.call_clocks + t.of.lib.poll_clocks;
    if (!t.self.poll(head, [&] { return has_entry(*queue); })) return VIP_NOT_DONE;
    return take(t, *queue, ViHandle, RecvQueue);
}

VIP_RETURN VipCQWait(VIP_CQ_HANDLE CQHandle, VIP_ULONG Timeout, VIP_VI_HANDLE* ViHandle,
                     VIP_BOOLEAN* RecvQueue) {
    thread& t = program::current();
    const auto queue = t.of.queues.find(CQHandle);
    if (!queue || ViHandle == nullptr || RecvQueue == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    const sim::picoseconds deadline = deadline_after(Timeout);
    t.self.compute(t.of.lib.call_clocks);
    const std::shared_ptr<driver::queue> kernel = queue->kernel;
    for (;;) {
        const bool in_time = wait_until(
            t, deadline, [&] { return !kernel->alive || has_entry(*queue); }, [&] { return look_at(*queue); },
            [&] { kernel->ring->arm(t.self); },
            [&] { return queue->nic->agent->wait_queue_entry(t.self, kernel, deadline); });
        if (!in_time) return VIP_TIMEOUT;
        if (!kernel->alive) return VIP_INVALID_PARAMETER;
        // Another thread may have been faster.
        if (take(t, *queue, ViHandle, RecvQueue) == VIP_SUCCESS) return VIP_SUCCESS;
    }
}

}  // extern "C"

}  // namespace vinic::vipl
