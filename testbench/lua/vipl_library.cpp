// SPDX-License-Identifier: Apache-2.0
// VIPL for scripts: the same names; what C returns through pointers comes behind the status. Structures are
// tables with the fields of vipl.h; a network address is {host = "...", discriminator = "..."}.
#include <array>
#include <cstring>

#include "testbench/lua/libraries.h"
#include "testbench/lua/memory.h"
#include "testbench/lua/stack.h"
#include "vipl/return_names.h"
#include "vipl/vipl.h"

namespace vinic::testbench::lua {

namespace {

// --- Values ------------------------------------------------------------------------------------------------

VIP_PVOID handle_argument(lua_State* L, int index, const char* what) {
    if (lua_isnoneornil(L, index)) return nullptr;
    if (!lua_islightuserdata(L, index)) wrong_argument(L, index, what, "a handle");
    return lua_touserdata(L, index);
}

void push_handle(lua_State* L, VIP_PVOID handle) {
    if (handle)
        lua_pushlightuserdata(L, handle);
    else
        lua_pushnil(L);
}

VIP_PVOID handle_field(lua_State* L, int index, const char* name) {
    lua_getfield(L, index, name);
    VIP_PVOID handle = handle_argument(L, -1, name);
    lua_pop(L, 1);
    return handle;
}

VIP_MEM_HANDLE memory_handle_argument(lua_State* L, int index) {
    return static_cast<VIP_MEM_HANDLE>(unsigned_argument(L, index, "memory handle"));
}

VIP_ULONG timeout_argument(lua_State* L, int index) {
    return lua_isnoneornil(L, index) ? VIP_INFINITE : unsigned_argument(L, index, "timeout");
}

int push_status(lua_State* L, VIP_RETURN status) {
    lua_pushinteger(L, status);
    return 1;
}

/// A network address with room for what VIPL writes behind the structure.
union address_buffer {
    VIP_NET_ADDRESS address;
    std::array<std::uint8_t, 128> bytes;

