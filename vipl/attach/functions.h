// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions of vipl.h as they cross from program to simulator: one table, from which both sides are made.

#include <cstddef>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "vipl/attach/channel.h"
#include "vipl/vipl.h"

namespace vinic::vipl::attach {

/// What a parameter is to who marshals it.
enum class way {
    value,      ///< a number, a handle, or an address that means something in the program only
    in,         ///< what it points at goes to the simulator
    out,        ///< what it points at comes back; a function that writes nothing there leaves it as it was
    context,    ///< what the program's handler gets; the handler is the next parameter
    handler,    ///< a function of the program
    discovery,  ///< VIP_AUTODISCOVERY_LIST, whose addresses come back too
};

template <auto Function, way... Ways>
struct entry {
    static constexpr auto function = Function;
    using ways = std::integer_sequence<way, Ways...>;
};

template <typename... Entries>
struct list {
    static constexpr std::size_t size = sizeof...(Entries);
    template <std::size_t I>
    using at = std::tuple_element_t<I, std::tuple<Entries...>>;
};

using table = list<
    // NIC
    entry<&VipOpenNic, way::in, way::out>,                                         //
    entry<&VipCloseNic, way::value>,                                               //
    entry<&VipQueryNic, way::value, way::out>,                                     //
    entry<&VipErrorCallback, way::value, way::context, way::handler>,              //
    entry<&VipQuerySystemManagementInfo, way::value, way::value, way::discovery>,  //
    // Protection tags and memory
    entry<&VipCreatePtag, way::value, way::out>,                                    //
    entry<&VipDestroyPtag, way::value, way::value>,                                 //
    entry<&VipRegisterMem, way::value, way::value, way::value, way::in, way::out>,  //
    entry<&VipDeregisterMem, way::value, way::value, way::value>,                   //
    entry<&VipSetMemAttributes, way::value, way::value, way::value, way::in>,       //
    entry<&VipQueryMem, way::value, way::value, way::value, way::out>,              //
    // VI
    entry<&VipCreateVi, way::value, way::in, way::value, way::value, way::out>,  //
    entry<&VipDestroyVi, way::value>,                                            //
    entry<&VipSetViAttributes, way::value, way::in>,                             //
    entry<&VipQueryVi, way::value, way::out, way::out, way::out, way::out>,      //
    // Connections
    entry<&VipConnectWait, way::value, way::in, way::value, way::out, way::out, way::out>,  //
    entry<&VipConnectAccept, way::value, way::value>,                                       //
    entry<&VipConnectReject, way::value>,                                                   //
    entry<&VipConnectRequest, way::value, way::in, way::in, way::value, way::out>,          //
    entry<&VipDisconnect, way::value>,                                                      //
    entry<&VipConnectPeerRequest, way::value, way::in, way::in, way::value>,                //
    entry<&VipConnectPeerDone, way::value, way::out>,                                       //
    entry<&VipConnectPeerWait, way::value, way::out>,                                       //
    // Queues
    entry<&VipPostSend, way::value, way::value, way::value>,        //
    entry<&VipSendDone, way::value, way::out>,                      //
    entry<&VipSendWait, way::value, way::value, way::out>,          //
    entry<&VipSendNotify, way::value, way::context, way::handler>,  //
    entry<&VipPostRecv, way::value, way::value, way::value>,        //
    entry<&VipRecvDone, way::value, way::out>,                      //
    entry<&VipRecvWait, way::value, way::value, way::out>,          //
    entry<&VipRecvNotify, way::value, way::context, way::handler>,  //
    // Completion queues
    entry<&VipCreateCQ, way::value, way::value, way::out>,          //
    entry<&VipDestroyCQ, way::value>,                               //
    entry<&VipResizeCQ, way::value, way::value>,                    //
    entry<&VipCQDone, way::value, way::out, way::out>,              //
    entry<&VipCQWait, way::value, way::value, way::out, way::out>,  //
    entry<&VipCQNotify, way::value, way::context, way::handler>,    //
    // Name service
    entry<&VipNSInit, way::value, way::value>,                              //
    entry<&VipNSGetHostByName, way::value, way::in, way::out, way::value>,  //
    entry<&VipNSGetHostByAddr, way::value, way::in, way::out, way::out>,    //
    entry<&VipNSShutdown, way::value>>;
static_assert(table::size == 41);

template <auto A, auto B>
inline constexpr bool same_function = false;
template <auto A>
inline constexpr bool same_function<A, A> = true;

/// The number of a function in the table.
template <auto Function, std::size_t I = 0>
constexpr std::size_t number_of() {
    if constexpr (same_function<Function, table::at<I>::function>)
        return I;
    else
        return number_of<Function, I + 1>();
}

/// A call's payload: its pieces in the order of the parameters. Nothing is written or read behind the end.
class payload_writer {
public:
    explicit payload_writer(std::byte* at) : at_(at), end_(at + payload_bytes) {}
    void put(const void* bytes, std::size_t count) {
        if (static_cast<std::size_t>(end_ - at_) < count) count = static_cast<std::size_t>(end_ - at_);
        std::memcpy(at_, bytes, count);
        at_ += count;
    }

private:
    std::byte* at_;
    std::byte* end_;
};

class payload_reader {
public:
    explicit payload_reader(const std::byte* at) : at_(at), end_(at + payload_bytes) {}
    /// Zeros where there is nothing.
    void get(void* into, std::size_t count) {
        const std::size_t left = static_cast<std::size_t>(end_ - at_);
        const std::size_t there = count < left ? count : left;
        std::memcpy(into, at_, there);
        std::memset(static_cast<std::byte*>(into) + there, 0, count - there);
        at_ += there;
    }

private:
    const std::byte* at_;
    const std::byte* end_;
};

/// Where an address ends; of one whose lengths make no address, only those are of interest.
inline constexpr std::size_t address_header = offsetof(VIP_NET_ADDRESS, HostAddress);
inline constexpr std::size_t address_bytes_max = 128;
inline std::size_t bytes_of(const VIP_NET_ADDRESS& a) {
    const std::size_t all = address_header + std::size_t{a.HostAddressLen} + a.DiscriminatorLen;
    return all <= address_bytes_max ? all : address_header;
}
inline constexpr std::size_t name_bytes_max = 1024;

}  // namespace vinic::vipl::attach
