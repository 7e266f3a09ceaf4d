// SPDX-License-Identifier: Apache-2.0

// Descriptors with every bit of every field changed, random fields and chains of them, at every level, while
// another process of each node goes on with its own traffic. No byte of memory that is not registered is read
// or written, the card goes on, and the other process sees nothing of it.
//
// VINIC_FUZZ_SECONDS=60: that much processor time, with one seed after the other (testbench/test --long does
// it under AddressSanitizer).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <random>

#include "testbench/tests/vipl/conformance/pair.h"
#include "vipl/program.h"

namespace vinic::vipl::test {
namespace {

constexpr std::byte secret{0xC3};  // fills what is not registered
constexpr std::size_t secret_run = 4;

struct totals {
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;  ///< by the card, not flushed
    std::uint64_t in_error = 0;
    std::uint64_t connections = 0;
};

/// What an attacker tells its peer out of band.
struct published {
    std::byte* data = nullptr;
    VIP_MEM_HANDLE handle = 0;
    VIP_MEM_HANDLE not_writable = 0;
    bool over = false;
};

/// One end of a pair that sends each other bad descriptors.
class attacker {
public:
    attacker(environment& in, VIP_RELIABILITY_LEVEL level, unsigned seed, std::array<published, 2>& pair,
             unsigned me, totals& counts)
        : in_(in), name_(std::to_string(level)), random_(seed), pair_(pair), me_(me), counts_(counts) {
        EXPECT_EQ(VipOpenNic("VINIC", &nic_), VIP_SUCCESS);
        EXPECT_EQ(VipCreatePtag(nic_, &tag_), VIP_SUCCESS);
        EXPECT_EQ(VipCreatePtag(nic_, &other_tag_), VIP_SUCCESS);
        // [guard][data][guard][descriptors][guard][sacrifice]: data and descriptors are registered.
        all_ = static_cast<std::byte*>(in.memory.allocate(all_bytes, 4096));
        std::fill_n(all_, all_bytes, secret);
        data_ = all_ + guard_bytes;
        descriptors_ = data_ + data_bytes + guard_bytes;
        sacrifice_ = descriptors_ + descriptor_bytes + guard_bytes;
        std::fill_n(data_, data_bytes, std::byte{0x11});
        std::fill_n(descriptors_, descriptor_bytes, std::byte{0});
        handle_ = registered(data_, data_bytes, tag_, true);
        not_writable_ = registered(data_, data_bytes, tag_, false);
        foreign_ = registered(data_, data_bytes, other_tag_, true);
        descriptor_handle_ = registered(descriptors_, descriptor_bytes, tag_, false);
        VIP_VI_ATTRIBUTES a{};
        a.ReliabilityLevel = level;
        a.MaxTransferSize = 16'384;
        a.Ptag = tag_;
        a.EnableRdmaWrite = VIP_TRUE;
        EXPECT_EQ(VipCreateVi(nic_, &a, nullptr, nullptr, &vi_), VIP_SUCCESS);
        pair_[me_] = {data_, handle_, not_writable_, false};
        in_.until([&] { return pair_[1 - me_].data != nullptr; });
    }

    void attack(std::uint64_t descriptors) {
        while (posted_ < descriptors && connected()) {
            const unsigned chain = 1 + random_() % 12;
            for (unsigned i = 0; i != chain; ++i) post_one();
            in_.self.sleep_for(40 * us);
            drain();
            check();
        }
        pair_[me_].over = true;
        VipDisconnect(vi_);
        drain();
        check();
        EXPECT_EQ(VipCloseNic(nic_), VIP_SUCCESS);
    }

private:
    static constexpr std::uint64_t guard_bytes = 16'384;
    static constexpr std::uint64_t data_bytes = 32'768;
    static constexpr unsigned slots = 64;
    static constexpr std::uint64_t slot_bytes = 4096;
    static constexpr std::uint64_t descriptor_bytes = slots * slot_bytes;
    static constexpr std::uint64_t all_bytes = 4 * guard_bytes + data_bytes + descriptor_bytes;

