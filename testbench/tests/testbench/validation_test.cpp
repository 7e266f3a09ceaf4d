// SPDX-License-Identifier: Apache-2.0
// Published figures beside ours: what counts, how far off a number is, and `vinic validate` as users call it.
#include <gtest/gtest.h>

#include "hw/sim/error.h"
#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"
#include "testbench/validation/validation.h"

namespace vinic::testbench {
namespace {

using validation::evidence;
using validation::figure;
using validation::measure;
using validation::verdict;

figure published(std::optional<double> least, std::optional<double> most, evidence how = evidence::seen,
                 const std::string& fitted = "") {
    return {.least = least, .most = most, .evidence = how, .fitted = fitted};
}

TEST(validation, error_is_of_the_value_or_of_the_nearest_end_of_the_range) {
    EXPECT_DOUBLE_EQ(validation::error_percent_of(published(8, 8), 10), 25);
    EXPECT_DOUBLE_EQ(validation::error_percent_of(published(8, 8), 6), -25);
    const figure range = published(200, 250);
    EXPECT_DOUBLE_EQ(validation::error_percent_of(range, 225), 0);
    EXPECT_DOUBLE_EQ(validation::error_percent_of(range, 150), -25);
    EXPECT_DOUBLE_EQ(validation::error_percent_of(range, 300), 20);
    EXPECT_DOUBLE_EQ(validation::error_percent_of(published({}, 2), 1), 0);
    EXPECT_DOUBLE_EQ(validation::error_percent_of(published({}, 2), 3), 50);
    EXPECT_DOUBLE_EQ(validation::error_percent_of(published(2, {}), 1), -50);
}

TEST(validation, only_seen_and_derived_figures_that_nothing_was_fitted_to_validate) {
    const auto of = [](evidence how, const std::string& fitted, double ours) {
        return validation::judge(published(100, 100, how, fitted), ours, 10);
    };
    EXPECT_EQ(of(evidence::seen, "", 110), verdict::within);
    EXPECT_EQ(of(evidence::derived, "", 90), verdict::within);
    EXPECT_EQ(of(evidence::seen, "", 111), verdict::misses);
    EXPECT_EQ(of(evidence::seen, "bus.x", 110), verdict::fitted);
    EXPECT_EQ(of(evidence::seen, "bus.x", 89), verdict::fit_missed);
    EXPECT_EQ(of(evidence::background, "", 100), verdict::plausible);
    EXPECT_EQ(of(evidence::background, "", 200), verdict::odd);
    EXPECT_EQ(of(evidence::prediction, "", 200), verdict::odd);
    figure strict = published(100, 100);
    strict.tolerance_percent = 1;
    EXPECT_EQ(validation::judge(strict, 102, 10), verdict::misses) << "its own tolerance";
}

TEST(validation, numbers_of_rows) {
    const json rows = json::parse(R"([{"kind": "a", "size_bytes": 64, "rate": 10},
                                      {"kind": "b", "size_bytes": 128, "rate": 30},
                                      {"kind": "b", "size_bytes": 1024, "rate": 60}])");
    measure which{
        .run = "r", .column = "rate", .row = {{"kind", "b"}, {"size_bytes", "1024"}}, .origin = "f:1"};
    EXPECT_EQ(validation::number_in(rows, which), 60);
    which.row = {{"size_bytes", "65"}};
    EXPECT_THROW(validation::number_in(rows, which), sim::input_error);
    which.row.clear();
    which.what = measure::kind::peak;
    EXPECT_EQ(validation::number_in(rows, which), 60);
    which.what = measure::kind::half_peak;  // 30 is reached at 128 bytes
    EXPECT_EQ(validation::number_in(rows, which), 128);
    const json line = json::parse(R"([{"size_bytes": 0, "rate": 0}, {"size_bytes": 1000, "rate": 80}])");
    EXPECT_EQ(validation::number_in(line, which), 500);
    which.column = "speed";
    EXPECT_THROW(validation::number_in(rows, which), sim::input_error);
}

class validate_test : public testing::Test {
protected:
    validate_test() {
        vinic.write("t.lua", R"(
description "Two rows"
local scale = argument { name = "scale", default = 1, min = 0, help = "Of the value" }
process(0, function()
    for _, n in ipairs { 8, 64 } do row("size_bytes", n, "value_us", n * scale) end
    check(scale < 100, "too large")
end)
)");
    }
    /// Figures of the design myvia.
    void write(const std::string& figures, const std::string& more = "") const {
        vinic.write("f.yaml",
                    "runs:\n"
                    "  once: {workload: ./t.lua}\n"
                    "  twice: {workload: ./t.lua, arguments: {scale: 2}}\n"
                    "  fails: {workload: ./t.lua, arguments: {scale: 100}}\n"
                    "systems:\n"
                    "  - system: MyVIA\n"
                    "    design: myvia\n"
                    "    figures:\n" +
                        figures + more);
    }
    static std::string one(const std::string& what, const std::string& rest) {
        return "      - {what: " + what + ", unit: us, source: a page, " + rest + "}\n";
    }

