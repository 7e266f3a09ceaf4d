// SPDX-License-Identifier: Apache-2.0

// Each cell of the error table, by level of reliability (facts vipl.md 6.2): the descriptor of the sender (S)
// and of the target (T), the states of both VIs, and the asynchronous errors of both programs.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "testbench/tests/vipl/conformance/pair.h"

namespace vinic::vipl::test {
namespace {

using codes = std::vector<VIP_ERROR_CODE>;

/// What one side sees. Error bits: the one that must be set; `none` when the descriptor must not complete.
struct seen {
    static constexpr VIP_UINT32 none = ~VIP_UINT32{0};
    std::vector<VIP_UINT32> descriptor;  ///< any of these
    VIP_VI_STATE state;
    std::vector<codes> asynchronous;  ///< any of these
};

struct row {
    const char* condition;
    part target_before;  ///< posts what the target has posted
    part source;         ///< posts the descriptor in error, number 0
    struct {
        VIP_RELIABILITY_LEVEL level;
        seen s;
        seen t;
    } by_level[3];
};

constexpr VIP_RELIABILITY_LEVEL ur = VIP_SERVICE_UNRELIABLE;
constexpr VIP_RELIABILITY_LEVEL rd = VIP_SERVICE_RELIABLE_DELIVERY;
constexpr VIP_RELIABILITY_LEVEL rr = VIP_SERVICE_RELIABLE_RECEPTION;
constexpr VIP_VI_STATE connected = VIP_STATE_CONNECTED;
constexpr VIP_VI_STATE error = VIP_STATE_ERROR;
constexpr VIP_UINT32 fine = 0;
constexpr VIP_UINT32 none = seen::none;
constexpr VIP_UINT32 format = VIP_STATUS_FORMAT_ERROR;
constexpr VIP_UINT32 protection = VIP_STATUS_PROTECTION_ERROR;
constexpr VIP_UINT32 length = VIP_STATUS_LENGTH_ERROR;
constexpr VIP_UINT32 flushed = VIP_STATUS_DESC_FLUSHED_ERROR;
constexpr VIP_UINT32 transport = VIP_STATUS_TRANSPORT_ERROR;
constexpr VIP_UINT32 rdma_protection = VIP_STATUS_RDMA_PROT_ERROR;
constexpr VIP_UINT32 remote = VIP_STATUS_REMOTE_DESC_ERROR;

// Facts 5: "peer disconnected ..., link lost: Error, async CONN_LOST". At the side whose own descriptor says
// what happened, CONN_LOST may come as well or not (the table names it for neither).
const codes quiet{};
const codes lost{VIP_ERROR_CONN_LOST};
const codes empty_queue{VIP_ERROR_RECVQ_EMPTY};
const codes bad_write{VIP_ERROR_RDMAW_PROT};
const codes bad_post{VIP_ERROR_POST_DESC};
const codes overrun{VIP_ERROR_VI_OVERRUN};

void post_one_receive(side& t) { t.post_receive(t.with(0, t.s.buffer(0), 64)); }
void post_nothing(side&) {}

void expect_codes(const codes& got, const std::vector<codes>& any, const char* who) {
    EXPECT_NE(std::find(any.begin(), any.end(), got), any.end())
        << who << " was told " << testing::PrintToString(got) << ", expected one of "
        << testing::PrintToString(any);
}

void expect_descriptor(VIP_UINT32 status, const std::vector<VIP_UINT32>& any, const char* who) {
    const VIP_UINT32 got = status == 0 ? none : status & VIP_STATUS_ERROR_MASK;
    EXPECT_NE(std::find(any.begin(), any.end(), got), any.end())
        << fmt::format("{}'s descriptor has {:#x}, expected one of {:#x}", who, got, fmt::join(any, ", "));
}

/// Plays a row: the source posts the descriptor, then a good one behind it. A connection that is to break has
/// broken on both sides, and the good one is flushed; one that is to last carries the good one.
void play(const row& r, unsigned column) {
    const auto& [level, s_sees, t_sees] = r.by_level[column];
    const bool lasts = s_sees.state == connected;
    scene sc;
    sc.level = level;
    sc.target_before = [&](side& t) { r.target_before(t); };
    sc.source = [&](side& s) {
        r.source(s);
        expect_descriptor(s.sent(), s_sees.descriptor, "S");
        EXPECT_EQ(s.settles_in(s_sees.state), s_sees.state);
        s.pause();
        s.post_send(s.with(9, s.s.buffer(0), 8));
        EXPECT_EQ(s.sent() & VIP_STATUS_ERROR_MASK, lasts ? fine : flushed);
        s.pause();
        EXPECT_EQ(s.state(), s_sees.state);
        expect_codes(s.codes(), s_sees.asynchronous, "S");
    };
    sc.target = [&](side& t) {
        expect_descriptor(t.received(), t_sees.descriptor, "T");
        EXPECT_EQ(t.settles_in(t_sees.state), t_sees.state);
        t.pause(6 * ms);
        EXPECT_EQ(t.state(), t_sees.state);
        codes told = t.codes();
        // Nothing is posted for the good descriptor.
        if (lasts && !told.empty() && told.back() == VIP_ERROR_RECVQ_EMPTY && t_sees.asynchronous[0] != told)
            told.pop_back();
        expect_codes(told, t_sees.asynchronous, "T");
    };
    sc.play();
}

// --- The table. A local error is one of the sender's descriptor; the peer then only loses the connection.

seen local(VIP_UINT32 bits, VIP_VI_STATE state) { return {{bits}, state, {quiet}}; }
const seen untouched{{none}, connected, {quiet}};
const seen cut{{flushed}, error, {lost}};

row local_error(const char* condition, VIP_UINT32 bits, part source) {
    return {condition,
            post_one_receive,
            std::move(source),
            {{ur, local(bits, connected), {{fine, none}, connected, {quiet}}},
             {rd, local(bits, error), cut},
             {rr, local(bits, error), cut}}};
}

row local_change(const char* condition, VIP_UINT32 bits, std::function<void(side&, VIP_DESCRIPTOR&)> change) {
    return local_error(condition, bits, [change](side& s) {
        VIP_DESCRIPTOR* d = s.with(0, s.s.buffer(0), 8);
        change(s, *d);
        s.post_send(d);
    });
}

/// The target has posted one receive descriptor, which is changed.
row bad_receive(const char* condition, VIP_UINT32 bits, std::function<void(side&, VIP_DESCRIPTOR&)> change) {
    return {condition,
            [change](side& t) {
                VIP_DESCRIPTOR* d = t.with(0, t.s.buffer(0), 64);
                change(t, *d);
                t.post_receive(d);
            },
            [](side& s) { s.post_send(s.with(0, s.s.buffer(0), 16)); },
            {{ur, {{fine}, connected, {quiet}}, {{bits}, connected, {quiet}}},
             {rd, {{fine, flushed}, error, {lost, quiet}}, {{bits}, error, {quiet, lost}}},
             {rr, {{remote}, error, {quiet, lost}}, {{bits}, error, {quiet, lost}}}}};
}

VIP_PROTECTION_HANDLE another_tag(side& of) {
    VIP_PROTECTION_HANDLE tag = nullptr;
    EXPECT_EQ(VipCreatePtag(of.s.nic, &tag), VIP_SUCCESS);
    return tag;
}

/// Memory of that tag at the end of the registered memory, writable or not.
VIP_MEM_HANDLE more_memory(side& of, VIP_PROTECTION_HANDLE tag, bool writable, VIP_ULONG bytes = 64) {
    VIP_MEM_ATTRIBUTES a{.Ptag = tag, .EnableRdmaWrite = writable, .EnableRdmaRead = VIP_FALSE};
    VIP_MEM_HANDLE handle = 0;
    EXPECT_EQ(VipRegisterMem(of.s.nic, of.s.buffer(1), bytes, &a, &handle), VIP_SUCCESS);
    return handle;
}

VIP_MEM_HANDLE deregistered(side& of) {
    const VIP_MEM_HANDLE handle = more_memory(of, of.s.tag, true);
    EXPECT_EQ(VipDeregisterMem(of.s.nic, of.s.buffer(1), handle), VIP_SUCCESS);
    return handle;
}

// What the target tells the source out of band: where it may write.
struct window {
    void* to = nullptr;
    VIP_MEM_HANDLE handle = 0;
};
window written;

/// An RDMA write of 16 bytes to what the target's `prepare` has put into `written`; not a byte may change.
row bad_remote(const char* condition, bool immediate, std::function<void(side&)> prepare) {
    const auto before = [prepare, immediate](side& t) {
        std::memset(t.s.buffer(0), 0x55, 2 * setup::buffer_bytes);
        written = {t.s.buffer(1), t.s.handle};
        prepare(t);
        if (immediate) t.post_receive(t.with(0, t.s.buffer(0), 64));
    };
    const auto source = [immediate](side& s) {
        std::memset(s.s.buffer(0), 0xAA, 64);
        VIP_DESCRIPTOR* d = s.rdma_write(0, s.s.buffer(0), 16, written.to, written.handle);
        if (immediate) d->CS.Control |= VIP_CONTROL_IMMEDIATE;
        s.post_send(d);
    };
    const codes told = immediate ? quiet : bad_write;
    const VIP_UINT32 t_bits = immediate ? rdma_protection : none;
    const std::vector<VIP_UINT32> t_flushed = immediate ? std::vector{rdma_protection} : std::vector{none};
    return {condition,
            before,
            source,
            {{ur, {{fine}, connected, {quiet}}, {{t_bits}, connected, {told}}},
             {rd, {{rdma_protection, flushed}, error, {lost, quiet}}, {t_flushed, error, {told}}},
             {rr, {{rdma_protection}, error, {quiet, lost}}, {t_flushed, error, {told}}}}};
}

std::vector<row> rows() {
    std::vector<row> all{
        // Local format errors (facts 3.4, 3.5, 3.13).
        local_change("reserved_control_bit", format, [](side&, auto& d) { d.CS.Control = 0x10; }),
        local_change("highest_control_bit", format, [](side&, auto& d) { d.CS.Control = 0x8000; }),
        local_change("reserved_field", format, [](side&, auto& d) { d.CS.Reserved = 1; }),
        local_change("reserved_operation", format,
                     [](side&, auto& d) { d.CS.Control = VIP_CONTROL_OP_RESERVED; }),
        local_change("length_below_sum", format, [](side&, auto& d) { d.CS.Length = 7; }),
        local_change("length_above_sum", format, [](side&, auto& d) { d.CS.Length = 9; }),
        local_change("rdma_write_without_address", format,
                     [](side&, auto& d) {
                         d.CS.Control = VIP_CONTROL_OP_RDMAWRITE;
                         d.CS.SegCount = 0;
                         d.CS.Length = 0;
                     }),
        local_change("rdma_read", format,
                     [](side& s, auto& d) {
                         s.rdma_write(0, s.s.buffer(0), 8, s.s.buffer(1), s.s.handle);
                         d.CS.Control = VIP_CONTROL_OP_RDMAREAD;
                     }),
        local_change("rdma_read_with_immediate", format,
                     [](side& s, auto& d) {
                         s.rdma_write(0, s.s.buffer(0), 8, s.s.buffer(1), s.s.handle);
                         d.CS.Control = VIP_CONTROL_OP_RDMAREAD | VIP_CONTROL_IMMEDIATE;
                     }),
        // Local protection errors.
        local_change("unknown_handle", protection, [](side&, auto& d) { d.DS[0].Local.Handle = 0x00010FFF; }),
        local_change("handle_zero", protection, [](side&, auto& d) { d.DS[0].Local.Handle = 0; }),
        local_change("handle_all_ones", protection,
                     [](side&, auto& d) { d.DS[0].Local.Handle = 0xFFFFFFFF; }),
        local_change("deregistered_handle", protection,
                     [](side& s, auto& d) { d.DS[0].Local.Handle = deregistered(s); }),
        local_change("a_byte_before_the_region", protection,
                     [](side& s, auto& d) { d.DS[0].Local.Data.Address = s.s.memory - 1; }),
        local_change("a_byte_behind_the_region", protection,
                     [](side& s, auto& d) { d.DS[0].Local.Data.Address = s.s.memory + setup::bytes() - 7; }),
        local_change("address_null", protection,
                     [](side&, auto& d) { d.DS[0].Local.Data.Address = nullptr; }),
        local_change("address_wraps_round", protection,
                     [](side&, auto& d) { d.DS[0].Local.Data.AddressBits = ~VIP_UINT64{0} - 3; }),
        local_change("memory_of_another_tag", protection,
                     [](side& s, auto& d) {
                         d.DS[0].Local.Handle = more_memory(s, another_tag(s), false);
                         d.DS[0].Local.Data.Address = s.s.buffer(1);
                     }),
        local_change(
            "tag_changed_since", protection,
            [](side& s, auto& d) {
                d.DS[0].Local.Handle = more_memory(s, s.s.tag, false);
                d.DS[0].Local.Data.Address = s.s.buffer(1);
                VIP_MEM_ATTRIBUTES a{
                    .Ptag = another_tag(s), .EnableRdmaWrite = VIP_FALSE, .EnableRdmaRead = VIP_FALSE};
                EXPECT_EQ(VipSetMemAttributes(s.s.nic, s.s.buffer(1), d.DS[0].Local.Handle, &a), VIP_SUCCESS);
            }),
        // Longer than the VI's MaxTransferSize of 32768.
        local_change("longer_than_max_transfer_size", length,
                     [](side& s, auto& d) {
                         auto* const big = static_cast<std::byte*>(s.in.memory.allocate(32'769, 64));
                         VIP_MEM_ATTRIBUTES a{
                             .Ptag = s.s.tag, .EnableRdmaWrite = VIP_FALSE, .EnableRdmaRead = VIP_FALSE};
                         EXPECT_EQ(VipRegisterMem(s.s.nic, big, 32'769, &a, &d.DS[0].Local.Handle),
                                   VIP_SUCCESS);
                         d.DS[0].Local.Data.Address = big;
                         d.CS.Length = d.DS[0].Local.Length = 32'769;
                     }),
        // The receive queue is empty.
        {"receive_queue_empty",
         post_nothing,
         [](side& s) { s.post_send(s.with(0, s.s.buffer(0), 8)); },
         {{ur,
           {{fine}, connected, {quiet}},
           {{none}, connected, {empty_queue, {VIP_ERROR_RECVQ_EMPTY, VIP_ERROR_RECVQ_EMPTY}}}},
          {rd, {{fine, flushed, transport}, error, {lost}}, {{none}, error, {empty_queue}}},
          {rr, {{remote}, error, {quiet, lost}}, {{none}, error, {empty_queue}}}}},
        {"receive_queue_empty_for_immediate_data_of_an_rdma_write",
         [](side& t) {
             written = {t.s.buffer(1), t.s.handle};
         },
         [](side& s) {
             VIP_DESCRIPTOR* d = s.rdma_write(0, s.s.buffer(0), 8, written.to, written.handle);
             d->CS.Control |= VIP_CONTROL_IMMEDIATE;
             s.post_send(d);
         },
         {{ur,
           {{fine}, connected, {quiet}},
           {{none}, connected, {empty_queue, {VIP_ERROR_RECVQ_EMPTY, VIP_ERROR_RECVQ_EMPTY}}}},
          {rd, {{fine, flushed, transport}, error, {lost}}, {{none}, error, {empty_queue}}},
          {rr, {{remote}, error, {quiet, lost}}, {{none}, error, {empty_queue}}}}},
        // The receive descriptor.
        bad_receive("longer_than_the_receive_buffers", length,
                    [](side&, auto& d) { d.CS.Length = d.DS[0].Local.Length = 15; }),
        bad_receive("receive_without_segments", length,
                    [](side&, auto& d) { d.CS.Length = d.CS.SegCount = 0; }),
        bad_receive("receive_to_unknown_handle", protection,
                    [](side&, auto& d) { d.DS[0].Local.Handle = 0x00010FFF; }),
        bad_receive("receive_behind_the_region", protection,
                    [](side& t, auto& d) { d.DS[0].Local.Data.Address = t.s.memory + setup::bytes() - 15; }),
        bad_receive("receive_to_memory_of_another_tag", protection,
                    [](side& t, auto& d) {
                        d.DS[0].Local.Handle = more_memory(t, another_tag(t), true);
                        d.DS[0].Local.Data.Address = t.s.buffer(1);
                    }),
        bad_receive("receive_with_reserved_control_bit", format,
                    [](side&, auto& d) { d.CS.Control = 0x100; }),
        bad_receive("receive_with_rdma_operation", format,
                    [](side&, auto& d) { d.CS.Control = VIP_CONTROL_OP_RDMAWRITE; }),
        bad_receive("receive_with_reserved_field", format,
                    [](side&, auto& d) { d.CS.Reserved = 0x80000000; }),
    };
    for (const bool immediate : {false, true}) {
        const auto name = [immediate](const char* plain, const char* with) {
            return immediate ? with : plain;
        };
        all.push_back(bad_remote(name("rdma_write_unknown_handle", "rdma_write_immediate_unknown_handle"),
                                 immediate, [](side&) { written.handle = 0x00010FFF; }));
        all.push_back(
            bad_remote(name("rdma_write_behind_the_region", "rdma_write_immediate_behind_the_region"),
                       immediate, [](side& t) { written.to = t.s.memory + setup::bytes() - 15; }));
        all.push_back(
            bad_remote(name("rdma_write_before_the_region", "rdma_write_immediate_before_the_region"),
                       immediate, [](side& t) { written.to = t.s.memory - 1; }));
        all.push_back(bad_remote(name("rdma_write_another_tag", "rdma_write_immediate_another_tag"),
                                 immediate,
                                 [](side& t) { written.handle = more_memory(t, another_tag(t), true); }));
        all.push_back(
            bad_remote(name("rdma_write_region_not_enabled", "rdma_write_immediate_region_not_enabled"),
                       immediate, [](side& t) { written.handle = more_memory(t, t.s.tag, false); }));
        all.push_back(bad_remote(name("rdma_write_vi_not_enabled", "rdma_write_immediate_vi_not_enabled"),
                                 immediate, [](side& t) {
                                     t.attributes.EnableRdmaWrite = VIP_FALSE;
                                     EXPECT_EQ(VipSetViAttributes(t.vi, &t.attributes), VIP_SUCCESS);
                                 }));
        all.push_back(bad_remote(name("rdma_write_deregistered", "rdma_write_immediate_deregistered"),
                                 immediate, [](side& t) { written.handle = deregistered(t); }));
    }
    // The descriptor itself (asynchronous at every level, and the VI is in error).
    const auto posting = [](const char* condition, codes told, VIP_UINT32 first, part source) {
        const seen s{{first}, error, {told}};
        return row{
            condition, post_one_receive, std::move(source), {{ur, s, cut}, {rd, s, cut}, {rr, s, cut}}};
    };
    all.push_back(posting("descriptor_not_aligned", bad_post, none, [](side& s) {
        VIP_DESCRIPTOR* d = s.with(1, s.s.buffer(0), 8);
        auto* const moved = reinterpret_cast<VIP_DESCRIPTOR*>(reinterpret_cast<std::byte*>(d) + 16);
        std::memmove(static_cast<void*>(moved), d, sizeof *d);
        EXPECT_EQ(VipPostSend(s.vi, moved, s.s.handle), VIP_SUCCESS);
    }));
    all.push_back(posting("descriptor_null", bad_post, none,
                          [](side& s) { EXPECT_EQ(VipPostSend(s.vi, nullptr, s.s.handle), VIP_SUCCESS); }));
    all.push_back(posting("descriptor_with_unknown_handle", bad_post, none, [](side& s) {
        EXPECT_EQ(VipPostSend(s.vi, s.with(0, s.s.buffer(0), 8), 0x00010FFF), VIP_SUCCESS);
    }));
    all.push_back(posting("descriptor_in_memory_that_is_not_registered", bad_post, none, [](side& s) {
        void* const other = s.in.memory.allocate(64, 64);
        EXPECT_EQ(VipPostSend(s.vi, static_cast<VIP_DESCRIPTOR*>(other), s.s.handle), VIP_SUCCESS);
    }));
    all.push_back(posting("descriptor_in_memory_of_another_tag", bad_post, none, [](side& s) {
        const VIP_MEM_HANDLE handle = more_memory(s, another_tag(s), false);
        EXPECT_EQ(VipPostSend(s.vi, reinterpret_cast<VIP_DESCRIPTOR*>(s.s.buffer(1)), handle), VIP_SUCCESS);
    }));
    all.push_back(posting("receive_descriptor_with_unknown_handle", bad_post, none, [](side& s) {
        EXPECT_EQ(VipPostRecv(s.vi, s.with(0, s.s.buffer(0), 8), 0x00010FFF), VIP_SUCCESS);
    }));
    all.push_back(posting("too_many_receives", overrun, none, [](side& s) {
        VIP_NIC_ATTRIBUTES limits;
        EXPECT_EQ(VipQueryNic(s.s.nic, &limits), VIP_SUCCESS);
        for (VIP_ULONG i = 0; i < limits.MaxDescriptorsPerQueue; ++i)
            s.post_receive(s.with(0, s.s.buffer(0), 8));
        EXPECT_EQ(VipPostRecv(s.vi, s.with(0, s.s.buffer(0), 8), s.s.handle), VIP_ERROR_RESOURCE);
    }));
    return all;
}

class cell : public testing::Test {
public:
    cell(const row& r, unsigned column) : row_(r), column_(column) {}
    void TestBody() override { play(row_, column_); }

private:
    const row& row_;
    unsigned column_;
};

[[maybe_unused]] const bool registered = [] {
    static const std::vector<row> table = rows();
    for (const row& r : table)
        for (unsigned column = 0; column != 3; ++column)
            testing::RegisterTest(
                "functional_error_table",
                fmt::format("{}_{}", r.condition, level_name(r.by_level[column].level)).c_str(), nullptr,
                nullptr, __FILE__, __LINE__,
                [&r, column]() -> testing::Test* { return new cell(r, column); });
    return true;
}();

}  // namespace
}  // namespace vinic::vipl::test