    VIP_MEM_HANDLE registered(std::byte* at, std::uint64_t bytes, VIP_PROTECTION_HANDLE tag, bool writable) {
        VIP_MEM_ATTRIBUTES a{.Ptag = tag, .EnableRdmaWrite = writable, .EnableRdmaRead = VIP_FALSE};
        VIP_MEM_HANDLE handle = 0;
        EXPECT_EQ(VipRegisterMem(nic_, at, bytes, &a, &handle), VIP_SUCCESS);
        return handle;
    }

    /// Connects (again) if need be. False: the peer has left, or cannot be reached any more.
    bool connected() {
        for (unsigned tries = 0; tries != 200; ++tries) {
            const VIP_VI_STATE state = state_of(vi_);
            if (state == VIP_STATE_CONNECTED) return true;
            if (pair_[1 - me_].over) return false;
            if (state == VIP_STATE_ERROR) {
                EXPECT_EQ(VipDisconnect(vi_), VIP_SUCCESS);
            }
            drain();
            address here({}, name_);
            address there(driver::make_node_address(1 - me_, 0), name_);
            EXPECT_EQ(VipConnectPeerRequest(vi_, here, there, 10), VIP_SUCCESS);
            VIP_VI_ATTRIBUTES theirs;
            const VIP_RETURN code = VipConnectPeerWait(vi_, &theirs);
            EXPECT_TRUE(code == VIP_SUCCESS || code == VIP_TIMEOUT) << code;
            counts_.connections += code == VIP_SUCCESS ? 1 : 0;
        }
        ADD_FAILURE() << "no connection any more";
        return false;
    }

    // --- Descriptors

    VIP_DATA_SEGMENT* segments(VIP_DESCRIPTOR* d) {
        return reinterpret_cast<VIP_DATA_SEGMENT*>(reinterpret_cast<std::byte*>(d) + 32);
    }

    /// A good one: `first` address segments, then data segments.
    VIP_DESCRIPTOR* good(bool receive) {
        auto* const d = reinterpret_cast<VIP_DESCRIPTOR*>(descriptors_ + (next_++ % slots) * slot_bytes);
        static constexpr unsigned counts[] = {0, 1, 1, 1, 1, 2, 3, 4, 11, 252};
        unsigned count = counts[random_() % std::size(counts)];
        const bool rdma = !receive && random_() % 3 == 0;
        if (rdma) count = std::min(count + 1, 252u);
        std::memset(static_cast<void*>(d), 0, 32 + count * 16);
        d->CS.SegCount = static_cast<VIP_UINT16>(count);
        if (random_() % 3 == 0) d->CS.Control = VIP_CONTROL_IMMEDIATE;
        d->CS.ImmediateData = random_();
        for (unsigned i = 0; i != count; ++i) {
            VIP_DATA_SEGMENT& s = segments(d)[i];
            if (rdma && i == 0) {
                d->CS.Control |= VIP_CONTROL_OP_RDMAWRITE;
                s.Data.Address = pair_[1 - me_].data + random_() % 1024;
                s.Handle = pair_[1 - me_].handle;
                continue;
            }
            s.Length = random_() % (count > 4 ? 60 : 3000);
            s.Data.Address = data_ + random_() % (data_bytes - s.Length);
            s.Handle = handle_;
            d->CS.Length += s.Length;
        }
        return d;
    }

    VIP_UINT64 strange_number() {
        const VIP_UINT64 values[] = {
            0,
            1,
            ~VIP_UINT64{0},
            0x7FFFFFFF,
            0x80000000,
            0xFFFFFFFF,
            0x100000000,
            reinterpret_cast<VIP_UINT64>(data_) - 1,
            reinterpret_cast<VIP_UINT64>(data_ + data_bytes) - random_() % 64,
            reinterpret_cast<VIP_UINT64>(pair_[1 - me_].data) - random_() % 64,
            reinterpret_cast<VIP_UINT64>(pair_[1 - me_].data + data_bytes) - random_() % 64,
            reinterpret_cast<VIP_UINT64>(sacrifice_),
            foreign_,
            not_writable_,
            descriptor_handle_,
            pair_[1 - me_].not_writable,
            handle_ + 0x10000,
            random_(),
            VIP_UINT64{random_()} << 32 | random_()};
        return values[random_() % std::size(values)];
    }