    program vinic;
};

const char* const cell_8 = "row: {size_bytes: 8}, column: value_us";

TEST_F(validate_test, prints_published_figures_beside_ours) {
    write(one("met", std::string("published: 8.4, evidence: S, run: once, ") + cell_8) +
              one("fit", std::string("published: 16, evidence: S, fitted: a.b, run: twice, ") + cell_8) +
              one("shape", std::string("published: {from: 3}, evidence: B, run: twice, over: {run: once, ") +
                               cell_8 + "}, " + cell_8),
          "  - {system: next, design: not_there_yet, figures: [{what: latency, unit: us, published: 1, "
          "evidence: S, "
          "source: x, run: once, peak_of: value_us}]}\n"
          "  - {system: never, figures: [{what: speed, unit: us, published: 2, evidence: S, source: y}]}\n");
    const auto outcome = vinic.run("validate --figures f.yaml");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(outcome.output,
              "design         figure   published   ours  unit  error (%)  evidence  fitted  verdict\n"
              "myvia          met      8.4        8.000  us         -4.8  S                 within\n"
              "               fit      16         16.00  us         +0.0  S         yes     fitted\n"
              "               shape    3 or more  2.000  us        -33.3  B                 odd\n"
              "not_there_yet  latency  1                 us               S                 not modelled: no "
              "design "
              "not_there_yet yet\n"
              "never          speed    2                 us               S                 not modelled\n"
              "\n"
              "1 of 1 published figures that nothing was fitted to are within 10 % (or their own tolerance)\n"
              "1 more were fitted to: no validation\n"
              "1 are unverified [B] or the band of a prediction [P]: they never count\n"
              "2 are of what is not modelled\n");
    EXPECT_EQ(outcome.errors, "");
    const auto some = vinic.run("validate --figures f.yaml --design not_there_yet --json --reproducible");
    const json object = json::parse(some.output);
    EXPECT_EQ(object["format"], "vinic validation 1");
    ASSERT_EQ(object["figures"].size(), 1u);
    EXPECT_EQ(object["figures"][0]["verdict"], "not modelled");
    EXPECT_FALSE(object["figures"][0].contains("ours"));
}

TEST_F(validate_test, a_figure_that_is_missed_or_cannot_be_measured_ends_it_with_status_1) {
    write(one("met", std::string("published: 7.5, evidence: S, run: once, ") + cell_8));
    EXPECT_EQ(vinic.run("validate --figures f.yaml").status, 0);
    const auto missed = vinic.run("validate --figures f.yaml --tolerance 5 --json");
    EXPECT_EQ(missed.status, 1);
    const json row = json::parse(missed.output)["figures"][0];
    EXPECT_EQ(row["verdict"], "MISSES");
    EXPECT_NEAR(row["error_percent"].get<double>(), 100 * 0.5 / 7.5, 1e-9);
    EXPECT_EQ(row["commands"], json::array({"vinic run ./t.lua --design myvia"}));
    write(one("failed", std::string("published: 8, evidence: S, run: fails, ") + cell_8) +
          one("no cell", "published: 8, evidence: S, run: once, row: {size_bytes: 9}, column: value_us"));
    const auto failed = vinic.run("validate --figures f.yaml");
    EXPECT_EQ(failed.status, 1);
    EXPECT_NE(failed.output.find("failed: MyVIA, failed: check failed: too large\n"), std::string::npos)
        << failed.output;
    EXPECT_NE(failed.output.find("failed: MyVIA, no cell: f.yaml:10: the run once has no such row\n"),
              std::string::npos)
        << failed.output;
}

TEST_F(validate_test, wrong_files_are_found_before_anything_runs) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {one("x", "published: 8, evidence: S, run: onse, column: value_us"),
         "f.yaml:9: no run is named 'onse'; did you mean 'once'?"},
        {one("x", "published: 8, evidence: A, run: once, column: value_us"),
         "f.yaml:9: evidence is 'A': expected S (seen), D (derived), B (unverified) or P (prediction)"},
        {one("x", "published: fast, evidence: S, run: once, column: value_us"),
         "f.yaml:9: published is 'fast': expected a number from 0 on"},
        {one("x", "published: {from: 2, to: 1}, evidence: S, run: once, column: value_us"),
         "f.yaml:9: published: from 2 is above to 1"},
        {one("x", "published: 8, evidence: S, run: once"),
         "f.yaml:9: expected one of column, peak_of and half_peak_of"},
        {one("x", "published: 8, evidence: S"), "f.yaml:9: expected the key run: how myvia measures it"},
        {one("x", "publisht: 8, evidence: S, run: once, column: value_us"),
         "f.yaml:9: no key is named 'publisht'; did you mean 'published'?"},
    };
    for (const auto& [text, said] : wrong) {
        write(text);
        const auto outcome = vinic.run("validate --figures f.yaml --json r.json");
        EXPECT_EQ(outcome.status, 2) << text;
        EXPECT_EQ(outcome.errors, "vinic: " + said + "\n");
        EXPECT_FALSE(vinic.has("r.json"));
    }
    write(one("x", std::string("published: 8, evidence: S, run: once, ") + cell_8));
    const auto unknown = vinic.run("validate --figures f.yaml --design myvai");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_EQ(unknown.errors, "vinic: --design myvai: f.yaml has no figure of it; did you mean 'myvia'?\n");
    EXPECT_EQ(vinic.run("validate --figures no.yaml").errors, "vinic: cannot read no.yaml\n");
}

TEST(validate, the_bus_table_is_met) {
    const auto outcome = program().run(
        "validate --design pcix_amd8131,pcix_serverworks_gc,pcix_rx2000,server_64_66 --tolerance 1 --json");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    const json figures = json::parse(outcome.output)["figures"];
    EXPECT_EQ(figures.size(), 8u);
    for (const auto& one : figures) EXPECT_EQ(one["verdict"], "fitted") << one;
}

}  // namespace
}  // namespace vinic::testbench
