// SPDX-License-Identifier: Apache-2.0
#include "traces/anatomy.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include "firmware/abi/myvia_card.h"
#include "hw/sim/simulation.h"
#include "traces/account.h"

namespace vinic::traces {
namespace {

constexpr const char* dma_states[] = {"idle", "wait", "fetch", "setup", "transfer", "write_back"};
enum dma_state : std::uint8_t { idle, wait, fetch, setup, transfer, write_back };

struct channel_block : sim::module {
    explicit channel_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::value_probe state{*this, "state", 3, "state", dma_states};
    sim::span_probe pulse{*this, "pulse", "pulse"}, payload{*this, "payload", "payload"},
        block{*this, "block", "block"};
};
struct dma_block : sim::module {
    explicit dma_block(const sc_core::sc_module_name& name) : module(name) {}
    channel_block channel0{"channel0"}, channel1{"channel1"}, channel2{"channel2"};
};
struct core_block : sim::module {
    explicit core_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::span_probe exchange{*this, "exchange", "exchange"};
};
struct engine_block : sim::module {
    engine_block(const sc_core::sc_module_name& name, const char* span)
        : module(name), spans(*this, span, "spans") {}
    sim::span_probe spans;
    sim::packet_probe packet{*this, "packet", "packets"};
};
struct pci_block : sim::module {
    explicit pci_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::span_probe write{*this, "write", "writes"};
};
struct card_block : sim::module {
    explicit card_block(const sc_core::sc_module_name& name) : module(name) {}
    pci_block pci{"pci"};
    dma_block dma{"dma"};
    core_block lanai{"lanai"};
    engine_block send{"send", "part"}, receive{"receive", "reception"};
};
struct bus_block : sim::module {
    explicit bus_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::value_probe req0{*this, "req0_n", 1, "REQ#"}, req1{*this, "req1_n", 1, "REQ#"};
    sim::span_probe transaction{*this, "transaction", "tenures"};

    /// A tenure of one clock of 10 ps for the address and `data` for data, asked for 20 before.
    void tenure(sim::value_probe& req, sim::picoseconds begin, std::uint64_t address, std::uint64_t data) {
        req.set(begin - 20, 0);
        req.set(begin, 1);
        transaction.report(
            begin, begin + 10 + 10 * data, "read",
            {{"address", address}, {"bytes", 8 * data}, {"clocks", 2 + data}, {"first_data", 1}});
    }
};
struct bridge_block : sim::module {
    explicit bridge_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::span_probe store{*this, "store", "stores"}, write{*this, "write", "writes"};
};
struct host_block : sim::module {
    explicit host_block(const sc_core::sc_module_name& name) : module(name) {}
    bridge_block bridge{"bridge"};
};
struct vipl_block : sim::module {
    explicit vipl_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::span_probe call{*this, "call", "calls"};
};
struct node_block : sim::module {
    explicit node_block(const sc_core::sc_module_name& name) : module(name) {}
    vipl_block vipl{"vipl"};
    host_block host{"host"};
    bus_block bus{"bus"};
    card_block nic{"nic"};
};

constexpr std::uint64_t doorbell_of_vi_5 = 0x80000000 | abi::myvia::doorbell_send << 16 | 5;
constexpr std::uint64_t send_slot = 0x1000 + 28, receive_slot = 0x9000 + 28;
constexpr std::uint64_t bell_word = 0x4000, descriptor_block = 0x300, completion_block = 0x320;

/// An empty message of VI 5 to VI 9.
std::vector<std::uint8_t> packet(bool with_route) {
    std::vector<std::uint8_t> bytes(1 + sizeof(abi::packet_header), 0);
    const std::array<std::uint8_t, 16> header{
        0, 0, 0x56, 0x49, abi::packet_send, abi::packet_first | abi::packet_last, 0, 0, 0, 9, 0, 5,
        0, 0, 0,    77};
    bytes[0] = 0x81;
    std::copy(header.begin(), header.end(), bytes.begin() + 1);
    if (!with_route) bytes.erase(bytes.begin());
    return bytes;
}

struct world {
    sim::simulation simulation;
    node_block a{"node0"}, b{"node1"};
    account following;
    anatomy watching;

    world() { following.tell(watching); }