    void change_a_field(VIP_DESCRIPTOR* d, std::uint64_t bytes) {
        const VIP_UINT64 value = strange_number();
        const std::uint64_t width = std::uint64_t{1} << random_() % 4;
        const std::uint64_t at = random_() % (bytes / width) * width;
        std::memcpy(reinterpret_cast<std::byte*>(d) + at, &value, width);
    }

    void mutate(VIP_DESCRIPTOR* d) {
        auto* const bytes = reinterpret_cast<unsigned char*>(d);
        const std::uint64_t size = 32 + std::min<std::uint64_t>(d->CS.SegCount, 4) * 16;
        switch (random_() % 8) {
            case 0:
                return;
            case 1:
                for (std::uint64_t i = 0; i != size; ++i) bytes[i] = static_cast<unsigned char>(random_());
                return;
            case 2:
            case 3:
                for (unsigned i = random_() % 4 + 1; i != 0; --i) change_a_field(d, size);
                return;
            default: {  // one bit after the other
                const std::uint64_t bit = bit_++ % (size * 8);
                bytes[bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
            }
        }
    }

    void post_one() {
        const bool receive = random_() % 3 == 0;
        VIP_DESCRIPTOR* d = good(receive);
        mutate(d);
        ++posted_;
        ++counts_.posted;
        if (random_() % 2) in_.self.sleep_for(15 * us);  // or else what follows an error is only flushed
        // The library refuses what does not lie where it says, which ends the connection.
        if (random_() % 4 == 0 || (d->CS.SegCount > 252 && random_() % 16 != 0))
            return post_past_the_library(d, receive);
        VIP_MEM_HANDLE handle = descriptor_handle_;
        if (random_() % 128 == 0) handle = static_cast<VIP_MEM_HANDLE>(strange_number());
        if (random_() % 128 == 0)
            d = reinterpret_cast<VIP_DESCRIPTOR*>(reinterpret_cast<std::byte*>(d) + random_() % 64);
        const VIP_RETURN code = (receive ? VipPostRecv : VipPostSend)(vi_, d, handle);
        EXPECT_TRUE(code == VIP_SUCCESS || code == VIP_ERROR_RESOURCE) << code;
    }

    /// A ring is the process's own memory: it may write there what the library would never let pass, and name
    /// memory as its descriptor's that is none, or not registered.
    void post_past_the_library(const VIP_DESCRIPTOR* d, bool receive) {
        thread& t = program::current();
        const auto vi = t.of.vis.find(vi_);
        driver::work_queue& queue = *vi->kernel->work(receive);
        if (queue.full()) return;
        std::array<std::byte, driver::descriptor_bytes> bytes;
        std::memcpy(bytes.data(), d, bytes.size());
        std::uint64_t where = reinterpret_cast<std::uintptr_t>(d);
        VIP_MEM_HANDLE handle = descriptor_handle_;
        if (random_() % 4 == 0) where = reinterpret_cast<std::uintptr_t>(sacrifice_) + random_() % 4096;
        if (random_() % 8 == 0) where = VIP_UINT64{random_()} << 40 | random_();
        if (random_() % 4 == 0) handle = static_cast<VIP_MEM_HANDLE>(strange_number());
        queue.post(t.self, bytes, where, handle);
    }

    // --- What came of it

    void drain() {
        for (const auto done : {VipSendDone, VipRecvDone})
            for (VIP_DESCRIPTOR* d = nullptr;;) {
                const VIP_RETURN code = done(vi_, &d);
                if (code == VIP_NOT_DONE || d == nullptr) break;
                const auto at = reinterpret_cast<std::byte*>(d);
                if (at < descriptors_ || at >= descriptors_ + descriptor_bytes) continue;
                const bool flushed = d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR;
                counts_.completed += flushed ? 0 : 1;
                counts_.in_error += !flushed && code == VIP_DESCRIPTOR_ERROR ? 1 : 0;
            }
    }

    void expect_secret(const std::byte* at, const char* what) {
        EXPECT_TRUE(std::all_of(at, at + guard_bytes, [](std::byte b) { return b == secret; })) << what;
    }

    void check() {
        expect_secret(all_, "written in front of the data");
        expect_secret(data_ + data_bytes, "written behind the data");
        expect_secret(descriptors_ + descriptor_bytes, "written behind the descriptors");
        std::fill_n(sacrifice_, guard_bytes, secret);  // the library itself gives descriptors back there
        const std::byte* const end = data_ + data_bytes;
        EXPECT_EQ(std::search_n(static_cast<const std::byte*>(data_), end, secret_run, secret), end)
            << "what is not registered was read and sent";
    }

    environment& in_;
    std::string name_;
    std::mt19937 random_;
    std::array<published, 2>& pair_;
    unsigned me_;
    totals& counts_;
    VIP_NIC_HANDLE nic_ = nullptr;
    VIP_PROTECTION_HANDLE tag_ = nullptr;
    VIP_PROTECTION_HANDLE other_tag_ = nullptr;
    VIP_VI_HANDLE vi_ = nullptr;
    std::byte* all_ = nullptr;
    std::byte* data_ = nullptr;
    std::byte* descriptors_ = nullptr;
    std::byte* sacrifice_ = nullptr;
    VIP_MEM_HANDLE handle_ = 0;
    VIP_MEM_HANDLE not_writable_ = 0;
    VIP_MEM_HANDLE foreign_ = 0;
    VIP_MEM_HANDLE descriptor_handle_ = 0;
    unsigned next_ = 0;
    std::uint64_t bit_ = 0;
    std::uint64_t posted_ = 0;
};

/// Sends and receives in turn, and is never disturbed.
void bystander(environment& in, unsigned me, const bool& over) {
    side s(in, VIP_SERVICE_RELIABLE_DELIVERY);
    const auto fill = [&](unsigned round) {
        for (unsigned i = 0; i != 2000; ++i) s.s.buffer(1)[i] = std::byte((round * 7 + i) & 0x7F);
    };
    s.post_receive(s.with(0, s.s.buffer(0), 4096));
    if (me == 0)
        s.call(1, "bystander");
    else
        s.listen("bystander");
    for (unsigned round = 0; !over || me == 1; ++round) {
        fill(round);
        if (me == 0) s.post_send(s.with(1, s.s.buffer(1), 2000));
        const VIP_UINT32 status = s.received();
        if (me == 1 && (status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0) break;  // the other has left
        ASSERT_EQ(status, VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE) << "round " << round;
        ASSERT_EQ(s.last->CS.Length, 2000u);
        ASSERT_EQ(std::memcmp(s.s.buffer(0), s.s.buffer(1), 2000), 0);
        s.post_receive(s.with(0, s.s.buffer(0), 4096));
        if (me == 1) s.post_send(s.with(1, s.s.buffer(1), 2000));
        ASSERT_EQ(s.sent(), VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
        if (me == 0) {
            EXPECT_TRUE(s.errors.empty());
        }
    }
}

void play(unsigned seed, std::uint64_t descriptors, totals& counts) {
    machines m(2);
    std::array<published, 2> pairs[3];
    unsigned attacking = 6;
    bool over = false;
    for (unsigned me = 0; me != 2; ++me) {
        m.program(me, [&, me](environment& in) { bystander(in, me, over); });
        for (unsigned i = 0; i != 3; ++i)
            m.program(me, [&, me, i](environment& in) {
                attacker a(in, all_levels[i], seed * 6 + me * 3 + i, pairs[i], me, counts);
                a.attack(descriptors);
                over = --attacking == 0;
            });
    }
    m.run();
}

TEST(functional_fuzz, reaches_nothing_and_disturbs_nobody) {
    const char* const seconds = std::getenv("VINIC_FUZZ_SECONDS");
    const double wanted = seconds ? std::atof(seconds) : 0;
    const std::uint64_t descriptors = seconds ? 2'000 : 400;
    totals counts;
    const std::clock_t begin = std::clock();
    double took = 0;
    unsigned seed = 1;
    do {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        play(seed++, descriptors, counts);
        took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    } while (took < wanted && !HasFailure());
    const double rate = static_cast<double>(counts.posted) / took;
    fmt::print(
        "{} descriptors in {:.1f} s ({:.0f}/s), {} completed by the card ({} in error), {} connections, {} "
        "seeds\n",
        counts.posted, took, rate, counts.completed, counts.in_error, counts.connections, seed - 1);
    EXPECT_GT(counts.in_error, counts.posted / 20);
    if (seconds) {
        EXPECT_GE(rate, 1000);
    }
}

}  // namespace
}  // namespace vinic::vipl::test
