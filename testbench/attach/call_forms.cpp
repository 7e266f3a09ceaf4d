// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/call_forms.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>

#include "host_driver/types.h"
#include "hw/sim/error.h"
#include "vipl/return_names.h"

namespace vinic::testbench {

namespace attach = vipl::attach;

namespace {

constexpr parameter nic{"nic", role::handle, object::nic};
constexpr parameter tag{"tag", role::handle, object::tag};
constexpr parameter vi{"vi", role::handle, object::vi};
constexpr parameter queue{"cq", role::handle, object::queue};
constexpr parameter connection{"connection", role::handle, object::connection};
constexpr parameter region{"region", role::handle, object::region};
constexpr parameter memory{"memory", role::memory};
constexpr parameter bytes{"bytes", role::number};
constexpr parameter timeout{"timeout_ms", role::number};
constexpr parameter memory_attributes{"attributes", role::memory_attributes};
constexpr parameter vi_attributes{"attributes", role::vi_attributes};
constexpr parameter local{"local", role::net_address};
constexpr parameter remote{"remote", role::net_address};
constexpr parameter descriptor{"descriptor", role::descriptor};
constexpr parameter taken{"taken", role::result};
constexpr parameter on_vi{"on_vi", role::result};
constexpr parameter receive{"receive", role::result};
constexpr parameter remote_attributes{"remote_attributes", role::attributes_result};
constexpr parameter context{"context", role::context};
constexpr parameter handler{"handler", role::handler};

constexpr parameter made(const char* key, object of) { return {key, role::made, of}; }
constexpr parameter result(const char* key) { return {key, role::result}; }
constexpr parameter number(const char* key) { return {key, role::number}; }
constexpr parameter text(const char* key) { return {key, role::text}; }
constexpr parameter queue_of(const char* key) { return {key, role::handle, object::queue}; }

/// As text where it is one, else in hexadecimal behind "0x".
std::string discriminator_text(const std::uint8_t* at, std::size_t count) {
    const bool printable = std::all_of(at, at + count, [](std::uint8_t c) { return std::isprint(c) != 0; });
    const std::string plain(at, at + count);
    if (printable && !plain.starts_with("0x")) return plain;
    std::string all = "0x";
    for (std::size_t i = 0; i < count; ++i) all += fmt::format("{:02x}", at[i]);
    return all;
}

std::vector<std::uint8_t> discriminator_bytes(const std::string& from) {
    if (!from.starts_with("0x")) return {from.begin(), from.end()};
    std::vector<std::uint8_t> all;
    for (std::size_t i = 2; i + 1 < from.size(); i += 2)
        all.push_back(static_cast<std::uint8_t>(std::stoul(from.substr(i, 2), nullptr, 16)));
    return all;
}

constexpr std::size_t host_offset = offsetof(VIP_NET_ADDRESS, HostAddress);

}  // namespace

const std::vector<call_form>& call_forms() {
    static const std::vector<call_form> all{
        {"VipOpenNic", {text("device"), made("nic", object::nic)}},
        {"VipCloseNic", {nic}},
        {"VipQueryNic", {nic, result("attributes")}},
        {"VipErrorCallback", {nic, context, handler}},
        {"VipQuerySystemManagementInfo", {nic, number("type"), result("information")}},
        {"VipCreatePtag", {nic, made("tag", object::tag)}},
        {"VipDestroyPtag", {nic, tag}},
        {"VipRegisterMem", {nic, memory, bytes, memory_attributes, made("region", object::region)}},
        {"VipDeregisterMem", {nic, memory, region}},
        {"VipSetMemAttributes", {nic, memory, region, memory_attributes}},
        {"VipQueryMem", {nic, memory, region, result("attributes")}},
        {"VipCreateVi",
         {nic, vi_attributes, queue_of("send_cq"), queue_of("receive_cq"), made("vi", object::vi)}},
        {"VipDestroyVi", {vi}},
        {"VipSetViAttributes", {vi, vi_attributes}},
        {"VipQueryVi",
         {vi, result("state"), result("attributes"), result("send_empty"), result("receive_empty")}},
        {"VipConnectWait",
         {nic,
          local,
          timeout,
          {"remote", role::address_result},
          remote_attributes,
          made("connection", object::connection)}},
        {"VipConnectAccept", {connection, vi}},
        {"VipConnectReject", {connection}},
        {"VipConnectRequest", {vi, local, remote, timeout, remote_attributes}},
        {"VipDisconnect", {vi}},
        {"VipConnectPeerRequest", {vi, local, remote, timeout}},
        {"VipConnectPeerDone", {vi, remote_attributes}},
        {"VipConnectPeerWait", {vi, remote_attributes}},
        {"VipPostSend", {vi, descriptor, region}},
        {"VipSendDone", {vi, taken}},
        {"VipSendWait", {vi, timeout, taken}},
        {"VipSendNotify", {vi, context, handler}},
        {"VipPostRecv", {vi, descriptor, region}},
        {"VipRecvDone", {vi, taken}},
        {"VipRecvWait", {vi, timeout, taken}},
        {"VipRecvNotify", {vi, context, handler}},
        {"VipCreateCQ", {nic, number("entries"), made("cq", object::queue)}},
        {"VipDestroyCQ", {queue}},
        {"VipResizeCQ", {queue, number("entries")}},
        {"VipCQDone", {queue, on_vi, receive}},
        {"VipCQWait", {queue, timeout, on_vi, receive}},
        {"VipCQNotify", {queue, context, handler}},
        {"VipNSInit", {nic, number("information")}},
        {"VipNSGetHostByName", {nic, text("name"), {"address", role::address_result}, number("index")}},
        {"VipNSGetHostByAddr", {nic, {"address", role::net_address}, result("name"), result("length")}},
        {"VipNSShutdown", {nic}}};
    return all;
}

std::optional<std::uint32_t> call_number(const std::string& name) {
    const auto& all = call_forms();
    const auto found = std::ranges::find(all, name, &call_form::name);
    if (found == all.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - all.begin());
}

bool polls(std::uint32_t function) {
    using attach::number_of;
    return function == number_of<&VipSendDone>() || function == number_of<&VipRecvDone>() ||
           function == number_of<&VipCQDone>() || function == number_of<&VipConnectPeerDone>();
}

net_address_room take_net_address(attach::payload_reader& from) {
    net_address_room room;
    from.get(room.bytes.data(), attach::address_header);
    from.get(room.bytes.data() + attach::address_header,
             attach::bytes_of(room.address) - attach::address_header);
    return room;
}

std::optional<std::uint64_t> made_handle(const parameter& what, attach::payload_reader& from) {
    VIP_VI_ATTRIBUTES attributes{};
    VIP_MEM_HANDLE region = 0;
    std::uint64_t handle = 0;
    if (what.is == role::address_result) take_net_address(from);
    if (what.is == role::attributes_result) from.get(&attributes, sizeof attributes);
    if (what.is != role::made) return std::nullopt;
    if (what.of != object::region)
        from.get(&handle, sizeof handle);
    else
        from.get(&region, sizeof region);
    return what.of == object::region ? region : handle;
}

std::string return_name(VIP_RETURN code) {
    const auto index = static_cast<std::size_t>(code);
    return index < vipl::return_names.size() ? vipl::return_names[index] : std::to_string(index);
}

std::optional<VIP_RETURN> return_code(const std::string& name) {
    const auto found = std::ranges::find(vipl::return_names, name);
    if (found == vipl::return_names.end()) return std::nullopt;
    return static_cast<VIP_RETURN>(found - vipl::return_names.begin());
}

json to_json(const VIP_NET_ADDRESS& address) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&address) + host_offset;
    driver::node_address host{};
    if (address.HostAddressLen != host.size()) return {{"host_bytes", address.HostAddressLen}};
    std::memcpy(host.data(), bytes, host.size());
    const unsigned node = unsigned{host[3]} << 16 | unsigned{host[4]} << 8 | host[5];
    json all{{"node", node}};
    if (host[2] != 0) all["card"] = host[2];
    all["discriminator"] = discriminator_text(bytes + host.size(), address.DiscriminatorLen);
    return all;
}

net_address_room net_address_from(const json& from) {
    net_address_room room;
    if (from.contains("host_bytes")) {
        room.address.HostAddressLen = from["host_bytes"].get<VIP_UINT16>();
        return room;
    }
    const driver::node_address host =
        driver::make_node_address(from.at("node").get<unsigned>(), from.value("card", 0u));
    const auto discriminator = discriminator_bytes(from.at("discriminator").get<std::string>());
    if (host_offset + host.size() + discriminator.size() > attach::address_bytes_max)
        throw sim::input_error("a discriminator of {} bytes is too long", discriminator.size());
    room.address.HostAddressLen = host.size();
    room.address.DiscriminatorLen = static_cast<VIP_UINT16>(discriminator.size());
    std::memcpy(room.bytes.data() + host_offset, host.data(), host.size());
    std::ranges::copy(discriminator, room.bytes.data() + host_offset + host.size());
    return room;
}

}  // namespace vinic::testbench
