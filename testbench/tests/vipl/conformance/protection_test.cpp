// SPDX-License-Identifier: Apache-2.0

// A process that names what is another's gets the error of the standard and never a byte (facts vipl.md 4.2,
// 6.2, 9).
#include <random>

#include "firmware/abi/card_map.h"
#include "firmware/abi/myvia_card.h"
#include "host_driver/card_window.h"
#include "testbench/platform/firmware.h"
#include "testbench/platform/node.h"
#include "testbench/tests/vipl/conformance/pair.h"

namespace vinic::vipl::test {
namespace {

class functional_protection : public testing::TestWithParam<VIP_RELIABILITY_LEVEL> {};
INSTANTIATE_TEST_SUITE_P(at, functional_protection, testing::ValuesIn(all_levels),
                         [](const auto& of) { return level_name(of.param); });

/// Machine 0 runs an owner and a stranger, who starts when the owner is ready and knows all its handles.
void play(VIP_RELIABILITY_LEVEL level, const part& owner,
          const std::function<void(side&, side& of_owner)>& stranger) {
    machines m(2);
    side* owners = nullptr;
    bool over = false;
    m.program(0, [&](environment& in) {
        side mine(in, level);
        owners = &mine;
        in.until([&] { return over; });
        owner(mine);
    });
    m.program(0, [&](environment& in) {
        in.until([&] { return owners != nullptr; });
        side mine(in, level);
        stranger(mine, *owners);
        over = true;
    });
    m.run();
}

// The handles of another process name nothing, or something of one's own.
TEST_P(functional_protection, of_handles) {
    play(
        GetParam(),
        [](side& mine) {
            EXPECT_EQ(mine.state(), VIP_STATE_IDLE);
            VIP_MEM_ATTRIBUTES a;
            EXPECT_EQ(VipQueryMem(mine.s.nic, mine.s.memory, mine.s.handle, &a), VIP_SUCCESS);
            EXPECT_EQ(VipDestroyVi(mine.another()), VIP_SUCCESS);
            EXPECT_TRUE(mine.errors.empty());
        },
        [](side& mine, side& owner) {
            const setup& theirs = owner.s;
            VIP_MEM_ATTRIBUTES a{
                .Ptag = mine.s.tag, .EnableRdmaWrite = VIP_FALSE, .EnableRdmaRead = VIP_FALSE};
            VIP_MEM_HANDLE handle = 0;
            // Their memory is not in this address space; their memory handle is not this process's.
            EXPECT_EQ(VipRegisterMem(mine.s.nic, theirs.memory, 64, &a, &handle), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipDeregisterMem(mine.s.nic, theirs.memory, theirs.handle), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipDeregisterMem(mine.s.nic, mine.s.memory, theirs.handle), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipQueryMem(mine.s.nic, theirs.memory, theirs.handle, &a), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipSetMemAttributes(mine.s.nic, theirs.memory, theirs.handle, &a),
                      VIP_INVALID_PARAMETER);
            // Destroyed here, so that equal numbers of both processes do not name an own object.
            EXPECT_EQ(VipDestroyVi(mine.vi), VIP_SUCCESS);
            EXPECT_EQ(VipDestroyVi(owner.vi), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipDisconnect(owner.vi), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipPostSend(owner.vi, mine.with(0, mine.s.buffer(0), 8), mine.s.handle),
                      VIP_INVALID_PARAMETER);
            mine.vi = mine.another();
        });
}

// Descriptors and buffers in another's memory, by its handle and at its address.
TEST_P(functional_protection, of_memory_handles) {
    machines m(2);
    side* owner = nullptr;
    unsigned done = 0;
    m.program(0, [&](environment& in) {
        side mine(in, GetParam());
        std::memset(mine.s.buffer(0), 0x5E, 2 * setup::buffer_bytes);
        mine.with(5, mine.s.buffer(0), 8);
        owner = &mine;
        in.until([&] { return done == 2; });
        for (VIP_ULONG i = 0; i != 2 * setup::buffer_bytes; ++i)
            ASSERT_EQ(mine.s.buffer(0)[i], std::byte{0x5E});
    });
    m.program(1, [&](environment& in) {
        side peer(in, GetParam());
        peer.listen();
        for (unsigned i = 0; i != 4; ++i)
            EXPECT_EQ(VipPostRecv(peer.vi, peer.with(i, peer.s.buffer(0), 64), peer.s.handle), VIP_SUCCESS);
        peer.pause(10 * ms);
        for (unsigned i = 0; i != 64; ++i) EXPECT_NE(peer.s.buffer(0)[i], std::byte{0x5E});
        ++done;
        in.until([&] { return done == 2; });
    });
    m.program(0, [&](environment& in) {
        in.until([&] { return owner != nullptr; });
        side mine(in, GetParam());
        mine.call(1);
        VIP_DESCRIPTOR* d = mine.with(0, owner->s.buffer(0), 8);
        d->DS[0].Local.Handle = owner->s.handle;
        mine.post_send(d);
        EXPECT_EQ(mine.sent() & VIP_STATUS_ERROR_MASK, VIP_UINT32{VIP_STATUS_PROTECTION_ERROR});
        EXPECT_EQ(VipPostSend(mine.vi, owner->s.descriptor(5), owner->s.handle), VIP_SUCCESS);
        mine.pause();
        EXPECT_EQ(mine.codes(), std::vector{VIP_ERROR_POST_DESC});
        ++done;
        in.until([&] { return done == 2; });
    });
    m.run();
}

// An RDMA write into the memory of another process of the target's node.
TEST_P(functional_protection, of_memory_of_a_third_process_from_afar) {
    machines m(2);
    side* third = nullptr;
    unsigned done = 0;
    const auto leave = [&](environment& in) {
        ++done;
        in.until([&] { return done == 2; });
    };
    m.program(1, [&](environment& in) {
        side mine(in, GetParam());
        std::memset(mine.s.buffer(0), 0x5E, setup::buffer_bytes);
        third = &mine;
        in.until([&] { return done == 2; });
        EXPECT_EQ(mine.s.buffer(0)[0], std::byte{0x5E});
        EXPECT_TRUE(mine.errors.empty());
    });
    m.program(1, [&](environment& in) {
        side peer(in, GetParam());
        peer.listen();
        peer.pause(10 * ms);
        EXPECT_EQ(peer.codes(), std::vector{VIP_ERROR_RDMAW_PROT});
        leave(in);
    });
    m.program(0, [&](environment& in) {
        side mine(in, GetParam());
        mine.call(1);
        in.until([&] { return third != nullptr; });
        mine.post_send(mine.rdma_write(0, mine.s.buffer(0), 64, third->s.buffer(0), third->s.handle));
        mine.sent();
        leave(in);
    });
    m.run();
}

/// The doorbell page of the card's process of that number, as the process sees it.
class own_doorbells {
public:
    own_doorbells(environment& in, unsigned process) : in_(in), window_(in.machine.host.bridge, card_base) {
        const auto image = testbench::load_firmware({"myvia", "test"}).image;
        const std::uint32_t interface = *image.address_of("card_interface");
        begin_ = window_.load_big(in.self, abi::card_map::sram + interface +
                                               offsetof(abi::myvia::card_interface_block, doorbell_pages)) +
                 process * abi::myvia::doorbell_page_bytes;
    }
    void ring(std::uint32_t place, std::uint32_t what, std::uint32_t data) {
        const std::uint32_t at = abi::card_map::sram + begin_ + place * sizeof(abi::myvia::doorbell);
        window_.store_big(in_.self, at + offsetof(abi::myvia::doorbell, data), data);
        window_.store_big(in_.self, at + offsetof(abi::myvia::doorbell, what), what);
    }

private:
    static constexpr host::pci_address card_base = 0xE000'0000;
    environment& in_;
    driver::bridge_window window_;
    std::uint32_t begin_;
};

// A process has its own page of doorbells and writes what it likes there: nothing of the others' VIs and
// completion queues moves, and the card goes on.
TEST_P(functional_protection, of_doorbells) {
    machines m(2);
    bool opened = false;
    bool over = false;
    m.program(1, [&](environment& in) {
        side peer(in, GetParam());
        peer.post_receive(peer.with(0, peer.s.buffer(0), 64));
        peer.listen();
        for (unsigned i = 0; i != 200; ++i) {
            ASSERT_EQ(peer.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE) << i;
            ASSERT_EQ(peer.s.buffer(0)[0], std::byte(i));
            peer.post_receive(peer.with(0, peer.s.buffer(0), 64));
            peer.s.buffer(1)[0] = std::byte(i);
            peer.post_send(peer.with(1, peer.s.buffer(1), 8));
            ASSERT_EQ(peer.sent(), VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
        }
        in.until([&] { return over; });
        EXPECT_TRUE(peer.errors.empty());
    });
    m.program(0, [&](environment& in) {  // the card's process 0, with VIs 0 to 3
        side owner(in, GetParam());
        for (unsigned i = 0; i != 3; ++i) owner.another();
        opened = true;
        owner.call(1);
        owner.post_receive(owner.with(0, owner.s.buffer(0), 64));
        for (unsigned i = 0; i != 200; ++i) {
            owner.s.buffer(1)[0] = std::byte(i);
            owner.post_send(owner.with(1, owner.s.buffer(1), 8));
            ASSERT_EQ(owner.sent(), VIP_STATUS_DONE | VIP_STATUS_OP_SEND) << i;
            ASSERT_EQ(owner.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
            ASSERT_EQ(owner.s.buffer(0)[0], std::byte(i));
            owner.post_receive(owner.with(0, owner.s.buffer(0), 64));
        }
        over = true;
        EXPECT_EQ(owner.state(), VIP_STATE_CONNECTED);
        EXPECT_TRUE(owner.errors.empty());
    });
    m.program(0, [&](environment& in) {
        in.until([&] { return opened; });
        side mine(in, GetParam());
        own_doorbells bells(in, 1);
        std::mt19937 random(7);
        for (std::uint32_t place = 0; !over; place = (place + 1) % abi::myvia::doorbells_per_page) {
            const std::uint32_t operation = random() % 8;
            const std::uint32_t index = random() % 6;  // the owner's VIs 0 to 3, its own, one that is none
            const std::uint32_t data = random() % 2 ? random() : random() % 4;
            bells.ring(
                place,
                abi::myvia::doorbell_valid | operation << 16 | (random() % 8 ? index : random() & 0xFFFF),
                data);
            in.self.sleep_for(5 * us);  // slower than the card takes them
        }
    });
    m.run();
}

}  // namespace
}  // namespace vinic::vipl::test
