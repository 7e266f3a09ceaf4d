// SPDX-License-Identifier: Apache-2.0

// Peer-to-peer connections (facts vipl.md 4.5).
#include "vipl/call.h"

namespace vinic::vipl {

namespace {

VIP_RETURN peer_done(VIP_VI_HANDLE handle, bool wait, VIP_VI_ATTRIBUTES* remote) {
    thread& t = program::current();
    const auto vi = t.of.vis.find(handle);
    if (!vi || remote == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    driver::vi_attributes attributes;
    const driver::status result = system_call(
        t, [&] { return vi->nic->agent->connecting.peer_done(t.self, vi->kernel, wait, attributes); });
    if (result == driver::status::success) *remote = to_program(attributes, nullptr);
    return to_return(result);
}

}  // namespace

extern "C" {

VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr,
                                 VIP_NET_ADDRESS* RemoteAddr, VIP_ULONG Timeout) {
    thread& t = program::current();
    const auto vi = t.of.vis.find(ViHandle);
    if (!vi || LocalAddr == nullptr || RemoteAddr == nullptr || Timeout == 0)
        return refuse(t, VIP_INVALID_PARAMETER);
    const auto local = to_kernel(*LocalAddr);
    const auto remote = to_kernel(*RemoteAddr);
    if (!local || !remote) return refuse(t, VIP_INVALID_PARAMETER);
    const sim::picoseconds deadline = deadline_after(Timeout);
    return to_return(system_call(t, [&] {
        return vi->nic->agent->connecting.peer_request(t.self, vi->kernel, *local, *remote, deadline);
    }));
}

VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
    return peer_done(ViHandle, false, RemoteViAttribs);
}

VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
    return peer_done(ViHandle, true, RemoteViAttribs);
}

}  // extern "C"

}  // namespace vinic::vipl
