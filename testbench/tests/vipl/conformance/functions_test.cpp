// SPDX-License-Identifier: Apache-2.0

// Each of the 41 functions with valid arguments, null pointers, bad handles and handles of what was destroyed
// (facts vipl.md 4, 9). Four tests for each function, where they apply.
#include <fmt/format.h>

#include "testbench/tests/vipl/conformance/machines.h"

namespace vinic::vipl::test {
namespace {

/// A living object of each kind, and what pointers point at.
struct objects {
    explicit objects(environment& in) : of(in), s(in.memory) {
        vi = s.vi();
        EXPECT_EQ(VipCreateCQ(s.nic, 8, &cq), VIP_SUCCESS);
        attributes = s.attributes();
        memory = {.Ptag = s.tag, .EnableRdmaWrite = VIP_FALSE, .EnableRdmaRead = VIP_FALSE};
        d = s.with(0, s.buffer(0), 8);
    }
    environment& of;
    setup s;
    VIP_VI_HANDLE vi = nullptr;
    VIP_CQ_HANDLE cq = nullptr;
    VIP_VI_ATTRIBUTES attributes{};
    VIP_MEM_ATTRIBUTES memory{};
    VIP_NIC_ATTRIBUTES nic_attributes{};
    VIP_AUTODISCOVERY_LIST list{};
    VIP_DESCRIPTOR* d = nullptr;
    VIP_VI_STATE state{};
    VIP_BOOLEAN flag = 0;
    VIP_PVOID out = nullptr;
    VIP_MEM_HANDLE handle = 0;
    address local{node0, "x"};
    address remote{node0, "y"};
    char name[32] = "node0";
    VIP_ULONG length = sizeof name;
};

void on_error(VIP_PVOID, VIP_ERROR_DESCRIPTOR*) {}
void on_work(VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_DESCRIPTOR*) {}
void on_entry(VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_BOOLEAN) {}

/// A request from this program to itself: the handle that VipConnectWait gives. The VI that asks is the
/// objects' own; what became of the request goes to `answer`.
VIP_CONN_HANDLE offered(objects& o, VIP_RETURN& answer) {
    o.of.thread([&o, &answer](host::process& on) {
        VIP_VI_ATTRIBUTES theirs;
        address here(node0, "client");
        address there(node0, "x");
        answer = connect(on, o.vi, here, there, &theirs, 2'000);
    });
    VIP_CONN_HANDLE connection = nullptr;
    EXPECT_EQ(VipConnectWait(o.s.nic, o.local, 1'000, o.remote, &o.attributes, &connection), VIP_SUCCESS);
    return connection;
}

enum class kind { none, nic, vi, queue, connection };

using call = std::function<VIP_RETURN(objects&, VIP_PVOID)>;

struct function {
    const char* level;
    const char* name;
    kind first;                 ///< of its first argument
    VIP_RETURN code;            ///< what `with` returns for a good handle
    call with;                  ///< with that handle and valid arguments
    std::vector<call> nulls;    ///< each with one pointer that must not be null
    std::vector<call> strange;  ///< each with one further handle that is bad
};

VIP_PVOID good(objects& o, kind of, VIP_RETURN& answer) {
    switch (of) {
        case kind::nic:
            return o.s.nic;
        case kind::vi:
            return o.vi;
        case kind::queue:
            return o.cq;
        case kind::connection:
            return offered(o, answer);
        default:
            return nullptr;
    }
}

VIP_PVOID destroyed(objects& o, kind of) {
    VIP_PVOID gone = nullptr;
    VIP_RETURN answer{};
    switch (of) {
        case kind::nic:
            EXPECT_EQ(VipOpenNic("VINIC", &gone), VIP_SUCCESS);
            EXPECT_EQ(VipCloseNic(gone), VIP_SUCCESS);
            break;
        case kind::vi:
            gone = o.s.vi();
            EXPECT_EQ(VipDestroyVi(gone), VIP_SUCCESS);
            EXPECT_NE(o.s.vi(), gone);  // another has its place, not its handle
            break;
        case kind::queue:
            EXPECT_EQ(VipCreateCQ(o.s.nic, 8, &gone), VIP_SUCCESS);
            EXPECT_EQ(VipDestroyCQ(gone), VIP_SUCCESS);
            EXPECT_EQ(VipCreateCQ(o.s.nic, 8, &o.out), VIP_SUCCESS);
            EXPECT_NE(o.out, gone);
            break;
        case kind::connection:
            gone = offered(o, answer);
            EXPECT_EQ(VipConnectReject(gone), VIP_SUCCESS);
            o.of.join();
            EXPECT_EQ(answer, VIP_REJECT);
            break;
        default:
            break;
    }
    return gone;
}

std::vector<VIP_PVOID> bad(objects& o, kind of) {
    std::vector<VIP_PVOID> list{nullptr, reinterpret_cast<VIP_PVOID>(0x12345678),
                                reinterpret_cast<VIP_PVOID>(~std::uintptr_t{0}), o.s.memory, o.s.tag};
    if (of != kind::nic) list.push_back(o.s.nic);
    if (of != kind::vi) list.push_back(o.vi);
    if (of != kind::queue) list.push_back(o.cq);
    return list;
}

VIP_PVOID no_such() { return reinterpret_cast<VIP_PVOID>(0x20000099); }

// clang-format off
const function functions[] = {
    // --- 4.1
    {"early_adopter_", "VipOpenNic", kind::none, VIP_SUCCESS,
     [](objects& o, VIP_PVOID) { return VipOpenNic("VINIC", &o.out); },
     {[](objects& o, VIP_PVOID) { return VipOpenNic(nullptr, &o.out); },
      [](objects&, VIP_PVOID) { return VipOpenNic("VINIC", nullptr); }},
     {[](objects& o, VIP_PVOID) { return VipOpenNic("/dev/null", &o.out); },
      [](objects& o, VIP_PVOID) { return VipOpenNic("", &o.out); },
      [](objects& o, VIP_PVOID) { return VipOpenNic("VINIC9", &o.out); }}},
    {"early_adopter_", "VipCloseNic", kind::nic, VIP_SUCCESS,
     [](objects&, VIP_PVOID h) { return VipCloseNic(h); }, {}, {}},
    {"early_adopter_", "VipQueryNic", kind::nic, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipQueryNic(h, &o.nic_attributes); },
     {[](objects&, VIP_PVOID h) { return VipQueryNic(h, nullptr); }}, {}},
    {"functional_", "VipErrorCallback", kind::nic, VIP_SUCCESS,
     [](objects&, VIP_PVOID h) { return VipErrorCallback(h, nullptr, on_error); }, {}, {}},
    {"functional_", "VipQuerySystemManagementInfo", kind::nic, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipQuerySystemManagementInfo(h, VIP_SMI_AUTODISCOVERY, &o.list); },
     {[](objects&, VIP_PVOID h) { return VipQuerySystemManagementInfo(h, VIP_SMI_AUTODISCOVERY, nullptr); }},
     {[](objects& o, VIP_PVOID h) { return VipQuerySystemManagementInfo(h, 2, &o.list); }}},
    // --- 4.2
    {"functional_", "VipCreatePtag", kind::nic, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipCreatePtag(h, &o.out); },
     {[](objects&, VIP_PVOID h) { return VipCreatePtag(h, nullptr); }}, {}},
    {"functional_", "VipDestroyPtag", kind::nic, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) {
         EXPECT_EQ(VipCreatePtag(o.s.nic, &o.out), VIP_SUCCESS);
         return VipDestroyPtag(h, o.out); },
     {[](objects&, VIP_PVOID h) { return VipDestroyPtag(h, nullptr); }},
     {[](objects&, VIP_PVOID h) { return VipDestroyPtag(h, no_such()); },
      [](objects& o, VIP_PVOID h) { return VipDestroyPtag(h, o.vi); }}},
    {"early_adopter_", "VipRegisterMem", kind::nic, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipRegisterMem(h, o.s.memory, 64, &o.memory, &o.handle); },
     {[](objects& o, VIP_PVOID h) { return VipRegisterMem(h, nullptr, 64, &o.memory, &o.handle); },
      [](objects& o, VIP_PVOID h) { return VipRegisterMem(h, o.s.memory, 64, &o.memory, nullptr); }},
     {[](objects& o, VIP_PVOID h) { return VipRegisterMem(h, o.s.memory, 0, &o.memory, &o.handle); }}},
    {"early_adopter_", "VipDeregisterMem", kind::nic, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipDeregisterMem(h, o.s.memory, o.s.handle); },
     {[](objects& o, VIP_PVOID h) { return VipDeregisterMem(h, nullptr, o.s.handle); }},
     {[](objects& o, VIP_PVOID h) { return VipDeregisterMem(h, o.s.memory, o.s.handle + 1); },
      [](objects& o, VIP_PVOID h) { return VipDeregisterMem(h, o.s.memory, 0); },
      [](objects& o, VIP_PVOID h) { return VipDeregisterMem(h, o.s.memory, 0xFFFFFFFF); },
      [](objects& o, VIP_PVOID h) { return VipDeregisterMem(h, o.s.memory + 1, o.s.handle); }}},
    {"functional_", "VipSetMemAttributes", kind::nic, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipSetMemAttributes(h, o.s.memory, o.s.handle, &o.memory); },
     {[](objects& o, VIP_PVOID h) { return VipSetMemAttributes(h, nullptr, o.s.handle, &o.memory); },
      [](objects& o, VIP_PVOID h) { return VipSetMemAttributes(h, o.s.memory, o.s.handle, nullptr); }},
     {[](objects& o, VIP_PVOID h) { return VipSetMemAttributes(h, o.s.memory, o.s.handle + 1, &o.memory); },
      [](objects& o, VIP_PVOID h) { return VipSetMemAttributes(h, o.s.memory + 1, o.s.handle, &o.memory); }}},
    {"early_adopter_", "VipQueryMem", kind::nic, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipQueryMem(h, o.s.memory, o.s.handle, &o.memory); },
     {[](objects& o, VIP_PVOID h) { return VipQueryMem(h, nullptr, o.s.handle, &o.memory); },
      [](objects& o, VIP_PVOID h) { return VipQueryMem(h, o.s.memory, o.s.handle, nullptr); }},
     {[](objects& o, VIP_PVOID h) { return VipQueryMem(h, o.s.memory, o.s.handle + 1, &o.memory); }}},
    // --- 4.3
    {"early_adopter_", "VipCreateVi", kind::nic, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipCreateVi(h, &o.attributes, o.cq, o.cq, &o.out); },
     {[](objects& o, VIP_PVOID h) { return VipCreateVi(h, nullptr, nullptr, nullptr, &o.out); },
      [](objects& o, VIP_PVOID h) { return VipCreateVi(h, &o.attributes, nullptr, nullptr, nullptr); }},
     {[](objects& o, VIP_PVOID h) { return VipCreateVi(h, &o.attributes, no_such(), nullptr, &o.out); },
      [](objects& o, VIP_PVOID h) { return VipCreateVi(h, &o.attributes, nullptr, o.vi, &o.out); },
      [](objects& o, VIP_PVOID h) { return VipCreateVi(h, &o.attributes, destroyed(o, kind::queue), nullptr, &o.out); }}},
    {"early_adopter_", "VipDestroyVi", kind::vi, VIP_SUCCESS,
     [](objects&, VIP_PVOID h) { return VipDestroyVi(h); }, {}, {}},
    {"early_adopter_", "VipSetViAttributes", kind::vi, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipSetViAttributes(h, &o.attributes); },
     {[](objects&, VIP_PVOID h) { return VipSetViAttributes(h, nullptr); }}, {}},
    {"early_adopter_", "VipQueryVi", kind::vi, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipQueryVi(h, &o.state, &o.attributes, &o.flag, &o.flag); },
     {[](objects& o, VIP_PVOID h) { return VipQueryVi(h, nullptr, &o.attributes, &o.flag, &o.flag); },
      [](objects& o, VIP_PVOID h) { return VipQueryVi(h, &o.state, nullptr, &o.flag, &o.flag); },
      [](objects& o, VIP_PVOID h) { return VipQueryVi(h, &o.state, &o.attributes, nullptr, &o.flag); },
      [](objects& o, VIP_PVOID h) { return VipQueryVi(h, &o.state, &o.attributes, &o.flag, nullptr); }}, {}},
    // --- 4.4
    {"early_adopter_", "VipConnectWait", kind::nic, VIP_TIMEOUT,
     [](objects& o, VIP_PVOID h) { return VipConnectWait(h, o.local, 1, o.remote, &o.attributes, &o.out); },
     {[](objects& o, VIP_PVOID h) { return VipConnectWait(h, nullptr, 1, o.remote, &o.attributes, &o.out); },
      [](objects& o, VIP_PVOID h) { return VipConnectWait(h, o.local, 1, nullptr, &o.attributes, &o.out); },
      [](objects& o, VIP_PVOID h) { return VipConnectWait(h, o.local, 1, o.remote, nullptr, &o.out); },
      [](objects& o, VIP_PVOID h) { return VipConnectWait(h, o.local, 1, o.remote, &o.attributes, nullptr); }}, {}},
    {"early_adopter_", "VipConnectAccept", kind::connection, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) {
         const VIP_RETURN code = VipConnectAccept(h, o.s.vi());
         o.of.join();
         return code; }, {},
     {[](objects&, VIP_PVOID h) { return VipConnectAccept(h, nullptr); },
      [](objects&, VIP_PVOID h) { return VipConnectAccept(h, no_such()); },
      [](objects& o, VIP_PVOID h) { return VipConnectAccept(h, o.cq); },
      [](objects& o, VIP_PVOID h) { return VipConnectAccept(h, destroyed(o, kind::vi)); }}},
    {"early_adopter_", "VipConnectReject", kind::connection, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) {
         const VIP_RETURN code = VipConnectReject(h);
         o.of.join();
         return code; }, {}, {}},
    {"early_adopter_", "VipConnectRequest", kind::vi, VIP_NO_MATCH,
     [](objects& o, VIP_PVOID h) { return VipConnectRequest(h, o.local, o.remote, 100, &o.attributes); },
     {[](objects& o, VIP_PVOID h) { return VipConnectRequest(h, nullptr, o.remote, 100, &o.attributes); },
      [](objects& o, VIP_PVOID h) { return VipConnectRequest(h, o.local, nullptr, 100, &o.attributes); },
      [](objects& o, VIP_PVOID h) { return VipConnectRequest(h, o.local, o.remote, 100, nullptr); }},
     {[](objects& o, VIP_PVOID h) { return VipConnectRequest(h, o.local, o.remote, 0, &o.attributes); }}},
    {"early_adopter_", "VipDisconnect", kind::vi, VIP_SUCCESS,
     [](objects&, VIP_PVOID h) { return VipDisconnect(h); }, {}, {}},
    // --- 4.5
    {"functional_", "VipConnectPeerRequest", kind::vi, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipConnectPeerRequest(h, o.local, o.remote, 1); },
     {[](objects& o, VIP_PVOID h) { return VipConnectPeerRequest(h, nullptr, o.remote, 1); },
      [](objects& o, VIP_PVOID h) { return VipConnectPeerRequest(h, o.local, nullptr, 1); }}, {}},
    {"functional_", "VipConnectPeerDone", kind::vi, VIP_NOT_DONE,
     [](objects& o, VIP_PVOID h) {
         EXPECT_EQ(VipConnectPeerRequest(o.vi, o.local, o.remote, 50), o.state ? VIP_INVALID_STATE : VIP_SUCCESS);
         o.state = VIP_STATE_CONNECT_PENDING;
         return VipConnectPeerDone(h, &o.attributes); },
     {[](objects&, VIP_PVOID h) { return VipConnectPeerDone(h, nullptr); }}, {}},
    {"functional_", "VipConnectPeerWait", kind::vi, VIP_TIMEOUT,
     [](objects& o, VIP_PVOID h) {
         EXPECT_EQ(VipConnectPeerRequest(o.vi, o.local, o.remote, 5), o.state ? VIP_INVALID_STATE : VIP_SUCCESS);
         o.state = VIP_STATE_CONNECT_PENDING;
         return VipConnectPeerWait(h, &o.attributes); },
     {[](objects&, VIP_PVOID h) { return VipConnectPeerWait(h, nullptr); }}, {}},
    // --- 4.6
    {"early_adopter_", "VipPostSend", kind::vi, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipPostSend(h, o.d, o.s.handle); }, {}, {}},
    {"early_adopter_", "VipSendDone", kind::vi, VIP_DESCRIPTOR_ERROR,  // nothing is posted
     [](objects& o, VIP_PVOID h) { return VipSendDone(h, &o.d); },
     {[](objects&, VIP_PVOID h) { return VipSendDone(h, nullptr); }}, {}},
    {"early_adopter_", "VipSendWait", kind::vi, VIP_DESCRIPTOR_ERROR,
     [](objects& o, VIP_PVOID h) { return VipSendWait(h, 1, &o.d); },
     {[](objects&, VIP_PVOID h) { return VipSendWait(h, 1, nullptr); }}, {}},
    {"full_", "VipSendNotify", kind::vi, VIP_SUCCESS,
     [](objects&, VIP_PVOID h) { return VipSendNotify(h, nullptr, on_work); },
     {[](objects&, VIP_PVOID h) { return VipSendNotify(h, nullptr, nullptr); }}, {}},
    {"early_adopter_", "VipPostRecv", kind::vi, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipPostRecv(h, o.d, o.s.handle); }, {}, {}},
    {"early_adopter_", "VipRecvDone", kind::vi, VIP_DESCRIPTOR_ERROR,
     [](objects& o, VIP_PVOID h) { return VipRecvDone(h, &o.d); },
     {[](objects&, VIP_PVOID h) { return VipRecvDone(h, nullptr); }}, {}},
    {"early_adopter_", "VipRecvWait", kind::vi, VIP_DESCRIPTOR_ERROR,
     [](objects& o, VIP_PVOID h) { return VipRecvWait(h, 1, &o.d); },
     {[](objects&, VIP_PVOID h) { return VipRecvWait(h, 1, nullptr); }}, {}},
    {"full_", "VipRecvNotify", kind::vi, VIP_SUCCESS,
     [](objects&, VIP_PVOID h) { return VipRecvNotify(h, nullptr, on_work); },
     {[](objects&, VIP_PVOID h) { return VipRecvNotify(h, nullptr, nullptr); }}, {}},
    // --- 4.7
    {"early_adopter_", "VipCreateCQ", kind::nic, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipCreateCQ(h, 16, &o.out); },
     {[](objects&, VIP_PVOID h) { return VipCreateCQ(h, 16, nullptr); }},
     {[](objects& o, VIP_PVOID h) { return VipCreateCQ(h, 0, &o.out); }}},
    {"early_adopter_", "VipDestroyCQ", kind::queue, VIP_SUCCESS,
     [](objects&, VIP_PVOID h) { return VipDestroyCQ(h); }, {}, {}},
    {"functional_", "VipResizeCQ", kind::queue, VIP_SUCCESS,
     [](objects&, VIP_PVOID h) { return VipResizeCQ(h, 32); }, {},
     {[](objects&, VIP_PVOID h) { return VipResizeCQ(h, 0); }}},
    {"early_adopter_", "VipCQDone", kind::queue, VIP_NOT_DONE,
     [](objects& o, VIP_PVOID h) { return VipCQDone(h, &o.out, &o.flag); },
     {[](objects& o, VIP_PVOID h) { return VipCQDone(h, nullptr, &o.flag); },
      [](objects& o, VIP_PVOID h) { return VipCQDone(h, &o.out, nullptr); }}, {}},
    {"early_adopter_", "VipCQWait", kind::queue, VIP_TIMEOUT,
     [](objects& o, VIP_PVOID h) { return VipCQWait(h, 1, &o.out, &o.flag); },
     {[](objects& o, VIP_PVOID h) { return VipCQWait(h, 1, nullptr, &o.flag); },
      [](objects& o, VIP_PVOID h) { return VipCQWait(h, 1, &o.out, nullptr); }}, {}},
    {"full_", "VipCQNotify", kind::queue, VIP_SUCCESS,
     [](objects&, VIP_PVOID h) { return VipCQNotify(h, nullptr, on_entry); },
     {[](objects&, VIP_PVOID h) { return VipCQNotify(h, nullptr, nullptr); }}, {}},
    // --- 4.8
    {"early_adopter_", "VipNSInit", kind::nic, VIP_SUCCESS,
     [](objects&, VIP_PVOID h) { return VipNSInit(h, nullptr); }, {}, {}},
    {"early_adopter_", "VipNSGetHostByName", kind::nic, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipNSGetHostByName(h, o.name, o.remote, 0); },
     {[](objects& o, VIP_PVOID h) { return VipNSGetHostByName(h, nullptr, o.remote, 0); },
      [](objects& o, VIP_PVOID h) { return VipNSGetHostByName(h, o.name, nullptr, 0); }}, {}},
    {"early_adopter_", "VipNSGetHostByAddr", kind::nic, VIP_SUCCESS,
     [](objects& o, VIP_PVOID h) { return VipNSGetHostByAddr(h, o.local, o.name, &o.length); },
     {[](objects& o, VIP_PVOID h) { return VipNSGetHostByAddr(h, nullptr, o.name, &o.length); },
      [](objects& o, VIP_PVOID h) { return VipNSGetHostByAddr(h, o.local, nullptr, &o.length); },
      [](objects& o, VIP_PVOID h) { return VipNSGetHostByAddr(h, o.local, o.name, nullptr); }}, {}},
    {"early_adopter_", "VipNSShutdown", kind::nic, VIP_SUCCESS,
     [](objects&, VIP_PVOID h) { return VipNSShutdown(h); }, {}, {}},
};
// clang-format on
static_assert(std::size(functions) == 41);

