// SPDX-License-Identifier: Apache-2.0

// NIC (facts vipl.md 4.1), device names and limits (8).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>

#include "vipl/call.h"

namespace vinic::vipl {

namespace {

constexpr VIP_ULONG provider_version = 1;

/// The card that a program of the time means; nothing for a name that is none.
std::optional<unsigned> card_named(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (lower == "/dev/via_lo" || lower == "/etc/via_lo") return 0;
    for (const std::string_view stem : {"/dev/clanvi", "/dev/via_eth", "vinic", "nic"}) {
        if (!lower.starts_with(stem)) continue;
        const std::string digits = lower.substr(stem.size());
        if (digits.empty()) return 0;
        if (digits.size() > 3 ||
            !std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
            return std::nullopt;
        return static_cast<unsigned>(std::stoul(digits));
    }
    return std::nullopt;
}

bool null_tag_allowed(const decisions& choices, std::string_view device) {
    return decisions::is(choices.null_tag, "always") ||
           (decisions::is(choices.null_tag, "clan") && device.starts_with("/dev/clanvi"));
}

}  // namespace

extern "C" {

VIP_RETURN VipOpenNic(const VIP_CHAR* DeviceName, VIP_NIC_HANDLE* NicHandle) {
    thread& t = program::current();
    if (DeviceName == nullptr || NicHandle == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    const auto card = card_named(DeviceName);
    if (!card || *card >= t.of.lib.cards().size()) return refuse(t, VIP_INVALID_PARAMETER);
    driver::kernel_agent& agent = *t.of.lib.cards()[*card];
    const auto nic = std::make_shared<nic_object>();
    const driver::status result = system_call(t, [&] {
        return agent.open(t.self, t.of.memory, t.of.notifications,
                          null_tag_allowed(t.of.lib.choices, DeviceName), nic->kernel);
    });
    if (result != driver::status::success) return to_return(result);
    nic->card = *card;
    nic->agent = &agent;
    nic->address = agent.address();
    nic->handle = t.of.nics.add(nic);
    t.of.start_callbacks();
    *NicHandle = nic->handle;
    return VIP_SUCCESS;
}

VIP_RETURN VipCloseNic(VIP_NIC_HANDLE NicHandle) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (!nic) return refuse(t, VIP_INVALID_PARAMETER);
    t.of.forget(*nic);
    system_call(t, [&] { nic->agent->close(t.self, nic->kernel); });
    return VIP_SUCCESS;
}

VIP_RETURN VipQueryNic(VIP_NIC_HANDLE NicHandle, VIP_NIC_ATTRIBUTES* NicAttribs) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (!nic || NicAttribs == nullptr) return refuse(t, VIP_INVALID_PARAMETER);
    t.self.compute(t.of.lib.call_clocks);
    const driver::card_limits& limits = nic->agent->limits();
    *NicAttribs = {};
    const std::string name = fmt::format("vinic{}", nic->card);
    std::copy(name.begin(), name.end(), NicAttribs->Name);
    NicAttribs->HardwareVersion = limits.hardware_version;
    NicAttribs->ProviderVersion = provider_version;
    NicAttribs->NicAddressLen = static_cast<VIP_UINT16>(nic->address.size());
    NicAttribs->LocalNicAddress = nic->address.data();
    NicAttribs->ThreadSafe = VIP_TRUE;
    NicAttribs->MaxDiscriminatorLen = abi::discriminator_bytes_max;
    NicAttribs->MaxRegisterBytes = std::uint64_t{limits.pages} * host::page_bytes;
    NicAttribs->MaxRegisterRegions = limits.regions;
    NicAttribs->MaxRegisterBlockBytes = nic->agent->region_mbytes_max.get() << 20;
    NicAttribs->MaxVI = limits.vis;
    NicAttribs->MaxDescriptorsPerQueue = limits.descriptors_per_queue;
    NicAttribs->MaxSegmentsPerDesc = limits.segments;
    NicAttribs->MaxCQ = limits.completion_queues;
    NicAttribs->MaxCQEntries = limits.completion_entries;
    NicAttribs->MaxTransferSize = limits.transfer_bytes;
    NicAttribs->NativeMTU = limits.mtu_bytes;
    NicAttribs->MaxPtags = nic->agent->tags_max;
    NicAttribs->ReliabilityLevelSupport = limits.reliability_mask;
    NicAttribs->RDMAReadSupport = limits.rdma_read_mask;
    return VIP_SUCCESS;
}

VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE NicHandle, VIP_PVOID Context, VIP_ERROR_HANDLER Handler) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (!nic) return refuse(t, VIP_INVALID_PARAMETER);
    t.self.compute(t.of.lib.call_clocks);
    nic->error_handler = Handler;
    nic->error_context = Context;
    return VIP_SUCCESS;
}

// The cards that this one reaches: their addresses stay valid until the next call or the NIC's close.
VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE NicHandle, VIP_ULONG InfoType, VIP_PVOID SysManInfo) {
    thread& t = program::current();
    const auto nic = t.of.nics.find(NicHandle);
    if (!nic || InfoType != VIP_SMI_AUTODISCOVERY || SysManInfo == nullptr)
        return refuse(t, VIP_INVALID_PARAMETER);
    t.self.compute(t.of.lib.name_clocks);
    auto* const list = static_cast<VIP_AUTODISCOVERY_LIST*>(SysManInfo);
    const driver::fabric_directory& fabric = nic->agent->fabric();
    nic->discovered.clear();
    nic->discovered_list.clear();
    list->NumberOfHops = 0;
    for (const driver::node_address& card : fabric.cards()) {
        const driver::route* path = fabric.find_route(nic->address, card);
        if (path == nullptr || card == nic->address) continue;
        list->NumberOfHops = std::max<VIP_ULONG>(list->NumberOfHops, path->bytes.size());
        auto& bytes = nic->discovered.emplace_back(sizeof(VIP_NET_ADDRESS) + card.size());
        to_program({.host = card}, reinterpret_cast<VIP_NET_ADDRESS*>(bytes.data()));
    }
    for (auto& bytes : nic->discovered)
        nic->discovered_list.push_back(reinterpret_cast<VIP_NET_ADDRESS*>(bytes.data()));
    list->ADAddrArray = nic->discovered_list.data();
    list->NumAdAddrs = nic->discovered_list.size();
    return VIP_SUCCESS;
}

}  // extern "C"

}  // namespace vinic::vipl
