// SPDX-License-Identifier: Apache-2.0

// VI life cycle (facts vipl.md 4.3).
#include "vipl/call.h"

namespace vinic::vipl {

namespace {

bool queues_empty(const vi_object& vi) {
    return vi.kernel->queues.send->empty() && vi.kernel->queues.receive->empty();
}

void forget(program& p, const vi_object& vi) {
    for (const auto& queue : {vi.send_queue, vi.receive_queue})
        if (queue) std::erase_if(queue->carried, [&](const auto& e) { return e.vi == vi.kernel->index; });
    p.vi_on_card.erase({vi.nic->card, vi.kernel->index});
    p.vis.remove(vi.handle);
}

}  // namespace

extern "C" {

VIP_RETURN VipCreateVi(VIP_NIC_HANDLE NicHandle, VIP_VI_ATTRIBUTES* ViAttribs, VIP_CQ_HANDLE SendCQHandle,
                       VIP_CQ_HANDLE RecvCQHandle, VIP_VI_HANDLE* ViHandle) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    const auto send = t.of.queues.find(SendCQHandle);
    const auto receive = t.of.queues.find(RecvCQHandle);
    const auto usable = [&](VIP_CQ_HANDLE handle, const std::shared_ptr<queue_object>& queue) {
        return handle == nullptr || (queue && nic && queue->nic->agent == nic->agent);
    };
    if (!nic || ViAttribs == nullptr || ViHandle == nullptr || !usable(SendCQHandle, send) ||
        !usable(RecvCQHandle, receive))
        return refuse(t, VIP_INVALID_PARAMETER);
    const auto made = std::make_shared<vi_object>();
    const driver::vi_attributes attributes = to_kernel(t.of, *nic, *ViAttribs);
    const driver::status result = system_call(t, [&] {
        return nic->agent->create_vi(t.self, nic->kernel, attributes, send ? send->kernel : nullptr,
                                     receive ? receive->kernel : nullptr, made->kernel);
    });
    if (result != driver::status::success) return to_return(result);
    made->nic = nic;
    made->tag = ViAttribs->Ptag;
    made->send_queue = send;
    made->receive_queue = receive;
    made->handle = t.of.vis.add(made);
    t.of.vi_on_card[{nic->card, made->kernel->index}] = made->handle;
    *ViHandle = made->handle;
    return VIP_SUCCESS;
}

VIP_RETURN VipDestroyVi(VIP_VI_HANDLE ViHandle) {
    thread& t = program::current();
    const auto vi = t.of.vis.find(ViHandle);
    if (!vi) return refuse(t, VIP_INVALID_PARAMETER);
    const bool force = decisions::is(t.of.lib.choices.destroy_busy, "force");
    driver::kernel_agent& agent = *vi->nic->agent;
    const driver::status result = system_call(t, [&] {
        if (force) agent.connecting.disconnect(t.self, vi->kernel);
        if (!force && vi->kernel->state == driver::vi_state::idle && !queues_empty(*vi))
            return driver::status::error_resource;
        return agent.destroy_vi(t.self, vi->kernel);
    });
    if (result == driver::status::success) forget(t.of, *vi);
    return to_return(result);
}

VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* ViAttribs) {
    thread& t = program::current();
    const auto vi = t.of.vis.find(ViHandle);
    if (!vi || ViAttribs == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    const driver::vi_attributes attributes = to_kernel(t.of, *vi->nic, *ViAttribs);
    const driver::status result =
        system_call(t, [&] { return vi->nic->agent->set_vi(t.self, vi->kernel, attributes); });
    if (result == driver::status::success) vi->tag = ViAttribs->Ptag;
    return to_return(result);
}

VIP_RETURN VipQueryVi(VIP_VI_HANDLE ViHandle, VIP_VI_STATE* State, VIP_VI_ATTRIBUTES* ViAttribs,
                      VIP_BOOLEAN* SendQueueEmpty, VIP_BOOLEAN* RecvQueueEmpty) {
    thread& t = program::current();
    const auto vi = t.of.vis.find(ViHandle);
    if (!vi || State == nullptr || ViAttribs == nullptr || SendQueueEmpty == nullptr ||
        RecvQueueEmpty == nullptr)
        return refuse(t, VIP_INVALID_PARAMETER);
    driver::vi_state state{};
    driver::vi_attributes attributes;
    system_call(t, [&] { vi->nic->agent->query_vi(t.self, *vi->kernel, state, attributes); });
    *State = static_cast<VIP_VI_STATE>(state);
    *ViAttribs = to_program(attributes, vi->tag);
    *SendQueueEmpty = vi->kernel->queues.send->empty() ? VIP_TRUE : VIP_FALSE;
    *RecvQueueEmpty = vi->kernel->queues.receive->empty() ? VIP_TRUE : VIP_FALSE;
    return VIP_SUCCESS;
}

}  // extern "C"

}  // namespace vinic::vipl