    static void says(node_block& n, sim::picoseconds at, const char* what, std::uint64_t address) {
        n.nic.lanai.exchange.report(at, at, what, {{"address", address}, {"value", 1}, {"pc", 0}});
    }
    /// A block that is started at `pulse`, asks its engine 10 later and waits 5 for it; its block takes 10,
    /// set-up 10; its data are in place at `placed`, its WAKE comes 10 later.
    static void move(channel_block& c, sim::picoseconds pulse, sim::picoseconds placed, const char* way,
                     std::uint64_t host, std::uint64_t bytes, std::uint64_t local, std::uint64_t block) {
        c.pulse.report(pulse, pulse, "pulse");
        c.state.set(pulse, wait);
        c.state.set(pulse + 10, wait);
        c.state.set(pulse + 15, fetch);
        c.state.set(pulse + 25, setup);
        c.state.set(pulse + 35, transfer);
        c.payload.report(pulse + 35, placed, way,
                         {{"host_address", host}, {"bytes", bytes}, {"local_address", local}});
        c.state.set(placed, write_back);
        c.block.report(pulse + 15, placed + 10, way, {{"descriptor", block}, {"terminal", 1}});
        c.state.set(placed + 10, idle);
    }
    void message();
};

void world::message() {
    b.vipl.call.report(0, 1, "VipPostRecv", {{"card", 0}, {"vi", 9}, {"slot", receive_slot}, {"bytes", 8}});
    says(a, 500, "look", 0xfffffe50);
    // VipPostSend: the doorbell's store leaves at 1060, asks for the bus at 1080, has it at 1100.
    a.vipl.call.report(1000, 1070, "VipPostSend",
                       {{"card", 0}, {"vi", 5}, {"slot", send_slot}, {"bytes", 0}});
    a.bus.tenure(a.bus.req0, 1100, 0xe0004000, 1);
    a.host.bridge.store.report(1060, 1120, "store", {{"address", 0xe0004000}});
    a.nic.pci.write.report(1120, 1130, "write",
                           {{"offset", bell_word}, {"bytes", 4}, {"data", doorbell_of_vi_5}});
    // The core does other work until it looks at 1200, and finds the doorbell at 1220.
    says(a, 1110, "store", 0xfffffe50);
    says(a, 1150, "store", 0xfffffe50);
    says(a, 1200, "look", 0xfffffe50);
    says(a, 1220, "seen", bell_word);
    // The descriptor's read is retried once.
    a.bus.tenure(a.bus.req1, 1380, 0x1000, 0);
    a.bus.tenure(a.bus.req1, 1450, 0x1000, 2);
    move(a.nic.dma.channel0, 1300, 1490, "to card", 0x1000, 64, 0x500, descriptor_block);
    // The core polls: it looks at 1520 and takes the block up at 1530.
    says(a, 1310, "look", 0xfffffe50);
    says(a, 1520, "look", 0xfffffe50);
    says(a, 1530, "seen", descriptor_block + 4);
    a.nic.send.packet.report(1610, packet(true), "last part", {{"address", 0x800}});
    a.nic.send.spans.report(1600, 1700, "last part", {{"address", 0x800}});
    b.nic.receive.spans.report(1650, 1800, "packet", {{"address", 0x600}});
    says(b, 1000, "look", 0xfffffe50);
    b.nic.receive.packet.report(1800, packet(false), "packet", {{"address", 0x600}});
    says(b, 1815, "look", 0xfffffe50);
    says(b, 1820, "seen", 0x604);
    b.bus.tenure(b.bus.req1, 1980, 0x9010, 2);
    move(b.nic.dma.channel2, 1900, 2010, "to host", 0x9010, 16, 0x40, completion_block);
    b.host.bridge.write.report(2010, 2060, "write", {{"address", 0x9010}});
    b.vipl.call.report(2100, 2150, "VipRecvDone",
                       {{"card", 0}, {"vi", 9}, {"slot", receive_slot}, {"bytes", 0}});
}

TEST(anatomy, every_wait_is_a_stage_of_its_own_and_all_add_up) {
    world w;
    w.message();
    ASSERT_EQ(w.watching.messages().size(), 1u);
    const message_anatomy& m = w.watching.messages().front();
    using j = journey;
    using a = activity;
    const std::vector<std::pair<stage, sim::picoseconds>> expected{
        {{j::post, a::library}, 60},        {{j::doorbell, a::posting}, 20},
        {{j::doorbell, a::grant}, 20},      {{j::doorbell, a::address}, 10},
        {{j::doorbell, a::transfer}, 10},   {{j::doorbell, a::place}, 10},
        {{j::descriptor, a::busy}, 70},     {{j::descriptor, a::look}, 20},
        {{j::descriptor, a::firmware}, 80}, {{j::descriptor, a::start}, 10},
        {{j::descriptor, a::engine}, 5},    {{j::descriptor, a::fetch}, 10},
        {{j::descriptor, a::setup}, 10},    {{j::descriptor, a::request}, 25},
        {{j::descriptor, a::grant}, 20},    {{j::descriptor, a::latency}, 70},
        {{j::descriptor, a::address}, 10},  {{j::descriptor, a::transfer}, 20},
        {{j::descriptor, a::place}, 10},    {{j::descriptor, a::finish}, 10},
        {{j::send, a::look}, 20},           {{j::send, a::firmware}, 80},
        {{j::send, a::start}, 10},          {{j::wire, a::head}, 40},
        {{j::wire, a::body}, 150},          {{j::completion, a::look}, 15},
        {{j::completion, a::firmware}, 85}, {{j::completion, a::start}, 10},
        {{j::completion, a::engine}, 5},    {{j::completion, a::fetch}, 10},
        {{j::completion, a::setup}, 10},    {{j::completion, a::request}, 25},
        {{j::completion, a::grant}, 20},    {{j::completion, a::address}, 10},
        {{j::completion, a::transfer}, 20}, {{j::take, a::visible}, 50},
        {{j::take, a::poll}, 40},           {{j::take, a::returns}, 50}};
    ASSERT_EQ(m.path.size(), expected.size());
    sim::picoseconds at = 1000;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(m.path[i].what, expected[i].first) << name_of(m.path[i].what);
        EXPECT_EQ(m.path[i].begin, at) << name_of(m.path[i].what);
        EXPECT_EQ(m.path[i].length(), expected[i].second) << name_of(m.path[i].what);
        at = m.path[i].end;
    }
    EXPECT_EQ(m.latency(), 1150u);
    EXPECT_FALSE(m.measured);
}

TEST(anatomy, what_is_done_meanwhile_lies_beside_the_path) {
    world w;
    w.message();
    const message_anatomy& m = w.watching.messages().front();
    ASSERT_EQ(m.beside.size(), 2u);
    EXPECT_EQ(name_of(m.beside[0].what), "post: rest of VipPostSend");
    EXPECT_EQ(m.beside[0].length(), 10u);
    EXPECT_EQ(m.beside[1].what, (stage{journey::completion, activity::finish}));
    EXPECT_EQ(m.beside[1].length(), 10u);
}

}  // namespace
}  // namespace vinic::traces
