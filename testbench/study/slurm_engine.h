// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <list>
#include <map>
#include <set>

#include "testbench/study/engine.h"
#include "testbench/study/slurm.h"
#include "testbench/study/submission.h"

namespace vinic::testbench::study {

/// Points as tasks of array jobs. What `start` is given is submitted by the next `wait`, unless an earlier
/// `vinic study run` has submitted the same and its task still waits, runs, or left its result: then that is
/// what is waited for.
class slurm_engine : public engine {
public:
    struct options {
        std::filesystem::path folder;  ///< of submissions; of this study alone, seen by all nodes
        std::string name;              ///< jobs are named after it
        study::limits limits;
        std::size_t tasks_at_a_time = 0;  ///< 0: as Slurm likes
        std::size_t points_per_task = 1;
        std::vector<std::string> sbatch;  ///< further arguments of it
        bool again_failed = false;        ///< results of earlier submissions count only where they are good
    };
    using identity_of_point = std::function<std::string(std::size_t)>;

    slurm_engine(const options& how, identity_of_point identity_of);
    ~slurm_engine() override;

    bool has_room() const override { return !submitted_ && under_way() < most_under_way; }
    std::size_t under_way() const override;
    void start(std::size_t index, const std::vector<std::string>& arguments) override;
    std::vector<ended_point> wait(std::chrono::milliseconds longest) override;
    void recorded(std::size_t index) override;
    std::string state() const override { return state_; }
    std::string stop(bool for_good) override;

private:
    /// More are submitted when these have ended.
    static constexpr std::size_t most_under_way = 100'000;

    struct job {
        submission folder;
        std::string number;                          ///< Slurm's
        std::map<std::size_t, std::size_t> open;     ///< place in the folder -> index: without a result yet
        std::map<std::size_t, std::size_t> to_keep;  ///< index -> place: not in the database yet
        std::set<std::size_t> alive;                 ///< tasks, of a job of an earlier run

        bool is_needless() const { return open.empty() && to_keep.empty(); }
    };
    struct place {
        job* in;
        std::size_t point;
    };

    void find_earlier();
    void find_earlier(job& of);
    void drop_needless();
    std::vector<std::string> sbatch_options(const submission& of) const;
    void submit();
    std::vector<ended_point> collect();
    /// Points whose tasks are over, or unknown, and left no result.
    std::vector<ended_point> lost();

    options options_;
    identity_of_point identity_of_;
    std::list<job> jobs_;
    std::map<std::string, place> earlier_;    ///< by identity: what an earlier run left
    std::vector<std::size_t> batch_;          ///< indices of what the next `wait` submits
    std::vector<queued_point> batch_points_;  ///< the same points
    bool submitted_ = false;
    std::string state_;
    std::chrono::steady_clock::time_point next_question_;
    std::chrono::seconds between_questions_{0};
};

}  // namespace vinic::testbench::study
