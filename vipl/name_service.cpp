// SPDX-License-Identifier: Apache-2.0

// Name service (facts vipl.md 4.8).
#include <string>

#include "vipl/call.h"

namespace vinic::vipl {

namespace {

/// A NIC whose name service may be asked; else what to answer.
VIP_RETURN check(const program& p, const std::shared_ptr<nic_object>& nic) {
    if (!nic) return VIP_INVALID_PARAMETER;
    const bool strict = decisions::is(p.lib.choices.name_service, "strict");
    return strict && nic->name_service_users == 0 ? VIP_ERROR_NAMESERVICE : VIP_SUCCESS;
}

}  // namespace

extern "C" {

VIP_RETURN VipNSInit(VIP_NIC_HANDLE NicHandle, VIP_PVOID) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (!nic) return refuse(t, VIP_INVALID_PARAMETER);
    t.self.compute(t.of.lib.name_clocks);
    ++nic->name_service_users;
    return VIP_SUCCESS;
}

VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE NicHandle) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (!nic) return refuse(t, VIP_INVALID_PARAMETER);
    t.self.compute(t.of.lib.name_clocks);
    if (nic->name_service_users > 0) --nic->name_service_users;
    return VIP_SUCCESS;
}

// "localhost" is this card. Presets of the buffer are ignored, nothing is written behind the host address.
VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE NicHandle, VIP_CHAR* Name, VIP_NET_ADDRESS* Address,
                              VIP_ULONG NameIndex) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (Name == nullptr || Address == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    if (const VIP_RETURN code = check(t.of, nic); code != VIP_SUCCESS) return refuse(t, code);
    t.self.compute(t.of.lib.name_clocks);
    const std::string name = Name;
    std::vector<driver::node_address> found{nic->address};
    if (name != "localhost") found = nic->agent->fabric().addresses_of(name, nic->agent->rail());
    if (NameIndex >= found.size()) return VIP_ERROR_NAMESERVICE;
    to_program({.host = found[NameIndex]}, Address);
    return VIP_SUCCESS;
}

VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* Address, VIP_CHAR* Name,
                              VIP_ULONG* NameLen) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (Address == nullptr || Name == nullptr || NameLen == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    if (const VIP_RETURN code = check(t.of, nic); code != VIP_SUCCESS) return refuse(t, code);
    t.self.compute(t.of.lib.name_clocks);
    const auto address = to_kernel(*Address);
    if (!address) return VIP_INVALID_PARAMETER;
    const std::string* name = nic->agent->fabric().host_of(address->host);
    if (name == nullptr) return VIP_ERROR_NAMESERVICE;
    const VIP_ULONG room = *NameLen;
    *NameLen = name->size();
    if (room <= name->size()) return VIP_ERROR_RESOURCE;
    std::memcpy(Name, name->c_str(), name->size() + 1);
    return VIP_SUCCESS;
}

}  // extern "C"

}  // namespace vinic::vipl