    static constexpr std::size_t room = 120;
    VIP_NET_ADDRESS* get(bool there = true) { return there ? &address : nullptr; }
};

address_buffer address_argument(lua_State* L, int index) {
    address_buffer buffer{.bytes = {}};
    if (!lua_istable(L, index)) wrong_argument(L, index, "address", "a table with host and discriminator");
    const std::string host = text_field(L, index, "host", "");
    const std::string discriminator = text_field(L, index, "discriminator", "");
    if (host.size() + discriminator.size() > address_buffer::room)
        throw script_error("address: host and discriminator are too long");
    buffer.address.HostAddressLen = static_cast<VIP_UINT16>(host.size());
    buffer.address.DiscriminatorLen = static_cast<VIP_UINT16>(discriminator.size());
    std::memcpy(buffer.bytes.data() + 4, host.data(), host.size());
    std::memcpy(buffer.bytes.data() + 4 + host.size(), discriminator.data(), discriminator.size());
    return buffer;
}

void push_address(lua_State* L, const address_buffer& buffer) {
    const char* text = reinterpret_cast<const char*>(buffer.bytes.data()) + 4;
    const std::size_t host = std::min<std::size_t>(buffer.address.HostAddressLen, address_buffer::room);
    const std::size_t rest =
        std::min<std::size_t>(buffer.address.DiscriminatorLen, address_buffer::room - host);
    lua_newtable(L);
    lua_pushlstring(L, text, host);
    lua_setfield(L, -2, "host");
    lua_pushlstring(L, text + host, rest);
    lua_setfield(L, -2, "discriminator");
}

VIP_VI_ATTRIBUTES vi_attributes_argument(lua_State* L, int index) {
    if (!lua_istable(L, index)) wrong_argument(L, index, "VI attributes", "a table");
    VIP_VI_ATTRIBUTES a{};
    a.ReliabilityLevel = static_cast<VIP_RELIABILITY_LEVEL>(
        integer_field(L, index, "ReliabilityLevel", VIP_SERVICE_UNRELIABLE));
    a.MaxTransferSize = static_cast<VIP_ULONG>(integer_field(L, index, "MaxTransferSize", 65536));
    a.QoS = handle_field(L, index, "QoS");
    a.Ptag = handle_field(L, index, "Ptag");
    a.EnableRdmaWrite = flag_field(L, index, "EnableRdmaWrite", false);
    a.EnableRdmaRead = flag_field(L, index, "EnableRdmaRead", false);
    return a;
}

void set_integer(lua_State* L, const char* name, std::uint64_t value) {
    lua_pushinteger(L, static_cast<lua_Integer>(value));
    lua_setfield(L, -2, name);
}

void set_flag(lua_State* L, const char* name, bool value) {
    lua_pushboolean(L, value);
    lua_setfield(L, -2, name);
}

void push_vi_attributes(lua_State* L, const VIP_VI_ATTRIBUTES& a) {
    lua_newtable(L);
    set_integer(L, "ReliabilityLevel", a.ReliabilityLevel);
    set_integer(L, "MaxTransferSize", a.MaxTransferSize);
    push_handle(L, a.QoS);
    lua_setfield(L, -2, "QoS");
    push_handle(L, a.Ptag);
    lua_setfield(L, -2, "Ptag");
    set_flag(L, "EnableRdmaWrite", a.EnableRdmaWrite);
    set_flag(L, "EnableRdmaRead", a.EnableRdmaRead);
}

VIP_MEM_ATTRIBUTES memory_attributes_argument(lua_State* L, int index) {
    VIP_MEM_ATTRIBUTES a{};
    if (!lua_istable(L, index)) wrong_argument(L, index, "memory attributes", "a table");
    a.Ptag = handle_field(L, index, "Ptag");
    a.EnableRdmaWrite = flag_field(L, index, "EnableRdmaWrite", false);
    a.EnableRdmaRead = flag_field(L, index, "EnableRdmaRead", false);
    return a;
}

// --- Shapes that several functions have
// ----------------------------------------------------------------------

/// status = Function(handle)
template <VIP_RETURN (*Function)(VIP_PVOID)>
int of_handle(lua_State* L, script& self) {
    self.current();
    return push_status(L, Function(handle_argument(L, 1, "handle")));
}

/// status = Function(handle, handle)
template <VIP_RETURN (*Function)(VIP_PVOID, VIP_PVOID)>
int of_two_handles(lua_State* L, script& self) {
    self.current();
    return push_status(L, Function(handle_argument(L, 1, "handle"), handle_argument(L, 2, "handle")));
}

/// status = Function(vi, descriptor, memory handle)
template <VIP_RETURN (*Function)(VIP_VI_HANDLE, VIP_DESCRIPTOR*, VIP_MEM_HANDLE)>
int post(lua_State* L, script& self) {
    self.current();
    return push_status(L, Function(handle_argument(L, 1, "VI"), descriptor_argument(L, 2, "descriptor").at,
                                   memory_handle_argument(L, 3)));
}

/// status, descriptor = Function(vi)
template <VIP_RETURN (*Function)(VIP_VI_HANDLE, VIP_DESCRIPTOR**)>
int done(lua_State* L, script& self) {
    self.current();
    VIP_DESCRIPTOR* descriptor = nullptr;
    push_status(L, Function(handle_argument(L, 1, "VI"), &descriptor));
    push_descriptor(L, descriptor);
    return 2;
}

/// status, descriptor = Function(vi, milliseconds)
template <VIP_RETURN (*Function)(VIP_VI_HANDLE, VIP_ULONG, VIP_DESCRIPTOR**)>
int wait(lua_State* L, script& self) {
    self.current();
    VIP_DESCRIPTOR* descriptor = nullptr;
    push_status(L, Function(handle_argument(L, 1, "VI"), timeout_argument(L, 2), &descriptor));
    push_descriptor(L, descriptor);
    return 2;
}

// --- NIC, tags, memory
// ---------------------------------------------------------------------------------------

int open_nic(lua_State* L, script& self) {
    self.current();
    VIP_NIC_HANDLE nic = nullptr;
    push_status(L, VipOpenNic(text_argument(L, 1, "device").c_str(), &nic));
    push_handle(L, nic);
    return 2;
}

int query_nic(lua_State* L, script& self) {
    self.current();
    VIP_NIC_ATTRIBUTES a{};
    const VIP_RETURN status = VipQueryNic(handle_argument(L, 1, "NIC"), &a);
    push_status(L, status);
    if (status != VIP_SUCCESS) return 1;
    lua_newtable(L);
    push(L, a.Name);
    lua_setfield(L, -2, "Name");
    lua_pushlstring(L, reinterpret_cast<const char*>(a.LocalNicAddress), a.NicAddressLen);
    lua_setfield(L, -2, "LocalNicAddress");
    set_flag(L, "ThreadSafe", a.ThreadSafe);
    for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::uint64_t>>{
             {"HardwareVersion", a.HardwareVersion},
             {"ProviderVersion", a.ProviderVersion},
             {"NicAddressLen", a.NicAddressLen},
             {"MaxDiscriminatorLen", a.MaxDiscriminatorLen},
             {"MaxRegisterBytes", a.MaxRegisterBytes},
             {"MaxRegisterRegions", a.MaxRegisterRegions},
             {"MaxRegisterBlockBytes", a.MaxRegisterBlockBytes},
             {"MaxVI", a.MaxVI},
             {"MaxDescriptorsPerQueue", a.MaxDescriptorsPerQueue},
             {"MaxSegmentsPerDesc", a.MaxSegmentsPerDesc},
             {"MaxCQ", a.MaxCQ},
             {"MaxCQEntries", a.MaxCQEntries},
             {"MaxTransferSize", a.MaxTransferSize},
             {"NativeMTU", a.NativeMTU},
             {"MaxPtags", a.MaxPtags},
             {"ReliabilityLevelSupport", a.ReliabilityLevelSupport},
             {"RDMAReadSupport", a.RDMAReadSupport}})
        set_integer(L, name, value);
    return 2;
}

int create_ptag(lua_State* L, script& self) {
    self.current();
    VIP_PROTECTION_HANDLE tag = nullptr;
    push_status(L, VipCreatePtag(handle_argument(L, 1, "NIC"), &tag));
    push_handle(L, tag);
    return 2;
}

/// status, handle = VipRegisterMem(nic, memory, attributes [, offset, bytes])
int register_memory(lua_State* L, script& self) {
    self.current();
    const memory_block& block = memory_argument(L, 2, "VipRegisterMem");
    VIP_MEM_ATTRIBUTES attributes = memory_attributes_argument(L, 3);
    const std::uint64_t offset = lua_isnoneornil(L, 4) ? 0 : unsigned_argument(L, 4, "offset");
    if (offset > block.bytes) throw script_error("VipRegisterMem: the offset lies outside of the memory");
    const std::uint64_t bytes =
        lua_isnoneornil(L, 5) ? block.bytes - offset : unsigned_argument(L, 5, "bytes");
    VIP_MEM_HANDLE handle = 0;
    push_status(
        L, VipRegisterMem(handle_argument(L, 1, "NIC"), block.begin + offset, bytes, &attributes, &handle));
    lua_pushinteger(L, handle);
    return 2;
}

/// status = VipDeregisterMem(nic, memory, handle [, offset])
int deregister_memory(lua_State* L, script& self) {
    self.current();
    const memory_block& block = memory_argument(L, 2, "VipDeregisterMem");
    const std::uint64_t offset = lua_isnoneornil(L, 4) ? 0 : unsigned_argument(L, 4, "offset");
    return push_status(L, VipDeregisterMem(handle_argument(L, 1, "NIC"), block.begin + offset,
                                           memory_handle_argument(L, 3)));
}

// --- VI and connections
// ----------------------------------------------------------------------------------------

int create_vi(lua_State* L, script& self) {
    self.current();
    VIP_VI_ATTRIBUTES attributes = vi_attributes_argument(L, 2);
    VIP_VI_HANDLE vi = nullptr;
    push_status(L, VipCreateVi(handle_argument(L, 1, "NIC"), &attributes, handle_argument(L, 3, "send CQ"),
                               handle_argument(L, 4, "receive CQ"), &vi));
    push_handle(L, vi);
    return 2;
}

/// status, state, attributes, send queue empty, receive queue empty = VipQueryVi(vi)
int query_vi(lua_State* L, script& self) {
    self.current();
    VIP_VI_STATE state{};
    VIP_VI_ATTRIBUTES attributes{};
    VIP_BOOLEAN send_empty = VIP_FALSE;
    VIP_BOOLEAN receive_empty = VIP_FALSE;
    push_status(L, VipQueryVi(handle_argument(L, 1, "VI"), &state, &attributes, &send_empty, &receive_empty));
    lua_pushinteger(L, state);
    push_vi_attributes(L, attributes);
    lua_pushboolean(L, send_empty);
    lua_pushboolean(L, receive_empty);
    return 5;
}

int set_vi_attributes(lua_State* L, script& self) {
    self.current();
    VIP_VI_ATTRIBUTES attributes = vi_attributes_argument(L, 2);
    return push_status(L, VipSetViAttributes(handle_argument(L, 1, "VI"), &attributes));
}

/// status, remote address, remote attributes, connection = VipConnectWait(nic, local address [, ms])
int connect_wait(lua_State* L, script& self) {
    self.current();
    address_buffer local = address_argument(L, 2);
    address_buffer remote{.bytes = {}};
    VIP_VI_ATTRIBUTES attributes{};
    VIP_CONN_HANDLE connection = nullptr;
    const VIP_RETURN status = VipConnectWait(handle_argument(L, 1, "NIC"), local.get(),
                                             timeout_argument(L, 3), remote.get(), &attributes, &connection);
    push_status(L, status);
    if (status != VIP_SUCCESS) return 1;
    push_address(L, remote);
    push_vi_attributes(L, attributes);
    push_handle(L, connection);
    return 4;
}

/// status, remote attributes = VipConnectRequest(vi, local address, remote address [, ms])
int connect_request(lua_State* L, script& self) {
    self.current();
    address_buffer local = address_argument(L, 2);
    address_buffer remote = address_argument(L, 3);
    VIP_VI_ATTRIBUTES attributes{};
    push_status(L, VipConnectRequest(handle_argument(L, 1, "VI"), local.get(), remote.get(),
                                     timeout_argument(L, 4), &attributes));
    push_vi_attributes(L, attributes);
    return 2;
}

// --- Completion queues, names
// ----------------------------------------------------------------------------------

int create_cq(lua_State* L, script& self) {
    self.current();
    VIP_CQ_HANDLE queue = nullptr;
    push_status(L, VipCreateCQ(handle_argument(L, 1, "NIC"), unsigned_argument(L, 2, "entries"), &queue));
    push_handle(L, queue);
    return 2;
}

int resize_cq(lua_State* L, script& self) {
    self.current();
    return push_status(L, VipResizeCQ(handle_argument(L, 1, "CQ"), unsigned_argument(L, 2, "entries")));
}

int push_entry(lua_State* L, VIP_RETURN status, VIP_VI_HANDLE vi, VIP_BOOLEAN receive) {
    push_status(L, status);
    push_handle(L, vi);
    lua_pushboolean(L, receive == VIP_TRUE);
    return 3;
}

/// status, vi, whether its receive queue = VipCQDone(cq)
int cq_done(lua_State* L, script& self) {
    self.current();
    VIP_VI_HANDLE vi = nullptr;
    VIP_BOOLEAN receive = VIP_FALSE;
    const VIP_RETURN status = VipCQDone(handle_argument(L, 1, "CQ"), &vi, &receive);
    return push_entry(L, status, vi, receive);
}

int cq_wait(lua_State* L, script& self) {
    self.current();
    VIP_VI_HANDLE vi = nullptr;
    VIP_BOOLEAN receive = VIP_FALSE;
    const VIP_RETURN status = VipCQWait(handle_argument(L, 1, "CQ"), timeout_argument(L, 2), &vi, &receive);
    return push_entry(L, status, vi, receive);
}

int name_service_init(lua_State* L, script& self) {
    self.current();
    return push_status(L, VipNSInit(handle_argument(L, 1, "NIC"), nullptr));
}

/// status, address = VipNSGetHostByName(nic, name [, index])
int host_by_name(lua_State* L, script& self) {
    self.current();
    std::string name = text_argument(L, 2, "name");
    address_buffer address{.bytes = {}};
    push_status(L, VipNSGetHostByName(handle_argument(L, 1, "NIC"), name.data(), address.get(),
                                      lua_isnoneornil(L, 3) ? 0 : unsigned_argument(L, 3, "index")));
    push_address(L, address);
    return 2;
}

/// status_name(status): "VIP_NOT_DONE".
int status_name(lua_State* L, script&) {
    const std::int64_t status = integer_argument(L, 1, "status_name");
    if (status < 0 || status >= static_cast<std::int64_t>(vipl::return_names.size()))
        throw script_error("status_name: expected a status of VIPL");
    lua_pushstring(L, vipl::return_names[static_cast<std::size_t>(status)]);
    return 1;
}

constexpr luaL_Reg functions[] = {
    {"VipOpenNic", guarded<open_nic>},
    {"VipCloseNic", guarded<of_handle<VipCloseNic>>},
    {"VipQueryNic", guarded<query_nic>},
    {"VipCreatePtag", guarded<create_ptag>},
    {"VipDestroyPtag", guarded<of_two_handles<VipDestroyPtag>>},
    {"VipRegisterMem", guarded<register_memory>},
    {"VipDeregisterMem", guarded<deregister_memory>},
    {"VipCreateVi", guarded<create_vi>},
    {"VipDestroyVi", guarded<of_handle<VipDestroyVi>>},
    {"VipSetViAttributes", guarded<set_vi_attributes>},
    {"VipQueryVi", guarded<query_vi>},
    {"VipConnectWait", guarded<connect_wait>},
    {"VipConnectAccept", guarded<of_two_handles<VipConnectAccept>>},
    {"VipConnectReject", guarded<of_handle<VipConnectReject>>},
    {"VipConnectRequest", guarded<connect_request>},
    {"VipDisconnect", guarded<of_handle<VipDisconnect>>},
    {"VipPostSend", guarded<post<VipPostSend>>},
    {"VipSendDone", guarded<done<VipSendDone>>},
    {"VipSendWait", guarded<wait<VipSendWait>>},
    {"VipPostRecv", guarded<post<VipPostRecv>>},
    {"VipRecvDone", guarded<done<VipRecvDone>>},
    {"VipRecvWait", guarded<wait<VipRecvWait>>},
    {"VipCreateCQ", guarded<create_cq>},
    {"VipDestroyCQ", guarded<of_handle<VipDestroyCQ>>},
    {"VipResizeCQ", guarded<resize_cq>},
    {"VipCQDone", guarded<cq_done>},
    {"VipCQWait", guarded<cq_wait>},
    {"VipNSInit", guarded<name_service_init>},
    {"VipNSGetHostByName", guarded<host_by_name>},
    {"VipNSShutdown", guarded<of_handle<VipNSShutdown>>},
    {"status_name", guarded<status_name>},
};

constexpr std::pair<const char*, std::uint64_t> constants[] = {
    {"VIP_SUCCESS", VIP_SUCCESS},
    {"VIP_NOT_DONE", VIP_NOT_DONE},
    {"VIP_INVALID_PARAMETER", VIP_INVALID_PARAMETER},
    {"VIP_ERROR_RESOURCE", VIP_ERROR_RESOURCE},
    {"VIP_TIMEOUT", VIP_TIMEOUT},
    {"VIP_REJECT", VIP_REJECT},
    {"VIP_INVALID_RELIABILITY_LEVEL", VIP_INVALID_RELIABILITY_LEVEL},
    {"VIP_INVALID_MTU", VIP_INVALID_MTU},
    {"VIP_INVALID_QOS", VIP_INVALID_QOS},
    {"VIP_INVALID_PTAG", VIP_INVALID_PTAG},
    {"VIP_INVALID_RDMAREAD", VIP_INVALID_RDMAREAD},
    {"VIP_DESCRIPTOR_ERROR", VIP_DESCRIPTOR_ERROR},
    {"VIP_INVALID_STATE", VIP_INVALID_STATE},
    {"VIP_ERROR_NAMESERVICE", VIP_ERROR_NAMESERVICE},
    {"VIP_NO_MATCH", VIP_NO_MATCH},
    {"VIP_NOT_REACHABLE", VIP_NOT_REACHABLE},
    {"VIP_ERROR_NOT_SUPPORTED", VIP_ERROR_NOT_SUPPORTED},
    {"VIP_INFINITE", VIP_INFINITE},
    {"VIP_DESCRIPTOR_ALIGNMENT", VIP_DESCRIPTOR_ALIGNMENT},
    {"VIP_STATE_IDLE", VIP_STATE_IDLE},
    {"VIP_STATE_CONNECTED", VIP_STATE_CONNECTED},
    {"VIP_STATE_CONNECT_PENDING", VIP_STATE_CONNECT_PENDING},
    {"VIP_STATE_ERROR", VIP_STATE_ERROR},
    {"VIP_SERVICE_UNRELIABLE", VIP_SERVICE_UNRELIABLE},
    {"VIP_SERVICE_RELIABLE_DELIVERY", VIP_SERVICE_RELIABLE_DELIVERY},
    {"VIP_SERVICE_RELIABLE_RECEPTION", VIP_SERVICE_RELIABLE_RECEPTION},
    {"VIP_CONTROL_OP_SENDRECV", VIP_CONTROL_OP_SENDRECV},
    {"VIP_CONTROL_OP_RDMAWRITE", VIP_CONTROL_OP_RDMAWRITE},
    {"VIP_CONTROL_OP_RDMAREAD", VIP_CONTROL_OP_RDMAREAD},
    {"VIP_CONTROL_IMMEDIATE", VIP_CONTROL_IMMEDIATE},
    {"VIP_CONTROL_QFENCE", VIP_CONTROL_QFENCE},
    {"VIP_STATUS_DONE", VIP_STATUS_DONE},
    {"VIP_STATUS_FORMAT_ERROR", VIP_STATUS_FORMAT_ERROR},
    {"VIP_STATUS_PROTECTION_ERROR", VIP_STATUS_PROTECTION_ERROR},
    {"VIP_STATUS_LENGTH_ERROR", VIP_STATUS_LENGTH_ERROR},
    {"VIP_STATUS_PARTIAL_ERROR", VIP_STATUS_PARTIAL_ERROR},
    {"VIP_STATUS_DESC_FLUSHED_ERROR", VIP_STATUS_DESC_FLUSHED_ERROR},
    {"VIP_STATUS_TRANSPORT_ERROR", VIP_STATUS_TRANSPORT_ERROR},
    {"VIP_STATUS_RDMA_PROT_ERROR", VIP_STATUS_RDMA_PROT_ERROR},
    {"VIP_STATUS_REMOTE_DESC_ERROR", VIP_STATUS_REMOTE_DESC_ERROR},
    {"VIP_STATUS_ERROR_MASK", VIP_STATUS_ERROR_MASK},
    {"VIP_STATUS_OP_SEND", VIP_STATUS_OP_SEND},
    {"VIP_STATUS_OP_RECEIVE", VIP_STATUS_OP_RECEIVE},
    {"VIP_STATUS_OP_RDMA_WRITE", VIP_STATUS_OP_RDMA_WRITE},
    {"VIP_STATUS_OP_REMOTE_RDMA_WRITE", VIP_STATUS_OP_REMOTE_RDMA_WRITE},
    {"VIP_STATUS_OP_MASK", VIP_STATUS_OP_MASK},
    {"VIP_STATUS_IMMEDIATE", VIP_STATUS_IMMEDIATE},
};

}  // namespace

void open_vipl_library(lua_State* L) {
    for (const auto& [name, function] : functions) lua_register(L, name, function);
    for (const auto& [name, value] : constants) {
        lua_pushinteger(L, static_cast<lua_Integer>(value));
        lua_setglobal(L, name);
    }
}

}  // namespace vinic::testbench::lua
