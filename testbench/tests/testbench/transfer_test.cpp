// SPDX-License-Identifier: Apache-2.0
// The ways in which a payload gets to the card (driver.transfer_mode), on MyVIA: every message arrives whole,
// with the errors of the standard, and each way costs what it is meant to cost.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

const std::string modes[] = {"zero_copy", "copy", "pio", "write_combined", "automatic"};

json rows_of(const std::string& mode, const std::string& run) {
    const auto outcome =
        program().run("run " + run.substr(0, run.find(' ')) + " --json --set driver.transfer_mode=" + mode +
                      (run.find(' ') == std::string::npos ? "" : run.substr(run.find(' '))));
    EXPECT_EQ(outcome.status, 0) << mode << ": " << outcome.errors;
    return json::parse(outcome.output)["results"];
}

class transfer_mode : public testing::TestWithParam<std::string> {};

TEST_P(transfer_mode, messages_arrive_whole) {
    for (const char* reliability : {"unreliable", "delivery"})
        for (const char* workload : {"pingpong", "stream"})
            rows_of(GetParam(), std::string(workload) +
                                    " -- verify=true count=40 sizes=1,3,64,1000,1024,1025,4096,9000 "
                                    "reliability=" +
                                    reliability);
    rows_of(GetParam(), "completion -- segments=1,2 sizes=8,4096 way=queue_wait");
}

TEST_P(transfer_mode, lost_packets_are_sent_again) {
    rows_of(
        GetParam(),
        "stream --set link.bit_error_rate=1e-6 -- verify=true count=60 sizes=64,1024 reliability=delivery");
}

TEST_P(transfer_mode, same_bytes_in_every_mode_of_the_simulator) {
    const program vinic;
    const std::string run =
        "run transfer --json - --reproducible --fingerprint --set driver.transfer_mode=" + GetParam();
    const std::string few = " -- sizes=8,1024 count=3 warmup=1";
    const auto plain = vinic.run(run + few);
    ASSERT_EQ(plain.status, 0) << plain.errors;
    for (const char* how : {" --lockstep", " --shuffle 5"})
        EXPECT_EQ(vinic.run(run + how + few).output, plain.output);
}

TEST_P(transfer_mode, memory_that_is_not_the_vis_stays_an_error) {
    const program vinic;
    vinic.write("t.lua", R"(
description "A segment outside of its memory"
process(0, function()
    local e = open_endpoint { bytes = 64, sends = 1, receives = 1, reliability = "delivery" }
    e:call(1, "t")
    local d = e.sends[1].descriptor
    d:data(0, e.memory.address - 4096, e.handle, 8)
    d.Length = 8
    ok(VipPostSend(e.vi, d, e.handle))
    local status, done
    repeat status, done = VipSendDone(e.vi) until status ~= VIP_NOT_DONE
    check(done.Status & VIP_STATUS_PROTECTION_ERROR ~= 0, "no protection error")
end)
process(1, function()
    local e = open_endpoint { bytes = 64, sends = 1, receives = 1, reliability = "delivery" }
    e:listen("t")
    sleep(1000000000)
end)
)");
    const auto outcome = vinic.run("run ./t.lua --set driver.transfer_mode=" + GetParam());
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
}

INSTANTIATE_TEST_SUITE_P(myvia, transfer_mode, testing::ValuesIn(modes),
                         [](const auto& of) { return of.param; });

double of(const std::string& mode, int bytes, const char* column) {
    return rows_of(mode, "transfer -- buffers=1 sizes=" + std::to_string(bytes))[0][column].get<double>();
}

// What a pushed message saves is two reads of host memory; what it costs is the processor's stores.
TEST(transfer_modes, pushed_small_messages_are_faster_and_cost_the_processor_more) {
    EXPECT_LT(of("write_combined", 8, "latency_us"), of("zero_copy", 8, "latency_us") - 1);
    EXPECT_GT(of("pio", 64, "post_us"), of("zero_copy", 64, "post_us") + 32 * 0.06)
        << "32 stores of 60 ns, posted";
    EXPECT_LT(of("write_combined", 1024, "post_us"), of("pio", 1024, "post_us"));
    EXPECT_GT(of("copy", 4096, "post_us"), of("zero_copy", 4096, "post_us") + 4096 / 0.4 / 1000)
        << "0.4 bytes a clock of 1 ns";
}

TEST(transfer_modes, longer_messages_than_a_way_can_take_are_fetched) {
    EXPECT_EQ(of("pio", 2048, "post_us"), of("zero_copy", 2048, "post_us"));
    EXPECT_EQ(of("pio", 2048, "latency_us"), of("zero_copy", 2048, "latency_us"));
}

// Every card whose memory the host can write, with each way to ring: doorbells in a FIFO, in pages of VIs, in
// a queue; descriptors in host memory or in the card. What is pushed need not be fetched: on each card a
// small message is faster so.
class other_cards : public testing::TestWithParam<const char*> {};

TEST_P(other_cards, have_all_ways) {
    const std::string design = std::string(" --design ") + GetParam();
    std::map<std::string, double> latency;
    for (const std::string& mode : modes) {
        rows_of(mode, "stream" + design + " -- verify=true count=20 sizes=3,1024,1025");
        latency[mode] =
            rows_of(mode, "pingpong" + design + " -- verify=true count=10 sizes=8")[0]["latency_us"];
    }
    EXPECT_LT(latency["write_combined"], latency["zero_copy"] - 0.5) << "a read of host memory, at least";
    EXPECT_LT(latency["write_combined"], latency["pio"]);
    EXPECT_EQ(latency["automatic"], latency["write_combined"]) << "up to 256 bytes";
}

INSTANTIATE_TEST_SUITE_P(cards, other_cards, testing::Values("myvia2", "gm_pci64b", "bvia", "firmvia"),
                         [](const auto& of) { return std::string(of.param); });

TEST(transfer_modes, designs_that_have_none_say_who_has_them) {
    for (const std::string design : {"clan", "hvia_ge", "xuni", "mvia_ge", "udp_fe"}) {
        const auto outcome = program().run("run pingpong --set driver.transfer_mode=pio --design " + design);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(outcome.errors,
                  "vinic: --set: no parameter of this design is named 'driver.transfer_mode'; bvia, firmvia, "
                  "gm_pci64b, myvia, myvia2 have it\n");
    }
}

}  // namespace
}  // namespace vinic::testbench
