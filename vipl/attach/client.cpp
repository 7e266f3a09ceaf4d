// SPDX-License-Identifier: Apache-2.0

// libvipl: the functions of vipl.h for a program outside the simulator. Each packs its arguments, as the
// table in functions.h says, and asks. No logic of VIPL is here.
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
#include "vipl/vipl.h"
#pragma GCC visibility pop

#include "vipl/attach/connection.h"
#include "vipl/attach/functions.h"
#include "vipl/attach/window.h"

namespace vinic::vipl::attach {

namespace {

// --- What comes back in pieces: kept here, because the structures only point at it.

/// Addresses of cards, each once, for as long as the program runs.
const VIP_UINT8* kept_address(const VIP_UINT8* bytes, VIP_UINT16 length) {
    struct kept {
        kept* next;
        VIP_UINT16 length;
        VIP_UINT8 bytes[1];
    };
    static std::atomic<kept*> first{nullptr};
    for (const kept* k = first; k != nullptr; k = k->next)
        if (k->length == length && memcmp(k->bytes, bytes, length) == 0) return k->bytes;
    kept* const made = static_cast<kept*>(malloc(sizeof(kept) + length));
    if (made == nullptr) return nullptr;
    made->length = length;
    memcpy(made->bytes, bytes, length);
    made->next = first;
    while (!first.compare_exchange_weak(made->next, made)) {
    }
    return made->bytes;
}

/// The list is valid until the next call.
void take_discovery(payload_reader& from, VIP_AUTODISCOVERY_LIST& to) {
    static VIP_NET_ADDRESS** addresses = nullptr;
    from.get(&to.NumberOfHops, sizeof to.NumberOfHops);
    from.get(&to.NumAdAddrs, sizeof to.NumAdAddrs);
    free(addresses);
    constexpr std::size_t each = address_bytes_max;
    addresses = static_cast<VIP_NET_ADDRESS**>(malloc(to.NumAdAddrs * (sizeof(VIP_NET_ADDRESS*) + each) + 1));
    if (addresses == nullptr) to.NumAdAddrs = 0;
    std::byte* room = reinterpret_cast<std::byte*>(addresses + to.NumAdAddrs);
    for (VIP_ULONG i = 0; i < to.NumAdAddrs; ++i, room += each) {
        addresses[i] = reinterpret_cast<VIP_NET_ADDRESS*>(room);
        from.get(room, address_header);
        from.get(room + address_header, bytes_of(*addresses[i]) - address_header);
    }
    to.ADAddrArray = addresses;
}

// --- Parameters.

template <typename T>
std::uint64_t word_of(T value) {
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<std::uintptr_t>(value);
    else
        return static_cast<std::uint64_t>(value);
}

template <way Way, typename T>
void put(payload_writer& to, T* at) {
    using type = std::remove_const_t<T>;
    if constexpr (std::is_same_v<type, VIP_CHAR>) {
        if constexpr (Way == way::in) to.put(at, strnlen(at, name_bytes_max - 1));
        if constexpr (Way == way::in) to.put("", 1);
    } else if constexpr (std::is_same_v<type, VIP_NET_ADDRESS>) {
        if constexpr (Way == way::in) to.put(at, bytes_of(*at));
    } else if constexpr (!std::is_same_v<type, VIP_NIC_ATTRIBUTES>) {
        to.put(at, sizeof *at);
    }
}

template <typename T>
void take(payload_reader& from, T* at, bool success) {
    if constexpr (std::is_same_v<T, VIP_CHAR>) {
        char last = 1;
        for (VIP_CHAR* to = at; success && last != 0; ++to) {
            from.get(&last, 1);
            *to = last;
        }
    } else if constexpr (std::is_same_v<T, VIP_NET_ADDRESS>) {
        if (!success) return;
        from.get(at, address_header);
        from.get(reinterpret_cast<std::byte*>(at) + address_header, bytes_of(*at) - address_header);
    } else if constexpr (std::is_same_v<T, VIP_NIC_ATTRIBUTES>) {
        if (!success) return;
        from.get(at, sizeof *at);
        VIP_UINT8 address[address_bytes_max];
        from.get(address, at->NicAddressLen);
        at->LocalNicAddress = kept_address(address, at->NicAddressLen);
    } else {
        from.get(at, sizeof *at);
    }
}

template <way Way, typename T>
void put_parameter(slot& s, std::size_t i, payload_writer& to, T value) {
    s.words[i] = word_of(value);
    if constexpr (Way == way::in || Way == way::out)
        if (value != nullptr) put<Way>(to, value);
}

template <way Way, typename T>
void take_parameter(payload_reader& from, T value, bool success) {
    if constexpr (Way == way::out)
        if (value != nullptr) take(from, value, success);
    if constexpr (Way == way::discovery)
        if (value != nullptr && success) take_discovery(from, *static_cast<VIP_AUTODISCOVERY_LIST*>(value));
}

// --- Calls.

/// Memory that cannot be shared is refused by the simulator, which does not know it.
void share(slot& s, VIP_NIC_HANDLE, VIP_PVOID address, VIP_ULONG length, VIP_MEM_ATTRIBUTES*,
           VIP_MEM_HANDLE*) {
    if (address != nullptr && length > 0) share_pages(s, reinterpret_cast<std::uintptr_t>(address), length);
}

template <auto Function, way... Ways, std::size_t... I, typename... P>
VIP_RETURN call(std::integer_sequence<way, Ways...>, std::index_sequence<I...>, P... values) {
    const held_slot s;
    if (s == nullptr) {
        say_why_not();
        return VIP_ERROR_RESOURCE;
    }
    if constexpr (((Ways == way::handler) || ...)) start_callback_thread();
    if constexpr (same_function<Function, &VipRegisterMem>) share(*s, values...);
    payload_writer out(s->payload);
    (put_parameter<Ways>(*s, I, out, values), ...);
    if (!ask(*s, number_of<Function>())) return VIP_ERROR_RESOURCE;
    const auto code = static_cast<VIP_RETURN>(s->result);
    payload_reader back(s->payload);
    (take_parameter<Ways>(back, values, code == VIP_SUCCESS), ...);
    return code;
}

template <auto Function, typename... P>
VIP_RETURN remote(P... values) {
    using ways = typename table::at<number_of<Function>()>::ways;
    static_assert(ways::size() == sizeof...(P));
    return call<Function>(ways{}, std::index_sequence_for<P...>{}, values...);
}

}  // namespace

}  // namespace vinic::vipl::attach

