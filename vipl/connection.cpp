// SPDX-License-Identifier: Apache-2.0

// Client/server connections (facts vipl.md 4.4).
#include "vipl/call.h"

namespace vinic::vipl {

extern "C" {

VIP_RETURN VipConnectWait(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* LocalAddr, VIP_ULONG Timeout,
                          VIP_NET_ADDRESS* RemoteAddr, VIP_VI_ATTRIBUTES* RemoteViAttribs,
                          VIP_CONN_HANDLE* ConnHandle) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    const decisions& choices = t.of.lib.choices;
    if (!nic || LocalAddr == nullptr || RemoteAddr == nullptr || RemoteViAttribs == nullptr ||
        ConnHandle == nullptr ||
        (Timeout == 0 && decisions::is(choices.wait_timeout_zero, "invalid_parameter")))
        return refuse(t, VIP_INVALID_PARAMETER);
    // The local host part is not looked at: programs leave it uninitialised.
    const auto local = to_kernel(*LocalAddr);
    if (!local) return refuse(t, VIP_INVALID_PARAMETER);
    const bool any = local->discriminator.empty() && decisions::is(choices.empty_discriminator, "any");
    const sim::picoseconds deadline = deadline_after(Timeout);
    const auto offered = std::make_shared<connection_object>();
    offered->nic = nic;
    const driver::status result = system_call(t, [&] {
        return nic->agent->connecting.wait(t.self, nic->kernel, *local, any, deadline, offered->kernel);
    });
    if (result != driver::status::success) return to_return(result);
    const VIP_CONN_HANDLE handle = t.of.connections.add(offered);
    if (handle == nullptr) {
        system_call(t, [&] { return nic->agent->connecting.reject(t.self, offered->kernel); });
        return VIP_ERROR_RESOURCE;
    }
    to_program(offered->kernel->client_address, RemoteAddr);
    *RemoteViAttribs = to_program(offered->kernel->client_attributes, nullptr);
    *ConnHandle = handle;
    return VIP_SUCCESS;
}

// After a failure for which the caller is to blame the request still stands (facts vipl.md 4.4).
VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE ConnHandle, VIP_VI_HANDLE ViHandle) {
    thread& t = program::current();
    const auto offered = t.of.connections.find(ConnHandle);
    const auto vi = t.of.vis.find(ViHandle);
    if (!offered || !vi || offered->nic->agent != vi->nic->agent) return refuse(t, VIP_INVALID_PARAMETER);
    const driver::status result = system_call(
        t, [&] { return offered->nic->agent->connecting.accept(t.self, offered->kernel, vi->kernel); });
    if (result == driver::status::success || result == driver::status::timeout)
        t.of.connections.remove(ConnHandle);
    return to_return(result);
}

VIP_RETURN VipConnectReject(VIP_CONN_HANDLE ConnHandle) {
    thread& t = program::current();
    const auto offered = t.of.connections.find(ConnHandle);
    if (!offered) return refuse(t, VIP_INVALID_PARAMETER);
    t.of.connections.remove(ConnHandle);
    return to_return(
        system_call(t, [&] { return offered->nic->agent->connecting.reject(t.self, offered->kernel); }));
}

VIP_RETURN VipConnectRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr, VIP_NET_ADDRESS* RemoteAddr,
                             VIP_ULONG Timeout, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
    thread& t = program::current();
    const auto vi = t.of.vis.find(ViHandle);
    if (!vi || LocalAddr == nullptr || RemoteAddr == nullptr || RemoteViAttribs == nullptr || Timeout == 0)
        return refuse(t, VIP_INVALID_PARAMETER);
    const auto local = to_kernel(*LocalAddr);
    const auto remote = to_kernel(*RemoteAddr);
    if (!local || !remote) return refuse(t, VIP_INVALID_PARAMETER);
    const sim::picoseconds deadline = deadline_after(Timeout);
    driver::vi_attributes attributes;
    const driver::status result = system_call(t, [&] {
        const driver::status answer =
            vi->nic->agent->connecting.request(t.self, vi->kernel, *local, *remote, deadline, attributes);
        if (answer != driver::status::not_reachable ||
            decisions::is(t.of.lib.choices.unknown_host, "not_reachable"))
            return answer;
        t.self.sleep_until(deadline);
        return driver::status::timeout;
    });
    if (result == driver::status::success) *RemoteViAttribs = to_program(attributes, nullptr);
    return to_return(result);
}

VIP_RETURN VipDisconnect(VIP_VI_HANDLE ViHandle) {
    thread& t = program::current();
    const auto vi = t.of.vis.find(ViHandle);
    if (!vi) return refuse(t, VIP_INVALID_PARAMETER);
    return to_return(
        system_call(t, [&] { return vi->nic->agent->connecting.disconnect(t.self, vi->kernel); }));
}

}  // extern "C"

}  // namespace vinic::vipl
