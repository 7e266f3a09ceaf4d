// SPDX-License-Identifier: Apache-2.0

// The notify functions (facts vipl.md 4.6, 4.7): one registration, one completion; in order.
#include "vipl/notify.h"

#include "vipl/call.h"

namespace vinic::vipl {

namespace {

VIP_RETURN notify_work(VIP_VI_HANDLE handle, bool receive, VIP_PVOID context, VIP_VI_CALLBACK handler) {
    thread& t = program::current();
    const auto vi = t.of.vis.find(handle);
    if (!vi || handler == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    t.self.compute(t.of.lib.call_clocks);
    vi->notify(receive).push_back({.context = context, .handler = handler});
    expect_completion(t, *vi, receive);
    return VIP_SUCCESS;
}

}  // namespace

extern "C" {

VIP_RETURN VipSendNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context, VIP_VI_CALLBACK Handler) {
    return notify_work(ViHandle, false, Context, Handler);
}

VIP_RETURN VipRecvNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context, VIP_VI_CALLBACK Handler) {
    return notify_work(ViHandle, true, Context, Handler);
}

VIP_RETURN VipCQNotify(VIP_CQ_HANDLE CQHandle, VIP_PVOID Context, VIP_CQ_CALLBACK Handler) {
    thread& t = program::current();
    const auto queue = t.of.queues.find(CQHandle);
    if (!queue || Handler == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    t.self.compute(t.of.lib.call_clocks);
    queue->notify.push_back({.context = Context, .handler = Handler});
    expect_entry(t, *queue);
    return VIP_SUCCESS;
}

}  // extern "C"

}  // namespace vinic::vipl
