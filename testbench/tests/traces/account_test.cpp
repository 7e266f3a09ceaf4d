// SPDX-License-Identifier: Apache-2.0
#include "traces/account.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "firmware/abi/myvia_card.h"
#include "hw/sim/simulation.h"

namespace vinic::traces {
namespace {

struct leaf : sim::module {
    leaf(const sc_core::sc_module_name& name, const char* span, bool packet)
        : module(name), span_(*this, span, "spans") {
        if (packet) packet_ = std::make_unique<sim::packet_probe>(*this, "packet", "packets");
    }
    sim::span_probe span_;
    std::unique_ptr<sim::packet_probe> packet_;
};
struct dma_block : sim::module {
    explicit dma_block(const sc_core::sc_module_name& name) : module(name) {}
    leaf channel0{"channel0", "payload", false}, channel2{"channel2", "payload", false};
};
struct card_block : sim::module {
    explicit card_block(const sc_core::sc_module_name& name) : module(name) {}
    leaf pci{"pci", "write", false}, send{"send", "part", true}, receive{"receive", "reception", true};
    dma_block dma{"dma"};
};
struct node_block : sim::module {
    explicit node_block(const sc_core::sc_module_name& name) : module(name) {}
    leaf vipl{"vipl", "call", false};
    card_block nic{"nic"};
};

/// Route byte, header of a one-packet send from VI 5 to VI `to`, eight bytes of payload.
std::vector<std::uint8_t> packet(bool with_route, std::uint8_t sequence, std::uint8_t to = 9) {
    constexpr std::size_t route = 1, payload = 8;
    std::vector<std::uint8_t> bytes(route + sizeof(abi::packet_header) + payload, 0xEE);
    const std::array<std::uint8_t, 20> header{
        0,  0, 0x56, 0x49, abi::packet_send, abi::packet_first | abi::packet_last, 0, 8, 0, to, 0, 5, 0, 0, 0,
        77, 0, 0,    0,    sequence};
    bytes[0] = 0x81;
    std::copy(header.begin(), header.end(), bytes.begin() + route);
    if (!with_route) bytes.erase(bytes.begin());
    return bytes;
}

constexpr std::uint64_t doorbell_of_vi_5 = 0x80000000 | abi::myvia::doorbell_send << 16 | 5;
constexpr std::uint64_t send_slot = 0x1000 + 28, receive_slot = 0x9000 + 28;

struct world {
    sim::simulation simulation;
    node_block a{"node0"}, b{"node1"};
    account watching;

