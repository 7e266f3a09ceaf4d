// SPDX-License-Identifier: Apache-2.0
// The database of a study, its table, curves and differences; a runner on an engine that only pretends.
#include <gtest/gtest.h>

#include <deque>
#include <fstream>

#include "hw/sim/error.h"
#include "testbench/study/curves.h"
#include "testbench/study/database.h"
#include "testbench/study/difference.h"
#include "testbench/study/local_engine.h"
#include "testbench/study/runner.h"
#include "testbench/study/study_table.h"
#include "testbench/study/submission.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench::study {
namespace {

/// A study of pingpong over two clocks and two seeds.
class study_database_test : public testing::Test {
protected:
    study_database_test() {
        folder_.write("s.yaml",
                      "workload: pingpong\nrepeats: 2\nmetrics: [latency_us, account.latency.median, "
                      "statistics.node0.*]\naxes: [{bus.clock_mhz: [33, 66]}]\n");
    }
    plan planned() const { return plan(read_study(folder_.folder() / "s.yaml")); }
    std::filesystem::path file() const { return folder_.folder() / "s.sqlite"; }

    /// A result with two rows.
    point_record record(const plan& of, std::size_t index, double latency) const {
        const planned_point p = of.at(index);
        point_record r{.key = p.key,
                       .identity = "i",
                       .configuration = p.configuration,
                       .seed = p.seed,
                       .wall_s = 2,
                       .events = 7,
                       .status = "done",
                       .log = "l"};
        for (std::size_t row = 1; row <= 2; ++row) {
            const json key{{"size_bytes", row * 8}};
            r.metrics.push_back({row, key, "min_us", 0.0});
            r.metrics.push_back({row, key, "latency_us", latency * static_cast<double>(row)});
            r.metrics.push_back({row, key, "account.latency.median_ps", 1e6});
        }
        r.metrics.push_back({0, json::object(), "statistics.node0.bus.retries", 5.0});
        return r;
    }
    std::string error_of(database::mode how) const {
        try {
            const database d(file(), how);
        } catch (const sim::input_error& error) {
            return std::string(error.what()).substr(folder_.folder().string().size() + 1);
        }
        return "no error";
    }

