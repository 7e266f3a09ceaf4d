// SPDX-License-Identifier: Apache-2.0

// Protection tags and memory (facts vipl.md 4.2).
#include "vipl/call.h"

namespace vinic::vipl {

namespace {

/// Null attributes: default tag, no RDMA, where null tags are allowed.
driver::memory_attributes attributes_of(const program& p, const nic_object& nic,
                                        const VIP_MEM_ATTRIBUTES* given) {
    if (given == nullptr) return {};
    return {.tag = kernel_tag(p, nic, given->Ptag),
            .rdma_write = given->EnableRdmaWrite != VIP_FALSE,
            .rdma_read = given->EnableRdmaRead != VIP_FALSE};
}

driver::protection_tag compared(const nic_object& nic, driver::protection_tag tag) {
    return nic.kernel->null_tag_allowed ? nic.kernel->default_tag : tag;
}

host::virtual_address address_of(VIP_PVOID pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

extern "C" {

VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE* ProtectionTag) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (!nic || ProtectionTag == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    const auto made = std::make_shared<tag_object>();
    made->nic = nic;
    const driver::status result =
        system_call(t, [&] { return nic->agent->create_tag(t.self, nic->kernel, made->kernel); });
    if (result == driver::status::success) *ProtectionTag = t.of.tags.add(made);
    return to_return(result);
}

VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE ProtectionTag) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    const auto tag = t.of.tags.find(ProtectionTag);
    if (!nic || !tag || tag->nic != nic) return refuse(t, VIP_INVALID_PARAMETER);
    const driver::status result =
        system_call(t, [&] { return nic->agent->destroy_tag(t.self, nic->kernel, tag->kernel); });
    if (result == driver::status::success) t.of.tags.remove(ProtectionTag);
    return to_return(result);
}

VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress, VIP_ULONG Length,
                          VIP_MEM_ATTRIBUTES* MemAttribs, VIP_MEM_HANDLE* MemoryHandle) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (!nic || VirtualAddress == nullptr || MemoryHandle == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    const driver::memory_attributes attributes = attributes_of(t.of, *nic, MemAttribs);
    std::uint32_t handle = 0;
    const driver::status result = system_call(t, [&] {
        return nic->agent->register_memory(t.self, nic->kernel, address_of(VirtualAddress), Length,
                                           attributes, handle);
    });
    if (result != driver::status::success) return to_return(result);
    t.of.regions[{nic->card, handle}] = {.address = address_of(VirtualAddress),
                                         .length = Length,
                                         .tag = MemAttribs ? MemAttribs->Ptag : nullptr,
                                         .kernel_tag = compared(*nic, attributes.tag),
                                         .owner = nic.get()};
    *MemoryHandle = handle;
    return VIP_SUCCESS;
}

VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress, VIP_MEM_HANDLE MemoryHandle) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (!nic) return refuse(t, VIP_INVALID_PARAMETER);
    const driver::status result = system_call(t, [&] {
        return nic->agent->deregister_memory(t.self, nic->kernel, address_of(VirtualAddress), MemoryHandle);
    });
    if (result == driver::status::success) t.of.regions.erase({nic->card, MemoryHandle});
    return to_return(result);
}

VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address, VIP_MEM_HANDLE MemoryHandle,
                               VIP_MEM_ATTRIBUTES* MemAttribs) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (!nic || MemAttribs == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    const driver::memory_attributes attributes = attributes_of(t.of, *nic, MemAttribs);
    const driver::status result = system_call(t, [&] {
        return nic->agent->set_memory(t.self, nic->kernel, address_of(Address), MemoryHandle, attributes);
    });
    if (result != driver::status::success) return to_return(result);
    registered_memory& known = t.of.regions[{nic->card, MemoryHandle}];
    known.tag = MemAttribs->Ptag;
    known.kernel_tag = compared(*nic, attributes.tag);
    return VIP_SUCCESS;
}

VIP_RETURN VipQueryMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address, VIP_MEM_HANDLE MemoryHandle,
                       VIP_MEM_ATTRIBUTES* MemAttribs) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (!nic || MemAttribs == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    driver::memory_attributes attributes;
    const driver::status result = system_call(t, [&] {
        return nic->agent->query_memory(t.self, nic->kernel, address_of(Address), MemoryHandle, attributes);
    });
    if (result != driver::status::success) return to_return(result);
    *MemAttribs = {.Ptag = t.of.regions[{nic->card, MemoryHandle}].tag,
                   .EnableRdmaWrite = attributes.rdma_write ? VIP_TRUE : VIP_FALSE,
                   .EnableRdmaRead = attributes.rdma_read ? VIP_TRUE : VIP_FALSE};
    return VIP_SUCCESS;
}

}  // extern "C"

}  // namespace vinic::vipl