    void post_receive(sim::picoseconds at) {
        b.vipl.span_.report(at, at + 1, "VipPostRecv",
                            {{"card", 0}, {"vi", 9}, {"slot", receive_slot}, {"bytes", 8}});
    }
    /// Instants are 100 apart from `t` on, one for each checkpoint.
    void send(sim::picoseconds t, std::uint8_t sequence) {
        a.vipl.span_.report(t, t + 100, "VipPostSend",
                            {{"card", 0}, {"vi", 5}, {"slot", send_slot}, {"bytes", 8}});
        a.nic.pci.span_.report(t + 150, t + 200, "write",
                               {{"offset", 8}, {"bytes", 4}, {"data", doorbell_of_vi_5}});
        a.nic.dma.channel0.span_.report(
            t + 300, t + 400, "to card",
            {{"host_address", 0x1000}, {"bytes", 64}, {"local_address", 0x500}, {"channel", 0}});
        a.nic.dma.channel0.span_.report(
            t + 500, t + 600, "to card",
            {{"host_address", 0x7000}, {"bytes", 8}, {"local_address", 0x821}, {"channel", 0}});
        a.nic.send.packet_->report(t + 700, packet(true, sequence), "last part", {{"address", 0x800}});
    }
    void arrive(sim::picoseconds t, std::uint8_t sequence) {
        b.nic.receive.packet_->report(t + 800, packet(false, sequence), "packet", {{"address", 0x600}});
        b.nic.dma.channel2.span_.report(
            t + 900, t + 1000, "to host",
            {{"host_address", 0x8000}, {"bytes", 8}, {"local_address", 0x620}, {"channel", 2}});
        b.nic.dma.channel2.span_.report(
            t + 1100, t + 1200, "to host",
            {{"host_address", 0x9010}, {"bytes", 16}, {"local_address", 0x40}, {"channel", 2}});
        b.vipl.span_.report(t + 1250, t + 1300, "VipRecvDone",
                            {{"card", 0}, {"vi", 9}, {"slot", receive_slot}, {"bytes", 8}});
    }
};

TEST(account, stages_of_a_message_add_up_to_its_latency) {
    world w;
    w.post_receive(0);
    w.send(10'000, 0);
    w.arrive(10'000, 0);
    ASSERT_EQ(w.watching.messages().size(), 1u);
    const message_path& m = w.watching.messages().front();
    EXPECT_EQ(m.sender, "node0.nic");
    EXPECT_EQ(m.receiver, "node1.nic");
    EXPECT_EQ(m.latency(), 1300u);
    sim::picoseconds sum = 0;
    for (std::size_t i = 0; i < stage_names.size(); ++i) {
        EXPECT_EQ(m.stage(i), 100u) << stage_names[i];
        sum += m.stage(i);
    }
    EXPECT_EQ(sum, m.latency());
    EXPECT_EQ(m.overlapped, 0u);
    EXPECT_EQ(w.watching.unfinished(), 0u);
}

TEST(account, a_packet_that_is_sent_again_belongs_to_no_new_message) {
    world w;
    w.post_receive(0);
    w.send(10'000, 0);  // lost
    w.a.nic.send.packet_->report(20'000, packet(true, 0), "last part", {{"address", 0x800}});
    EXPECT_EQ(w.watching.unfinished(), 1u);
    w.arrive(30'000, 0);
    ASSERT_EQ(w.watching.messages().size(), 1u);
    EXPECT_EQ(w.watching.messages().front()[checkpoint::send], 10'700u);
    EXPECT_EQ(w.watching.messages().front().latency(), 21'300u);
}

// VI 5 of one node talks to VI 5 of the other, and both are at sequence 0.
TEST(account, directions_of_a_connection_are_told_apart) {
    world w;
    for (node_block* node : {&w.a, &w.b}) {
        node->vipl.span_.report(0, 1, "VipPostRecv",
                                {{"card", 0}, {"vi", 5}, {"slot", receive_slot}, {"bytes", 8}});
        node->vipl.span_.report(10, 20, "VipPostSend",
                                {{"card", 0}, {"vi", 5}, {"slot", send_slot}, {"bytes", 8}});
        node->nic.send.packet_->report(100, packet(true, 0, 5), "last part", {{"address", 0x800}});
    }
    for (node_block* node : {&w.a, &w.b}) {
        node->nic.receive.packet_->report(200, packet(false, 0, 5), "packet", {{"address", 0x600}});
        node->vipl.span_.report(300, 310, "VipRecvDone",
                                {{"card", 0}, {"vi", 5}, {"slot", receive_slot}, {"bytes", 8}});
    }
    ASSERT_EQ(w.watching.messages().size(), 2u);
    for (const message_path& m : w.watching.messages()) EXPECT_NE(m.sender, m.receiver);
    EXPECT_EQ(w.watching.messages()[0].receiver, "node0.nic");
    EXPECT_EQ(w.watching.messages()[1].receiver, "node1.nic");
}

TEST(account, what_lies_before_an_earlier_checkpoint_counts_as_overlap) {
    world w;
    w.post_receive(0);
    w.a.vipl.span_.report(10'000, 10'500, "VipPostSend",
                          {{"card", 0}, {"vi", 5}, {"slot", send_slot}, {"bytes", 0}});
    w.a.nic.pci.span_.report(10'150, 10'200, "write",
                             {{"offset", 8}, {"bytes", 4}, {"data", doorbell_of_vi_5}});
    w.a.nic.send.packet_->report(10'700, packet(true, 0), "last part", {{"address", 0x800}});
    w.arrive(10'000, 0);
    ASSERT_EQ(w.watching.messages().size(), 1u);
    const message_path& m = w.watching.messages().front();
    EXPECT_EQ(m[checkpoint::doorbell], 10'500u);  // it was there 300 ps before VipPostSend returned
    EXPECT_EQ(m.overlapped, 300u);
    EXPECT_EQ(m.latency(), 1300u);
}

TEST(account, tells_each_step_of_a_message_with_its_probe_while_it_is_under_way) {
    struct : message_listener {
        void on_step(const message_path& m, checkpoint what, const sim::probe& where, sim::picoseconds begin,
                     sim::picoseconds end) override {
            EXPECT_EQ(m.number, 1u);
            EXPECT_EQ(m.descriptor, 0x1000u);
            steps.push_back(fmt::format("{} {} {}-{}", static_cast<int>(what), where.name(), begin, end));
        }
        void on_packet_of(const message_path& m, const abi::packet_header& h) override {
            packets.push_back(fmt::format("{} {}", m.number, h.sequence));
        }
        std::vector<std::string> steps, packets;
    } told;
    world w;
    w.watching.tell(told);
    w.post_receive(0);
    w.send(10'000, 7);
    w.arrive(10'000, 7);
    const auto step = [](checkpoint what, const char* rest) {
        return fmt::format("{} {}", static_cast<int>(what), rest);
    };
    EXPECT_EQ(told.steps,
              (std::vector<std::string>{
                  step(checkpoint::post_begin, "node0.vipl.call 10000-10100"),
                  step(checkpoint::doorbell, "node0.nic.pci.write 10150-10200"),
                  step(checkpoint::descriptor_begin, "node0.nic.dma.channel0.payload 10300-10400"),
                  step(checkpoint::payload_begin, "node0.nic.dma.channel0.payload 10500-10600"),
                  step(checkpoint::send, "node0.nic.send.packet 10700-10700"),
                  step(checkpoint::receive, "node1.nic.receive.packet 10800-10800"),
                  step(checkpoint::data_begin, "node1.nic.dma.channel2.payload 10900-11000"),
                  step(checkpoint::completion_begin, "node1.nic.dma.channel2.payload 11100-11200"),
                  step(checkpoint::taken, "node1.vipl.call 11250-11300")}));
    EXPECT_EQ(told.packets, std::vector<std::string>{"1 7"});
}

}  // namespace
}  // namespace vinic::traces
