// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/vipl/conformance/pair.h"

namespace vinic::vipl::test {

namespace {

void keep_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
    static_cast<side*>(context)->errors.push_back(
        {error->ErrorCode, error->ResourceCode, error->ViHandle, error->DescriptorPtr});
}

VIP_UINT32 status_of(VIP_RETURN code, const VIP_DESCRIPTOR* d) {
    if (d == nullptr || (code != VIP_SUCCESS && code != VIP_DESCRIPTOR_ERROR)) return 0;
    EXPECT_EQ(code == VIP_DESCRIPTOR_ERROR, (d->CS.Status & VIP_STATUS_ERROR_MASK) != 0);
    EXPECT_NE(d->CS.Status & VIP_STATUS_DONE, 0u);
    EXPECT_EQ(d->CS.Status & VIP_STATUS_RESERVED, 0u);
    return d->CS.Status;
}

}  // namespace

const char* level_name(VIP_RELIABILITY_LEVEL level) {
    if (level == VIP_SERVICE_UNRELIABLE) return "unreliable";
    return level == VIP_SERVICE_RELIABLE_DELIVERY ? "reliable_delivery" : "reliable_reception";
}

side::side(environment& environment_of, VIP_RELIABILITY_LEVEL of, VIP_CQ_HANDLE send, VIP_CQ_HANDLE receive,
           const char* device)
    : in(environment_of), s(environment_of.memory, device), level(of) {
    EXPECT_EQ(VipErrorCallback(s.nic, this, keep_error), VIP_SUCCESS);
    VIP_MEM_ATTRIBUTES writable{.Ptag = s.tag, .EnableRdmaWrite = VIP_TRUE, .EnableRdmaRead = VIP_FALSE};
    EXPECT_EQ(VipSetMemAttributes(s.nic, s.memory, s.handle, &writable), VIP_SUCCESS);
    attributes = s.attributes(level);
    attributes.EnableRdmaWrite = VIP_TRUE;
    vi = another(send, receive);
}

VIP_VI_HANDLE side::another(VIP_CQ_HANDLE send, VIP_CQ_HANDLE receive) {
    VIP_VI_HANDLE made = nullptr;
    EXPECT_EQ(VipCreateVi(s.nic, &attributes, send, receive, &made), VIP_SUCCESS);
    return made;
}

void side::listen(const std::string& discriminator) {
    address here({}, discriminator);
    EXPECT_EQ(serve(s.nic, vi, here), VIP_SUCCESS);
}

void side::call(unsigned node, const std::string& discriminator) {
    address here({}, "caller");
    address there(driver::make_node_address(node, 0), discriminator);
    VIP_VI_ATTRIBUTES theirs;
    EXPECT_EQ(connect(in.self, vi, here, there, &theirs), VIP_SUCCESS);
}

VIP_DESCRIPTOR* side::rdma_write(unsigned n, const void* from, VIP_UINT32 length, const void* to,
                                 VIP_MEM_HANDLE handle) {
    VIP_DESCRIPTOR* d = with(n, from, length);
    d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
    d->CS.SegCount = 2;
    d->DS[1] = d->DS[0];
    d->DS[0].Remote.Data.Address = const_cast<void*>(to);
    d->DS[0].Remote.Handle = handle;
    d->DS[0].Remote.Reserved = 0;
    return d;
}

VIP_UINT32 side::sent() {
    last = nullptr;
    const VIP_RETURN code = VipSendWait(vi, timeout_ms, &last);
    return status_of(code, last);
}

VIP_UINT32 side::received() {
    last = nullptr;
    const VIP_RETURN code = VipRecvWait(vi, timeout_ms, &last);
    return status_of(code, last);
}

std::vector<VIP_ERROR_CODE> side::codes() {
    pause(ms);
    std::vector<VIP_ERROR_CODE> list;
    for (const reported& one : errors) list.push_back(one.code);
    return list;
}

VIP_VI_STATE side::settles_in(VIP_VI_STATE wanted) {
    const sim::picoseconds limit = sim::now() + timeout_ms * ms;
    while (state() != wanted && sim::now() < limit) in.self.sleep_for(50 * us);
    return state();
}

void scene::play() const {
    machines m(loopback ? 1 : 2, values);
    const unsigned target_node = loopback ? 0 : 1;
    unsigned done = 0;
    const auto leave = [&](side& who) {
        ++done;
        who.in.until([&] { return done == 2; });
        if (!abandoned) return;
        m.abandon();
        who.in.self.sleep_until(sim::never);
    };
    m.program(target_node, [&](environment& in) {
        side mine(in, level);
        target_before(mine);
        mine.listen();
        target(mine);
        leave(mine);
    });
    m.program(0, [&](environment& in) {
        side mine(in, level);
        mine.call(target_node);
        source(mine);
        leave(mine);
    });
    m.run();
}

}  // namespace vinic::vipl::test