void valid(const function& f) {
    alone([&](environment& in) {
        objects o(in);
        VIP_RETURN answer{};
        EXPECT_EQ(f.with(o, good(o, f.first, answer)), f.code);
    });
}

void null_pointers(const function& f) {
    alone([&](environment& in) {
        objects o(in);
        VIP_RETURN answer{};
        const VIP_PVOID handle = good(o, f.first, answer);
        for (const call& one : f.nulls)
            EXPECT_EQ(one(o, handle), VIP_INVALID_PARAMETER) << "call " << &one - f.nulls.data();
    });
}

void bad_handles(const function& f) {
    alone([&](environment& in) {
        objects o(in);
        for (const VIP_PVOID handle : f.first == kind::none ? std::vector<VIP_PVOID>{} : bad(o, f.first))
            EXPECT_EQ(f.with(o, handle), VIP_INVALID_PARAMETER) << handle;
        VIP_RETURN answer{};
        const VIP_PVOID handle = good(o, f.first, answer);
        for (const call& one : f.strange)
            EXPECT_EQ(one(o, handle), VIP_INVALID_PARAMETER) << "call " << &one - f.strange.data();
        if (f.first == kind::connection) {
            EXPECT_EQ(VipConnectReject(handle), VIP_SUCCESS);
        }
    });
}