using vinic::vipl::attach::remote;

extern "C" {
VIP_RETURN VipOpenNic(const VIP_CHAR* DeviceName, VIP_NIC_HANDLE* NicHandle) {
    return remote<&VipOpenNic>(DeviceName, NicHandle);
}
VIP_RETURN VipCloseNic(VIP_NIC_HANDLE NicHandle) { return remote<&VipCloseNic>(NicHandle); }
VIP_RETURN VipQueryNic(VIP_NIC_HANDLE NicHandle, VIP_NIC_ATTRIBUTES* NicAttribs) {
    return remote<&VipQueryNic>(NicHandle, NicAttribs);
}
VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE NicHandle, VIP_PVOID Context, VIP_ERROR_HANDLER Handler) {
    return remote<&VipErrorCallback>(NicHandle, Context, Handler);
}
VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE NicHandle, VIP_ULONG InfoType, VIP_PVOID SysManInfo) {
    return remote<&VipQuerySystemManagementInfo>(NicHandle, InfoType, SysManInfo);
}
VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE* ProtectionTag) {
    return remote<&VipCreatePtag>(NicHandle, ProtectionTag);
}
VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE ProtectionTag) {
    return remote<&VipDestroyPtag>(NicHandle, ProtectionTag);
}
VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress, VIP_ULONG Length,
                          VIP_MEM_ATTRIBUTES* MemAttribs, VIP_MEM_HANDLE* MemoryHandle) {
    return remote<&VipRegisterMem>(NicHandle, VirtualAddress, Length, MemAttribs, MemoryHandle);
}
VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress, VIP_MEM_HANDLE MemoryHandle) {
    return remote<&VipDeregisterMem>(NicHandle, VirtualAddress, MemoryHandle);
}
VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address, VIP_MEM_HANDLE MemoryHandle,
                               VIP_MEM_ATTRIBUTES* MemAttribs) {
    return remote<&VipSetMemAttributes>(NicHandle, Address, MemoryHandle, MemAttribs);
}
VIP_RETURN VipQueryMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address, VIP_MEM_HANDLE MemoryHandle,
                       VIP_MEM_ATTRIBUTES* MemAttribs) {
    return remote<&VipQueryMem>(NicHandle, Address, MemoryHandle, MemAttribs);
}
VIP_RETURN VipCreateVi(VIP_NIC_HANDLE NicHandle, VIP_VI_ATTRIBUTES* ViAttribs, VIP_CQ_HANDLE SendCQHandle,
                       VIP_CQ_HANDLE RecvCQHandle, VIP_VI_HANDLE* ViHandle) {
    return remote<&VipCreateVi>(NicHandle, ViAttribs, SendCQHandle, RecvCQHandle, ViHandle);
}
VIP_RETURN VipDestroyVi(VIP_VI_HANDLE ViHandle) { return remote<&VipDestroyVi>(ViHandle); }
VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* ViAttribs) {
    return remote<&VipSetViAttributes>(ViHandle, ViAttribs);
}
VIP_RETURN VipQueryVi(VIP_VI_HANDLE ViHandle, VIP_VI_STATE* State, VIP_VI_ATTRIBUTES* ViAttribs,
                      VIP_BOOLEAN* SendQueueEmpty, VIP_BOOLEAN* RecvQueueEmpty) {
    return remote<&VipQueryVi>(ViHandle, State, ViAttribs, SendQueueEmpty, RecvQueueEmpty);
}
VIP_RETURN VipConnectWait(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* LocalAddr, VIP_ULONG Timeout,
                          VIP_NET_ADDRESS* RemoteAddr, VIP_VI_ATTRIBUTES* RemoteViAttribs,
                          VIP_CONN_HANDLE* ConnHandle) {
    return remote<&VipConnectWait>(NicHandle, LocalAddr, Timeout, RemoteAddr, RemoteViAttribs, ConnHandle);
}
VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE ConnHandle, VIP_VI_HANDLE ViHandle) {
    return remote<&VipConnectAccept>(ConnHandle, ViHandle);
}
VIP_RETURN VipConnectReject(VIP_CONN_HANDLE ConnHandle) { return remote<&VipConnectReject>(ConnHandle); }
VIP_RETURN VipConnectRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr, VIP_NET_ADDRESS* RemoteAddr,
                             VIP_ULONG Timeout, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
    return remote<&VipConnectRequest>(ViHandle, LocalAddr, RemoteAddr, Timeout, RemoteViAttribs);
}
VIP_RETURN VipDisconnect(VIP_VI_HANDLE ViHandle) { return remote<&VipDisconnect>(ViHandle); }
VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr,
                                 VIP_NET_ADDRESS* RemoteAddr, VIP_ULONG Timeout) {
    return remote<&VipConnectPeerRequest>(ViHandle, LocalAddr, RemoteAddr, Timeout);
}
VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
    return remote<&VipConnectPeerDone>(ViHandle, RemoteViAttribs);
}
VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
    return remote<&VipConnectPeerWait>(ViHandle, RemoteViAttribs);
}
VIP_RETURN VipPostSend(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr, VIP_MEM_HANDLE MemoryHandle) {
    return remote<&VipPostSend>(ViHandle, DescriptorPtr, MemoryHandle);
}
VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
    return remote<&VipSendDone>(ViHandle, DescriptorPtr);
}
VIP_RETURN VipSendWait(VIP_VI_HANDLE ViHandle, VIP_ULONG TimeOut, VIP_DESCRIPTOR** DescriptorPtr) {
    return remote<&VipSendWait>(ViHandle, TimeOut, DescriptorPtr);
}
VIP_RETURN VipSendNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context, VIP_VI_CALLBACK Handler) {
    return remote<&VipSendNotify>(ViHandle, Context, Handler);
}
VIP_RETURN VipPostRecv(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr, VIP_MEM_HANDLE MemoryHandle) {
    return remote<&VipPostRecv>(ViHandle, DescriptorPtr, MemoryHandle);
}
VIP_RETURN VipRecvDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
    return remote<&VipRecvDone>(ViHandle, DescriptorPtr);
}
VIP_RETURN VipRecvWait(VIP_VI_HANDLE ViHandle, VIP_ULONG TimeOut, VIP_DESCRIPTOR** DescriptorPtr) {
    return remote<&VipRecvWait>(ViHandle, TimeOut, DescriptorPtr);
}
VIP_RETURN VipRecvNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context, VIP_VI_CALLBACK Handler) {
    return remote<&VipRecvNotify>(ViHandle, Context, Handler);
}
VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE NicHandle, VIP_ULONG EntryCount, VIP_CQ_HANDLE* CQHandle) {
    return remote<&VipCreateCQ>(NicHandle, EntryCount, CQHandle);
}
VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE CQHandle) { return remote<&VipDestroyCQ>(CQHandle); }
VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE CQHandle, VIP_ULONG EntryCount) {
    return remote<&VipResizeCQ>(CQHandle, EntryCount);
}
VIP_RETURN VipCQDone(VIP_CQ_HANDLE CQHandle, VIP_VI_HANDLE* ViHandle, VIP_BOOLEAN* RecvQueue) {
    return remote<&VipCQDone>(CQHandle, ViHandle, RecvQueue);
}
VIP_RETURN VipCQWait(VIP_CQ_HANDLE CQHandle, VIP_ULONG Timeout, VIP_VI_HANDLE* ViHandle,
                     VIP_BOOLEAN* RecvQueue) {
    return remote<&VipCQWait>(CQHandle, Timeout, ViHandle, RecvQueue);
}
VIP_RETURN VipCQNotify(VIP_CQ_HANDLE CQHandle, VIP_PVOID Context, VIP_CQ_CALLBACK Handler) {
    return remote<&VipCQNotify>(CQHandle, Context, Handler);
}
VIP_RETURN VipNSInit(VIP_NIC_HANDLE NicHandle, VIP_PVOID NSInitInfo) {
    return remote<&VipNSInit>(NicHandle, NSInitInfo);
}
VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE NicHandle, VIP_CHAR* Name, VIP_NET_ADDRESS* Address,
                              VIP_ULONG NameIndex) {
    return remote<&VipNSGetHostByName>(NicHandle, Name, Address, NameIndex);
}
VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* Address, VIP_CHAR* Name,
                              VIP_ULONG* NameLen) {
    return remote<&VipNSGetHostByAddr>(NicHandle, Address, Name, NameLen);
}
VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE NicHandle) { return remote<&VipNSShutdown>(NicHandle); }
}  // extern "C"
