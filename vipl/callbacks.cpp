// SPDX-License-Identifier: Apache-2.0

// Handlers of the program: asynchronous errors (facts vipl.md 6.3) and the notify functions (4.6, 4.7). They
// run on a thread of their own, as in the libraries of the time.
#include "vipl/call.h"
#include "vipl/notify.h"

namespace vinic::vipl {

namespace {

VIP_RESOURCE_CODE resource_of(driver::error_code code) {
    switch (code) {
        case driver::error_code::post_descriptor:
            return VIP_RESOURCE_DESCRIPTOR;
        case driver::error_code::catastrophic:
            return VIP_RESOURCE_NIC;
        default:
            return VIP_RESOURCE_VI;
    }
}

VIP_ULONG operation_of(driver::error_code code) {
    switch (code) {
        case driver::error_code::receive_queue_empty:
            return VIP_STATUS_OP_RECEIVE;
        case driver::error_code::rdma_write_protection:
        case driver::error_code::rdma_write_data:
        case driver::error_code::rdma_write_abort:
            return VIP_STATUS_OP_REMOTE_RDMA_WRITE;
        case driver::error_code::rdma_read_protection:
            return VIP_STATUS_OP_RDMA_READ;
        default:
            return 0;
    }
}

std::shared_ptr<nic_object> nic_of(const program& p, const driver::notification& what) {
    for (const VIP_PVOID handle : p.nics.all())
        if (auto nic = p.nics.find(handle); nic->kernel == what.nic) return nic;
    return nullptr;
}

std::shared_ptr<vi_object> vi_of(const program& p, const nic_object& nic, const driver::vi* kernel) {
    if (kernel == nullptr) return nullptr;
    const auto found = p.vi_on_card.find({nic.card, kernel->index});
    const auto vi = found == p.vi_on_card.end() ? nullptr : p.vis.find(found->second);
    return vi && vi->kernel.get() == kernel ? vi : nullptr;
}

// Without a handler of the program's the error is only logged.
void report_error(thread& t, const nic_object& nic, const driver::notification& what) {
    const auto vi = vi_of(t.of, nic, what.on.get());
    t.of.lib.error_probe.report(sim::now(), sim::now(), "asynchronous error",
                                {{"code", static_cast<std::uint64_t>(what.code)},
                                 {"vi", what.on ? what.on->index : ~std::uint64_t{0}}});
    if (nic.error_handler == nullptr) return;
    VIP_ERROR_DESCRIPTOR error{.NicHandle = nic.handle,
                               .ViHandle = vi ? vi->handle : nullptr,
                               .CQHandle = nullptr,
                               .DescriptorPtr = reinterpret_cast<VIP_DESCRIPTOR*>(what.descriptor),
                               .OpCode = operation_of(what.code),
                               .ResourceCode = resource_of(what.code),
                               .ErrorCode = static_cast<VIP_ERROR_CODE>(what.code)};
    nic.error_handler(nic.error_context, &error);
}

void run_notify(thread& t, const std::shared_ptr<vi_object>& vi, bool receive) {
    auto& waiting = vi->notify(receive);
    while (!waiting.empty() && vi->kernel->alive && vi->kernel->work(receive)->head_done()) {
        const auto callback = waiting.front();
        waiting.pop_front();
        VIP_DESCRIPTOR* descriptor = nullptr;
        take_descriptor(t, *vi, receive, &descriptor);
        callback.handler(callback.context, vi->nic->handle, vi->handle, descriptor);
    }
    if (!waiting.empty()) expect_completion(t, *vi, receive);
}

void run_notify(thread& t, const std::shared_ptr<queue_object>& queue) {
    while (!queue->notify.empty() && queue->kernel->alive) {
        VIP_VI_HANDLE vi = nullptr;
        VIP_BOOLEAN receive = VIP_FALSE;
        if (!take_entry(t.of, *queue, &vi, &receive)) break;
        const auto callback = queue->notify.front();
        queue->notify.pop_front();
        callback.handler(callback.context, queue->nic->handle, vi, receive);
    }
    if (!queue->notify.empty()) expect_entry(t, *queue);
}

void run(thread& t, const driver::notification& what) {
    const auto nic = nic_of(t.of, what);
    if (!nic) return;
    switch (what.what) {
        case driver::notification::kind::error:
            return report_error(t, *nic, what);
        case driver::notification::kind::work_queue:
            if (const auto vi = vi_of(t.of, *nic, what.on.get())) run_notify(t, vi, what.receive);
            return;
        case driver::notification::kind::completion_queue:
            if (const auto found = t.of.queue_of.find(what.cq.get()); found != t.of.queue_of.end())
                if (const auto queue = t.of.queues.find(found->second)) run_notify(t, queue);
            return;
        case driver::notification::kind::closed:
            return;
    }
}

}  // namespace

// The event of the card and the look that the kernel takes behind it leave no gap.
void expect_completion(thread& t, vi_object& vi, bool receive) {
    vi.kernel->work(receive)->arm(t.self);
    t.self.trap([&] { vi.nic->agent->notify_work(t.self, vi.kernel, receive); });
}

void expect_entry(thread& t, queue_object& queue) {
    queue.kernel->ring->arm(t.self);
    t.self.trap([&] { queue.nic->agent->notify_queue(t.self, queue.kernel); });
}

void program::start_callbacks() {
    if (callbacks_started_) return;
    callbacks_started_ = true;
    lib.processor().spawn(name_ + ".callbacks", nullptr,
                          [self = shared_from_this()](host::process& on) { self->run_callbacks(on); });
}

void program::run_callbacks(host::process& on) {
    const scope mine(*this, on);
    while (!exited_) {
        const driver::notification what = on.trap([&] { return notifications.next(on); });
        if (what.what != driver::notification::kind::closed) on.compute(lib.callback_clocks);
        if (exited_) return;  // the program's handlers are gone with it
        run(current(), what);
        // A handler may have changed what the program polls.
        for (host::process* other : threads_)
            if (other != &on) other->disturb();
    }
}

}  // namespace vinic::vipl
