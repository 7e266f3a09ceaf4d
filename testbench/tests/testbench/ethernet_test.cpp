// SPDX-License-Identifier: Apache-2.0
// Designs with a plain Ethernet card: M-VIA, UDP and TCP, as programs of the command line see them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "testbench/tests/testbench/both_ways.h"
#include "testbench/tests/testbench/run_result.h"

namespace vinic::testbench {
namespace {

// A stream retransmits late: nothing more may come for a tenth of a second.
const std::string both_ways = both_ways_with(
    {.packet_bytes = 1460, .over_bytes = 40, .largest_bytes = 20000, .rest_ps = 100'000'000'000});

struct network {
    const char* name;
    const char* options;
};

class lossy : public testing::TestWithParam<std::tuple<const char*, network, int>> {};

TEST_P(lossy, delivers_all_once_in_order_and_right) {
    const auto& [how, net, seed] = GetParam();
    const program vinic;
    vinic.write("both.lua", both_ways);
    // A program that polls sockets calls the kernel each time: shorter pauses.
    const auto outcome = vinic.run(
        "run both.lua --design mvia_ge --set sockets.retransmit_us=2000 "
        "--set sockets.delayed_ack_us=500 --json --stats --seed " +
            std::to_string(seed) + net.options + " -- " + how,
        "timeout 120");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    // There was something to mend.
    const json result = json::parse(outcome.output);
    const double sent = sum_of(result, ".nic.mac.frames_sent");
    const double received = sum_of(result, ".nic.mac.frames_received");
    EXPECT_GT(received, 0);
    EXPECT_LT(received, sent);
}

INSTANTIATE_TEST_SUITE_P(
    networks, lossy,
    testing::Combine(testing::Values("level=delivery", "level=reception", "transport=tcp"),
                     testing::Values(network{"bit_errors", " --set link.bit_error_rate=1e-5"},
                                     network{"drops", " --set link.drop_rate=0.05"}),
                     testing::Range(1, 4)),
    [](const auto& of) {
        const std::string how = std::get<0>(of.param);
        return how.substr(how.find('=') + 1) + "_" + std::get<1>(of.param).name + "_" +
               std::to_string(std::get<2>(of.param));
    });

class designs : public testing::TestWithParam<const char*> {};

TEST_P(designs, give_the_same_bytes_in_every_run_and_mode) {
    const std::string run =
        std::string("run pingpong --reproducible --json --account --stats --design ") + GetParam();
    const std::string rest = " -- sizes=1,1024,9000 count=4 warmup=2 verify=true";
    const auto first = program().run(run + rest);
    ASSERT_EQ(first.status, 0) << first.errors;
    EXPECT_EQ(program().run(run + rest).output, first.output);
    for (const char* seed : {"1", "2", "3"})
        EXPECT_EQ(program().run(run + " --shuffle " + seed + rest).output, first.output) << seed;
    const auto slow = program().run(run + " --lockstep" + rest);
    EXPECT_EQ(json::parse(slow.output)["results"], json::parse(first.output)["results"]);
}

TEST_P(designs, run_every_workload) {
    for (const char* workload : {"stream -- verify=true", "rate --", "bidirectional --"}) {
        const std::string text = workload;
        const auto outcome =
            program().run("run " + text.substr(0, text.find(' ')) + " --design " + GetParam() +
                          text.substr(text.find(' ')) + " sizes=8,1500,16384 count=20 warmup=4");
        EXPECT_EQ(outcome.status, 0) << workload << outcome.errors;
    }
}

/// The stages of the last message add up to its latency, and so do the means.
void expect_whole(const json& account) {
    std::uint64_t sum = 0, latency = 0;
    double means = 0, mean = 0;
    for (const json& s : account["stages"]) {
        const bool whole = s["stage"] == "latency";
        (whole ? latency : sum) += s["last_ps"].get<std::uint64_t>();
        (whole ? mean : means) += s["mean_ps"].get<double>();
    }
    EXPECT_GT(latency, 0u);
    EXPECT_EQ(sum, latency);
    EXPECT_NEAR(means, mean, 1);
}

json accounts_of(const std::string& run) {
    const auto outcome = program().run("run pingpong --json --account --design " + run);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return json::parse(outcome.output)["account"];
}

TEST_P(designs, account_for_every_picosecond) {
    const json accounts = accounts_of(std::string(GetParam()) + " -- sizes=1,64,1024,1400 count=5 warmup=2");
    ASSERT_EQ(accounts.size(), 4u);
    for (const json& one : accounts) {
        EXPECT_EQ(one["count_messages"], 10);
        expect_whole(one);
    }
}

INSTANTIATE_TEST_SUITE_P(all, designs, testing::Values("mvia_ge", "mvia_fe", "udp_ge", "udp_fe"));

std::uint64_t last_of(const json& account, const std::string& stage) {
    for (const json& s : account["stages"])
        if (s["stage"] == stage) return s["last_ps"].get<std::uint64_t>();
    return 0;
}

/// Of one segment, of several, and with segments that are sent again. A message is four bytes of length and
/// its own; a clock is a nanosecond.
TEST(ethernet, streams_account_for_every_picosecond) {
    const json accounts = accounts_of("udp_ge -- transport=tcp sizes=1,1400,9000 count=5 warmup=2");
    ASSERT_EQ(accounts.size(), 3u);
    for (const json& one : accounts) {
        EXPECT_EQ(one["count_messages"], 10);
        expect_whole(one);
    }
    EXPECT_EQ(last_of(accounts[0], "post: protocol"), 900'000u) << "tcp_send_clocks";
    EXPECT_EQ(last_of(accounts[0], "completion: protocol"), 1'000'000u) << "tcp_receive_clocks";
    EXPECT_EQ(last_of(accounts[0], "completion: checksum"), 56'000u) << "20 of header and 5, 0.45 a clock";
    EXPECT_EQ(last_of(accounts[1], "post: earlier packets of the message"), 0u);
    EXPECT_GT(last_of(accounts[2], "post: earlier packets of the message"), 6 * 900'000u);
    for (const json& one :
         accounts_of("udp_ge --set link.drop_rate=0.05 --set sockets.retransmit_us=2000 -- transport=tcp "
                     "sizes=9000 count=20")) {
        EXPECT_EQ(one["count_messages"], 40);
        expect_whole(one);
    }
}

// Processes of a node share its sockets: each byte goes to one of them, and all of them hear of the end.
TEST(sockets, several_processes_read_and_write_one_stream) {
    const program vinic;
    vinic.write("shared.lua", R"(
description "Three writers and three readers of one connection"
local bytes, count = 30000, 20
local sender, receiver
local written, read, ended = 0, 0, 0
local function write()
    local m = memory(bytes)
    while not sender do sleep(1000000) end
    for _ = 1, count do assert(send(sender, m, 0, bytes) == bytes) end
    written = written + 1
    if written == 3 then close(sender) end
end
local function read_all()
    local m = memory(bytes)
    while not receiver do sleep(1000000) end
    while true do
        local n = assert(recv(receiver, m, 0, 20000))
        if n == 0 then break end
        read = read + n
    end
    ended = ended + 1
    check(ended < 3 or read == 3 * count * bytes, "all bytes are read, each once: " .. read)
end
process(0, function()
    local s = socket(SOCK_STREAM)
    sleep(1000000000)
    assert(connect(s, { host = 1, port = 7 }))
    sender = s
    write()
end)
process(1, function()
    local s = socket(SOCK_STREAM)
    bind(s, 7)
    listen(s)
    receiver = accept(s)
    read_all()
end)
process(0, write) process(0, write) process(1, read_all) process(1, read_all)
)");
    for (const std::string processors : {"1", "2", "4"}) {
        const auto outcome =
            vinic.run("run shared.lua --design udp_ge --set host.cpu.count=" + processors, "timeout 120");
        EXPECT_EQ(outcome.status, 0) << processors << outcome.errors;
    }
}

// 32768 to 60999 are given out, then there are none.
TEST(sockets, a_node_has_so_many_ports) {
    const program vinic;
    vinic.write("ports.lua", R"(
description "Takes every port, then asks for more"
process(0, function()
    local m = memory(8)
    for _ = 32768, 60999 do assert(bind(socket(SOCK_DGRAM), 0)) end
    local function refused(name, result, why) check(result == nil and why == name, name .. ": " .. tostring(why)) end
    refused("EADDRINUSE", bind(socket(SOCK_DGRAM), 0))
    refused("EADDRNOTAVAIL", connect(socket(SOCK_STREAM), { host = 1, port = 7 }))
    refused("EAGAIN", sendto(socket(SOCK_DGRAM), m, 0, 8, { host = 1, port = 7 }))
    local last = socket(SOCK_DGRAM)
    check(bind(last, 9), "others are there to be named")
    setsockopt(last, SO_RCVTIMEO, math.maxinteger)
    check(recv(last, m, 0, 8, MSG_DONTWAIT) == nil, "nothing is there")
end)
process(1, function() end)
)");
    const auto outcome = vinic.run("run ports.lua --design udp_ge", "timeout 120");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
}

/// What does not fit together is said in one line, before anything runs.
TEST(ethernet, cards_networks_firmware_and_transports_that_do_not_fit) {
    const program vinic;
    vinic.write("crossbar.yaml",
                "base: mvia_ge\ntopology: {shape: clos, switch_ports: 8}\n"
                "fabric.switching: {value: crossbar, source: assumed}\n");
    const std::pair<const char*, const char*> wrong[] = {
        {"clan --set fabric.switching=ethernet", "a card of kind vi_engine needs crossbar"},
        {"myvia --set fabric.switching=ethernet", "a card of kind lanai needs crossbar"},
        {"crossbar.yaml", "a card of kind ethernet needs ethernet"},
        {"clan --set link.crc8=false", "a card of kind vi_engine checks the CRC-8"},
        {"myvia --set topology=switch --set fabric.cable1.crc8=false",
         "fabric.cable1.crc8 = false: a card of kind lanai"},
        {"mvia_ge --set link.crc8=true", "its MAC adds the FCS"},
        {"udp_ge --set link.flow_control=true", "gap_bytes = 12: with flow_control"},
        {"clan --set host.bridge.initiator.max_burst_bytes=7", "max_burst_bytes 7 is no multiple of 4"},
        {"clan --set firmware=myvia", "a card of kind 'vi_engine' runs none"},
        {"mvia_ge --set firmware=myvia", "a card of kind 'ethernet' runs none"},
        {"clan --set transport=udp", "a card of kind vi_engine has vi"},
        {"mvia_ge --set transport=ipx", "a card of kind ethernet has vi, udp, tcp"},
        {"clan -- transport=udp", "argument transport=udp: expected one of vi"},
        {"udp_ge -- sizes=65508", "argument sizes=65508"},
        {"bvia -- reliability=delivery", "reliability=delivery: the card does not offer it"}};
    for (const auto& [options, says] : wrong) {
        const auto outcome = vinic.run(std::string("run pingpong --json p.json --design ") + options);
        EXPECT_EQ(outcome.status, 2) << options;
        EXPECT_NE(outcome.errors.find(says), std::string::npos) << options << ": " << outcome.errors;
        EXPECT_EQ(outcome.errors.find('\n'), outcome.errors.size() - 1) << options << ": " << outcome.errors;
        EXPECT_FALSE(vinic.has("p.json")) << options;
    }
}

/// Wireshark's engine finds nothing wrong with the headers and checksums of IP, UDP and TCP.
TEST(ethernet, captures_are_what_wireshark_expects) {
    if (std::system("tshark --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no tshark";
    for (const char* transport : {"udp", "tcp"}) {
        const program vinic;
        const auto outcome =
            vinic.run(std::string("run pingpong --design udp_ge --pcap p.pcapng -- sizes=0,7,1000,5000 "
                                  "count=3 transport=") +
                      transport);
        ASSERT_EQ(outcome.status, 0) << outcome.errors;
        EXPECT_EQ(vinic.run("trace p.pcapng").status, 0);
        const std::string read = "cd '" + vinic.folder().string() +
                                 "' && tshark -n -r p.pcapng -o ip.check_checksum:TRUE -o "
                                 "udp.check_checksum:TRUE -o tcp.check_checksum:TRUE "
                                 "-o eth.check_fcs:TRUE -T fields -e frame.number ";
        EXPECT_EQ(
            std::system((read + "-Y '_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0 || "
                                "tcp.checksum.status == 0 || eth.fcs.status == 0' >bad.txt 2>err.txt")
                            .c_str()),
            0)
            << vinic.read("err.txt");
        EXPECT_EQ(vinic.read("bad.txt"), "") << transport;
        EXPECT_EQ(std::system((read + "-Y 'ip.checksum.status == 1' >good.txt 2>err.txt").c_str()), 0);
        EXPECT_NE(vinic.read("good.txt"), "");
    }
}

std::map<int, double> latencies(const std::string& options, const std::string& sizes) {
    const auto outcome =
        program().run("run pingpong --json " + options + " -- count=10 warmup=5 sizes=" + sizes);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    std::map<int, double> all;
    const json result = json::parse(outcome.output);
    for (const json& row : result["results"])
        all[row["size_bytes"].get<int>()] = row["latency_us"].get<double>();
    return all;
}

/// A frame of 1 KB takes 85 us of Fast Ethernet, preamble and headers included; the smallest one 5.8 us.
TEST(ethernet, software_dominates_small_messages_and_the_wire_large_ones) {
    for (const char* design : {"mvia_fe", "udp_fe"}) {
        const auto took = latencies(std::string("--design ") + design, "1,1024");
        constexpr double small_frame = 72 * 0.08, kilobyte_frame = (8 + 18 + 32 + 1024) * 0.08;
        EXPECT_GT(took.at(1), 3 * small_frame) << design;
        EXPECT_LT(took.at(1024), 2 * kilobyte_frame) << design;
    }
}

TEST(ethernet, kernel_level_vi_is_faster_than_sockets) {
    const double vi = latencies("--design mvia_ge", "8").at(8);
    const double udp = latencies("--design udp_ge", "8").at(8);
    const double tcp = latencies("--design udp_ge --set transport=tcp", "8").at(8);
    EXPECT_LT(vi, udp);
    EXPECT_LT(udp, tcp);
}

TEST(ethernet, a_switch_joins_more_than_two_nodes) {
    for (const char* design : {"mvia_ge", "udp_ge"}) {
        const auto outcome =
            program().run(std::string("run all_to_all --nodes 4 --set topology=switch --design ") + design +
                          " -- sizes=8,4096 rounds=2");
        EXPECT_EQ(outcome.status, 0) << design << outcome.errors;
    }
}

TEST(ethernet, sockets_need_an_ethernet_card) {
    const auto outcome = program().run("run pingpong --design myvia -- transport=udp sizes=8 count=1");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.errors.find("expected one of vi"), std::string::npos) << outcome.errors;
}

/// Who relies on UDP although the network loses frames hears why its program waits, or finds wrong bytes.
TEST(ethernet, what_udp_loses_is_said) {
    const std::string lossy = "run stream --design udp_ge --set link.drop_rate=0.02 -- sizes=8 count=200";
    const auto waits = program().run(lossy);
    EXPECT_EQ(waits.status, 3);
    EXPECT_NE(waits.errors.find("of UDP w"), std::string::npos) << waits.errors;
    EXPECT_NE(waits.errors.find("lost, and nobody sends again"), std::string::npos) << waits.errors;
    const auto wrong = program().run(lossy + " verify=true window=256");
    EXPECT_NE(wrong.errors.find("wrong payload"), std::string::npos) << wrong.errors;
    EXPECT_NE(wrong.errors.find("lost, and nobody sends again"), std::string::npos) << wrong.errors;
    const auto other = program().run("run pingpong --design udp_ge -- sizes=65536 count=1");
    EXPECT_EQ(other.errors.find("lost"), std::string::npos) << other.errors;
}

TEST(ethernet, a_datagram_has_its_limit) {
    const auto outcome = program().run("run pingpong --design udp_ge -- sizes=65536 count=1");
    EXPECT_NE(outcome.status, 0);
    EXPECT_NE(outcome.errors.find("65507"), std::string::npos) << outcome.errors;
}

}  // namespace
}  // namespace vinic::testbench