    program folder_;
};

TEST_F(study_database_test, gives_back_what_was_put_in) {
    const plan of = planned();
    {
        database d(file(), database::mode::write);
        d.add(record(of, 0, 3));
        d.add(record(of, 1, 4));
        d.add(record(of, 0, 5));  // again: the newest counts
    }
    const database d(file(), database::mode::read);
    const auto points = d.points(true);
    ASSERT_EQ(points.size(), 2u);
    const auto& p = points[0].key == of.at(0).key ? points[0] : points[1];
    EXPECT_EQ(p.configuration, of.at(0).configuration);
    EXPECT_EQ(p.events, 7u);
    EXPECT_EQ(p.log, "l");
    ASSERT_EQ(p.metrics.size(), 7u);
    EXPECT_EQ(p.metrics[1].name, "latency_us");
    EXPECT_EQ(p.metrics[1].value, 5);
    EXPECT_EQ(p.metrics[1].key, json({{"size_bytes", 8}}));
    EXPECT_EQ(d.points(false)[0].log, "");
    EXPECT_EQ(d.summaries().at(p.key).wall_s, 2);
}

TEST_F(study_database_test, one_writes_and_others_read) {
    const plan of = planned();
    database writer(file(), database::mode::write);
    EXPECT_EQ(error_of(database::mode::write), "s.sqlite: another `vinic study` is writing it");
    const database reader(file(), database::mode::read);
    writer.add(record(of, 0, 3));
    EXPECT_EQ(reader.points(false).size(), 1u);
}

TEST_F(study_database_test, other_files_are_refused_and_stay) {
    const std::string text =
        "This is a letter of more than a hundred bytes, so that it could be the head of a "
        "database, which it is not.";
    folder_.write("s.sqlite", text);
    EXPECT_EQ(error_of(database::mode::write), "s.sqlite: file is not a database");
    EXPECT_EQ(error_of(database::mode::read), "s.sqlite: file is not a database");
    EXPECT_EQ(folder_.read("s.sqlite"), text);
}

TEST_F(study_database_test, table_joins_account_and_statistics_to_the_rows_they_are_of) {
    const plan of = planned();
    const study_table t = tabulate(of, {record(of, 2, 3)});
    EXPECT_EQ(t.axes, (std::vector<std::string>{"bus.clock_mhz", "seed"}));
    EXPECT_EQ(t.keys, std::vector<std::string>{"size_bytes"});
    EXPECT_EQ(t.csv(),
              "point,bus.clock_mhz,seed,size_bytes,latency_us,account.latency.median_ps,statistics.node0.bus."
              "retries,"
              "status\n"
              "1,33,1,,,,,to do\n2,33,2,,,,,to do\n"
              "3,66,1,8,3.0,1000000.0,5.0,done\n3,66,1,16,6.0,1000000.0,5.0,done\n4,66,2,,,,,to do\n");
}

TEST_F(study_database_test, curves_take_the_mean_of_seeds) {
    const plan of = planned();
    const study_table t =
        tabulate(of, {record(of, 0, 1), record(of, 1, 3), record(of, 2, 5), record(of, 3, 5)});
    const curves c = curves_of(t, "bus.clock_mhz", "");
    EXPECT_EQ(c.y, "latency_us");
    ASSERT_EQ(c.all.size(), 2u);
    EXPECT_EQ(c.all[0].family, "size_bytes=8");
    using points = std::vector<std::pair<double, double>>;
    EXPECT_EQ(c.all[0].points, (points{{33, 2}, {66, 5}}));
    EXPECT_EQ(c.all[1].points, (points{{33, 4}, {66, 10}}));
    EXPECT_NE(text_plot(c).find("  + size_bytes=16\n"), std::string::npos);
    EXPECT_THROW(curves_of(t, "bus.clok_mhz", ""), sim::input_error);
    EXPECT_THROW(curves_of(t, "", "latency"), sim::input_error);
}

TEST_F(study_database_test, differences_name_the_point_and_the_metric) {
    const plan of = planned();
    const auto before = std::vector{record(of, 0, 10), record(of, 1, 10)};
    auto after = std::vector{record(of, 0, 10), record(of, 2, 10)};
    EXPECT_EQ(differences(before, after, 0).rows, json::array());
    EXPECT_EQ(differences(before, after, 0).only_before, 1u);
    EXPECT_EQ(differences(before, after, 0).only_after, 1u);
    after[0].metrics[1].value = 10.5;
    const difference d = differences(before, after, 4);
    ASSERT_EQ(d.rows.size(), 1u);
    EXPECT_EQ(d.rows[0]["metric"], "latency_us");
    EXPECT_EQ(d.rows[0]["row"], "size_bytes=8");
    EXPECT_EQ(d.rows[0]["ratio"], 1.05);
    EXPECT_EQ(differences(before, after, 6).rows.size(), 0u);
}

/// Ends each point at once, in reverse order of their start, with a status of its own.
class pretended_engine : public engine {
public:
    bool has_room() const override { return started_.size() < 3; }
    std::size_t under_way() const override { return started_.size(); }
    void start(std::size_t index, const std::vector<std::string>& arguments) override {
        started_.push_back(index);
        commands.push_back(arguments);
    }
    std::vector<ended_point> wait(std::chrono::milliseconds) override {
        const std::size_t index = started_.back();
        started_.pop_back();
        json result{{"results", {{{"size_bytes", 8}, {"latency_us", 1.5}}}}, {"cost", {{"events", 3}}}};
        if (index == 3) result["provenance"]["workload_sha256"] = "of another script";
        return {{.index = index,
                 .status = index == 1 ? "crashed" : "done",
                 .output = index == 1   ? ""
                           : index == 2 ? "no json"
                                        : result.dump()}};
    }
    std::vector<std::vector<std::string>> commands;

private:
    std::deque<std::size_t> started_;
};

TEST_F(study_database_test, runner_records_every_end_and_runs_nothing_twice) {
    const plan of = planned();
    database d(file(), database::mode::write);
    pretended_engine e;
    const auto first = study_runner(of, d, e, {}).run();
    EXPECT_EQ(first.ran, 4u);
    EXPECT_EQ(first.failed,
              (std::map<std::string, std::size_t>{{"crashed", 1}, {"input changed", 1}, {"no result", 1}}));
    EXPECT_EQ(e.commands[0],
              (std::vector<std::string>{"run", "pingpong", "--design", "myvia", "--seed", "1", "--set",
                                        "bus.clock_mhz=33", "--json", "-", "--account", "--stats", "-"}));
    const auto second = study_runner(of, d, e, {}).run();
    EXPECT_EQ(second.ran, 0u);
    EXPECT_EQ(second.kept, 4u);
    EXPECT_EQ(second.failures(), 3u);
    EXPECT_EQ(study_runner(of, d, e, {.again_failed = true}).run().ran, 3u);
}

TEST_F(study_database_test, submission_says_what_is_there) {
    const std::filesystem::path parent = folder_.folder() / "s.slurm";
    const std::vector<queued_point> points{{"a", {"run", "x"}}, {"b", {}}, {"c", {}}};
    const submission made = submission::make(parent, "s", {.seconds = 9, .memory_bytes = 1 << 20}, 2, points);
    EXPECT_TRUE(made.name().starts_with("s."));
    const submission again(made.folder());
    EXPECT_EQ(again.tasks(), 2u);
    EXPECT_EQ(again.task_of(1), 0u);
    EXPECT_EQ(again.task_of(2), 1u);
    EXPECT_EQ(again.points()[0].identity, "a");
    EXPECT_EQ(again.points()[0].arguments, points[0].arguments);
    EXPECT_TRUE(again.ended().empty());
    const std::string ended = "s.slurm/" + made.name() + "/ended/";
    folder_.write(
        ended + "2.json",
        R"({"status": "done", "exit_status": 0, "wall_s": 1.5, "host": "h", "log": "", "output": "o"})");
    folder_.write(ended + "1.json.77.tmp", "{");  // being written
    EXPECT_EQ(again.ended(), std::vector<std::size_t>{2});
    ASSERT_TRUE(again.read(2));
    EXPECT_EQ(again.read(2)->output, "o");
    folder_.write(ended + "0.json", "");  // as after a loss of power
    EXPECT_FALSE(again.read(0));
    again.forget(0);
    EXPECT_FALSE(again.has(0));
    again.remove();
    EXPECT_THROW(submission{made.folder()}, sim::input_error);
}

}  // namespace
}  // namespace vinic::testbench::study
