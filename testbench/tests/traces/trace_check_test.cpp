// SPDX-License-Identifier: Apache-2.0
#include "traces/trace_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "traces/trace_difference.h"

namespace vinic::traces {
namespace {

std::uint64_t count(const trace_summary& of, const std::string& what) {
    for (const auto& [name, value] : of.counts)
        if (name == what) return value;
    return ~std::uint64_t{0};
}

const std::string row = R"({"ph":"M","pid":1,"tid":5,"name":"thread_name","args":{"name":"bus"}},)"
                        "\n";
std::string array(const std::string& events) { return "[\n" + row + events + "\n]\n"; }
std::string slice(const char* ts, const char* dur) {
    return fmt::format(R"({{"ph":"X","pid":1,"tid":5,"ts":{},"dur":{},"name":"a"}})", ts, dur);
}
std::string arrow(char phase, const char* ts) {
    return fmt::format(R"({{"ph":"{}","pid":1,"tid":5,"id":9,"name":"m","cat":"m","ts":{}}})", phase, ts);
}

TEST(trace_check, a_timeline_holds_slices_arrows_and_samples) {
    const auto found =
        check_trace(array(slice("1.000000", "3.5") + ",\n" + slice("2.0", "0.000001") + ",\n" +
                          slice("6.0", "1.0") + ",\n" + arrow('s', "1.5") + ",\n" + arrow('f', "6.000000") +
                          ",\n{\"ph\":\"C\",\"pid\":1,\"ts\":7,\"name\":\"q\",\"args\":{\"d\":1}}"));
    EXPECT_EQ(found.kind, "timeline");
    EXPECT_EQ(found.faults, std::vector<std::string>{});
    EXPECT_EQ(found.from, 1'000'000u);
    EXPECT_EQ(found.to, 7'000'000u);
    EXPECT_EQ(count(found, "slices"), 3u);
    EXPECT_EQ(count(found, "messages"), 1u);
    EXPECT_EQ(count(found, "samples"), 1u);
}

TEST(trace_check, what_breaks_a_timeline) {
    const std::string begin = R"({"ph":"B","pid":1,"tid":5,"ts":1,"name":"f"})";
    const std::string end = R"({"ph":"E","pid":1,"tid":5,"ts":2})";
    for (const std::string& bad : {
             array(slice("1", "3") + ",\n" + slice("2", "3")),  // does not nest
             array(slice("2", "1") + ",\n" + slice("1", "1")),  // goes back
             array(end),                                        // no begin
             array(begin),                                      // no end
             array(slice("1", "3") + ",\n" + arrow('s', "2")),  // arrow without end
             array(slice("1", "3") + ",\n" + arrow('f', "2")),  // without start
             array(slice("1", "3") + ",\n" + arrow('s', "2") + ",\n" + arrow('f', "1.5")),  // goes back
             array(slice("1", "3") + ",\n" + arrow('s', "2") + ",\n" + arrow('f', "5")),    // in no slice
             array("{\"ph\":\"X\",\"pid\":1,\"tid\":5}"),                                   // no stamp
             array("nonsense"),
             "[\n" + slice("1", "3") + "\n]\n",  // row without a name
             array(slice("1", "3")) + slice("5", "1"),
         })
        EXPECT_EQ(check_trace(bad).faults.size(), 1u) << bad;
}

TEST(trace_check, a_timeline_that_broke_off_is_well_formed) {
    const std::string begin = R"({"ph":"B","pid":1,"tid":5,"ts":1,"name":"f"})";
    const auto found = check_trace("[\n" + row + begin + ",\n" + slice("2", "1").substr(0, 20));
    EXPECT_EQ(found.faults, std::vector<std::string>{});
    EXPECT_EQ(found.notes.size(), 2u);
}

const std::string header =
    "$timescale 1 ps $end\n$scope module node0 $end\n$var wire 4 ! ad [3:0] $end\n$var string 1 \" state "
    "$end\n"
    "$upscope $end\n$enddefinitions $end\n$dumpvars\nbx !\ns? \"\n$end\n";

TEST(trace_check, a_waveform_holds_signals_and_changes) {
    const auto found = check_trace(header + "#100\nb01z1 !\nsbusy \"\n#250\nb0 !\n");
    EXPECT_EQ(found.kind, "waveform");
    EXPECT_EQ(found.faults, std::vector<std::string>{});
    EXPECT_EQ(count(found, "signals"), 2u);
    EXPECT_EQ(count(found, "changes"), 3u);
    EXPECT_EQ(found.from, 100u);
    EXPECT_EQ(found.to, 250u);
}

TEST(trace_check, what_breaks_a_waveform) {
    for (const std::string bad :
         {"#100\n#50\n", "#100\nb10101 !\n", "#100\nb0 ?\n", "#100\nsbusy !\n", "#1x\n", "#100\nb02 !\n"})
        EXPECT_EQ(check_trace(header + bad).faults.size(), 1u) << bad;
    EXPECT_EQ(check_trace("$timescale 1 ns $end\n$enddefinitions $end\n").faults.size(), 1u);
    EXPECT_EQ(check_trace("$timescale 1 ps $end\n").faults.size(), 1u);
}

TEST(trace_check, a_log_is_lines_in_order_of_time) {
    const auto found = check_trace("10 a.b x\n10 a.c 0x1\n30 a.b y\n");
    EXPECT_EQ(found.kind, "log");
    EXPECT_EQ(found.faults, std::vector<std::string>{});
    EXPECT_EQ(count(found, "events"), 3u);
    EXPECT_EQ(count(found, "probes"), 2u);
    EXPECT_EQ(check_trace("10 a.b x\n9 a.c 0x1\n").faults.size(), 1u);
    EXPECT_EQ(check_trace("10 a.b x\nnonsense\n").faults.size(), 1u);
    EXPECT_EQ(check_trace("10 a.b x\n12 a.").faults.size(), 1u);
}

TEST(trace_check, other_files_have_no_kind) {
    EXPECT_EQ(check_trace("").kind, "");
    EXPECT_EQ(check_trace("{\"format\": \"vinic result 1\"}").kind, "");
}

TEST(trace_difference, is_the_first_line_that_differs_with_its_time) {
    EXPECT_FALSE(first_difference("1 a x\n2 a y\n", "1 a x\n2 a y\n"));
    const auto found = first_difference("1 a x\n2 a y\n3 a z\n", "1 a x\n4 a y\n3 a z\n");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->line, 2u);
    EXPECT_EQ(found->before, "2 a y");
    EXPECT_EQ(found->after, "4 a y");
    EXPECT_EQ(found->before_at, 2u);
    EXPECT_EQ(found->after_at, 4u);
    const auto shorter = first_difference("1 a x\n2 a y\n", "1 a x\n");
    ASSERT_TRUE(shorter);
    EXPECT_EQ(shorter->line, 2u);
    EXPECT_EQ(shorter->after, std::nullopt);
    EXPECT_EQ(first_difference(array(slice("1.5", "1")), array(slice("1.500001", "1")))->after_at,
              1'500'001u);
}

}  // namespace
}  // namespace vinic::traces
