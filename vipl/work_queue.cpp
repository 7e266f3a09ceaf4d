// SPDX-License-Identifier: Apache-2.0

// Send queue and receive queue (facts vipl.md 3, 4.6).
#include <array>
#include <cstddef>

#include "firmware/abi/vi_descriptor.h"
#include "vipl/call.h"

namespace vinic::vipl {

namespace {

constexpr std::uint64_t control_bytes = sizeof(abi::vi_control_segment);
constexpr std::uint64_t segment_bytes = sizeof(abi::vi_data_segment);

/// Whether the library may read `bytes` of descriptor: they lie in the memory of that handle, whose tag is
/// the VI's.
bool readable(const program& p, const vi_object& vi, host::virtual_address at, std::uint64_t bytes,
              VIP_MEM_HANDLE handle) {
    const auto known = p.regions.find({vi.nic->card, handle});
    if (known == p.regions.end()) return false;
    const registered_memory& memory = known->second;
    const driver::instance& nic = *vi.nic->kernel;
    const driver::protection_tag tag = nic.null_tag_allowed ? nic.default_tag : vi.kernel->attributes.tag;
    return tag == memory.kernel_tag && at >= memory.address && bytes <= memory.length &&
           at - memory.address <= memory.length - bytes && p.memory.valid(at, bytes);
}

/// Reads as much of the descriptor as a slot holds; false when it is not where it says it is.
bool read_descriptor(const program& p, const vi_object& vi, host::virtual_address at, VIP_MEM_HANDLE handle,
                     std::span<std::byte, driver::descriptor_bytes> into) {
    if (at % VIP_DESCRIPTOR_ALIGNMENT != 0 || !readable(p, vi, at, control_bytes, handle)) return false;
    p.memory.read(at, into.first(control_bytes));
    abi::vi_control_segment control;
    std::memcpy(&control, into.data(), sizeof control);
    const std::uint64_t all = control_bytes + control.segment_count * segment_bytes;
    if (!readable(p, vi, at, all, handle)) return false;
    p.memory.read(at, into.first(std::min<std::uint64_t>(all, into.size())));
    return true;
}

void write_status(program& p, host::virtual_address descriptor, std::uint32_t status) {
    p.memory.write(descriptor + offsetof(abi::vi_control_segment, status),
                   std::as_bytes(std::span(&status, 1)));
}

std::uint32_t length_in(std::span<const std::byte, driver::descriptor_bytes> descriptor) {
    abi::vi_control_segment control;
    std::memcpy(&control, descriptor.data(), sizeof control);
    return control.length;
}

/// A descriptor goes to the card or has come back; `slot`: address of the status word that completes it;
/// `queued`: how many its queue then has.
void report(thread& t, const vi_object& vi, sim::picoseconds begin, const char* call,
            host::physical_address slot, std::uint32_t bytes, std::uint32_t queued) {
    t.of.lib.call_probe.report(begin, sim::now(), call,
                               {{"card", vi.nic->card},
                                {"vi", vi.kernel->index},
                                {"slot", slot},
                                {"bytes", bytes},
                                {"process", t.self.number()},
                                {"queued", queued}});
}

VIP_RETURN fail(thread& t, const vi_object& vi, driver::error_code code, host::virtual_address descriptor,
                VIP_RETURN result) {
    t.self.trap([&] { vi.nic->agent->fail_vi(t.self, vi.kernel, code, descriptor); });
    return result;
}

VIP_RETURN post(VIP_VI_HANDLE handle, bool receive, const VIP_DESCRIPTOR* descriptor,
                VIP_MEM_HANDLE memory_handle) {
    thread& t = program::current();
    const auto vi = t.of.vis.find(handle);
    if (!vi) return refuse(t, VIP_INVALID_PARAMETER);
    const library& lib = t.of.lib;
    if (!receive && decisions::is(lib.choices.send_unconnected, "invalid_state") &&
        vi->kernel->state != driver::vi_state::connected)
        return refuse(t, VIP_INVALID_STATE);
    const sim::picoseconds begin = sim::now();
    t.self.compute(lib.call_clocks + lib.post_clocks);
    const auto where = static_cast<host::virtual_address>(reinterpret_cast<std::uintptr_t>(descriptor));
    std::array<std::byte, driver::descriptor_bytes> bytes{};
    if (!read_descriptor(t.of, *vi, where, memory_handle, bytes))
        return fail(t, *vi, driver::error_code::post_descriptor, where, VIP_SUCCESS);
    if (vi->kernel->work(receive)->full())
        return fail(t, *vi, driver::error_code::vi_overrun, where, VIP_ERROR_RESOURCE);
    write_status(t.of, where, 0);
    const host::physical_address slot = vi->kernel->work(receive)->tail().begin;
    vi->kernel->work(receive)->post(t.self, bytes, where, memory_handle);
    vi->kernel->queue_changed(receive);
    t.of.lib.posts.add();
    if (!receive) t.of.lib.messages.add();
    report(t, *vi, begin, receive ? "VipPostRecv" : "VipPostSend", slot, length_in(bytes),
           vi->kernel->work(receive)->outstanding());
    return VIP_SUCCESS;
}

VIP_RETURN nothing_posted(thread& t, VIP_DESCRIPTOR** descriptor) {
    *descriptor = nullptr;
    return refuse(t, VIP_DESCRIPTOR_ERROR);
}

// An empty look is one poll and nothing else, so that a program that waits by calling this sleeps
// (host::process::poll).
VIP_RETURN done(VIP_VI_HANDLE handle, bool receive, VIP_DESCRIPTOR** descriptor) {
    thread& t = program::current();
    const auto vi = t.of.vis.find(handle);
    if (!vi || descriptor == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    const driver::work_queue& queue = *vi->kernel->work(receive);
    if (queue.empty()) return nothing_posted(t, descriptor);
    const host::poll_point head{.key = queue.head().begin,
                                .cost = t.of.lib.call_clocks + t.of.lib.poll_clocks,
                                .watched = queue.head()};
    if (!t.self.poll(head, [&] { return queue.head_done(); })) return VIP_NOT_DONE;
    return take_descriptor(t, *vi, receive, descriptor);
}

VIP_RETURN wait(VIP_VI_HANDLE handle, bool receive, VIP_ULONG timeout, VIP_DESCRIPTOR** descriptor) {
    thread& t = program::current();
    const auto vi = t.of.vis.find(handle);
    if (!vi || descriptor == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    const auto& with_queue = t.of.lib.choices.wait_with_queue;
    if (vi->queue(receive) && !decisions::is(with_queue, "allow"))
        return refuse(
            t, decisions::is(with_queue, "invalid_parameter") ? VIP_INVALID_PARAMETER : VIP_ERROR_RESOURCE);
    const std::shared_ptr<driver::vi> kernel = vi->kernel;
    driver::work_queue& queue = *kernel->work(receive);
    if (queue.empty()) return nothing_posted(t, descriptor);
    const sim::picoseconds deadline = deadline_after(timeout);
    t.self.compute(t.of.lib.call_clocks);
    // Another thread may take the last descriptor, or destroy the VI, meanwhile.
    const auto ready = [&] { return !kernel->alive || queue.empty() || queue.head_done(); };
    const bool in_time = wait_until(
        t, deadline, ready,
        [&] { return host::poll_point{.key = queue.head().begin, .watched = queue.head()}; },
        [&] { queue.arm(t.self); },
        [&] { return vi->nic->agent->wait_work(t.self, kernel, receive, deadline); });
    if (!in_time) return VIP_TIMEOUT;
    if (!kernel->alive) return VIP_INVALID_PARAMETER;
    if (queue.empty()) return nothing_posted(t, descriptor);
    return take_descriptor(t, *vi, receive, descriptor);
}

}  // namespace

// The program's descriptor gets what the card wrote: status last (facts vipl.md 7).
VIP_RETURN take_descriptor(thread& t, vi_object& vi, bool receive, VIP_DESCRIPTOR** descriptor) {
    const sim::picoseconds begin = sim::now();
    const host::physical_address slot = vi.kernel->work(receive)->head().begin;
    const driver::descriptor_completion completion = vi.kernel->work(receive)->take();
    const std::uint32_t queued = vi.kernel->work(receive)->outstanding();
    vi.kernel->queue_changed(receive);
    t.self.compute(t.of.lib.done_clocks);
    t.of.lib.completions.add();
    const std::array<std::uint32_t, 2> results{completion.immediate_data, completion.length};
    static_assert(offsetof(abi::vi_control_segment, length) ==
                  offsetof(abi::vi_control_segment, immediate_data) + sizeof(std::uint32_t));
    if (t.of.memory.valid(completion.descriptor, control_bytes)) {
        t.of.memory.write(completion.descriptor + offsetof(abi::vi_control_segment, immediate_data),
                          std::as_bytes(std::span(results)));
        write_status(t.of, completion.descriptor, completion.status);
    }
    *descriptor = reinterpret_cast<VIP_DESCRIPTOR*>(completion.descriptor);
    report(t, vi, begin, receive ? "VipRecvDone" : "VipSendDone", slot, completion.length, queued);
    return (completion.status & VIP_STATUS_ERROR_MASK) != 0 ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS;
}

extern "C" {

VIP_RETURN VipPostSend(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr, VIP_MEM_HANDLE MemoryHandle) {
    return post(ViHandle, false, DescriptorPtr, MemoryHandle);
}

VIP_RETURN VipPostRecv(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr, VIP_MEM_HANDLE MemoryHandle) {
    return post(ViHandle, true, DescriptorPtr, MemoryHandle);
}

VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
    return done(ViHandle, false, DescriptorPtr);
}

VIP_RETURN VipRecvDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
    return done(ViHandle, true, DescriptorPtr);
}

VIP_RETURN VipSendWait(VIP_VI_HANDLE ViHandle, VIP_ULONG TimeOut, VIP_DESCRIPTOR** DescriptorPtr) {
    return wait(ViHandle, false, TimeOut, DescriptorPtr);
}

VIP_RETURN VipRecvWait(VIP_VI_HANDLE ViHandle, VIP_ULONG TimeOut, VIP_DESCRIPTOR** DescriptorPtr) {
    return wait(ViHandle, true, TimeOut, DescriptorPtr);
}

}  // extern "C"

}  // namespace vinic::vipl