void destroyed_handle(const function& f) {
    alone([&](environment& in) {
        objects o(in);
        const VIP_PVOID handle = destroyed(o, f.first);
        EXPECT_EQ(f.with(o, handle), VIP_INVALID_PARAMETER);
    });
}

/// One test of the tables above.
class argument_test : public testing::Test {
public:
    argument_test(const function& f, void (*what)(const function&)) : function_(f), what_(what) {}
    void TestBody() override { what_(function_); }

private:
    const function& function_;
    void (*what_)(const function&);
};

[[maybe_unused]] const bool registered = [] {
    const auto add = [](const function& f, const char* name, void (*what)(const function&)) {
        testing::RegisterTest(fmt::format("{}function", f.level).c_str(),
                              fmt::format("{}_{}", f.name, name).c_str(), nullptr, nullptr, __FILE__,
                              __LINE__,
                              [&f, what]() -> testing::Test* { return new argument_test(f, what); });
    };
    for (const function& f : functions) {
        add(f, "valid", valid);
        if (!f.nulls.empty()) add(f, "null_pointer", null_pointers);
        if (f.first != kind::none || !f.strange.empty()) add(f, "bad_handle", bad_handles);
        if (f.first != kind::none) add(f, "destroyed_handle", destroyed_handle);
    }
    return true;
}();

}  // namespace
}  // namespace vinic::vipl::test
