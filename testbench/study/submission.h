// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "testbench/study/engine.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::study {

/// A point that waits for its turn on a cluster.
struct queued_point {
    std::string identity;  ///< hash of the configuration and all that it is made from
    std::vector<std::string> arguments;
};

/// The folder, on a file system that all nodes share, by which a study and the tasks of one array job speak:
/// `points.jsonl` says what to run, `ended/N.json` is what came of point N (it appears whole or not at all),
/// `log/T.txt` what task T said. Points and tasks count from 0; a task runs a number of points that stand one
/// after the other.
class submission {
public:
    /// Makes a folder with a name of its own, NAME.XXXXXX, in `parent`.
    static submission make(const std::filesystem::path& parent, const std::string& name, const limits& each,
                           std::size_t points_per_task, const std::vector<queued_point>& points);
    /// One that was made. Throws input_error when it is no such folder, or not whole.
    explicit submission(std::filesystem::path folder);

    const std::filesystem::path& folder() const { return folder_; }
    /// Of the folder, and of the array job.
    std::string name() const { return folder_.filename().string(); }
    /// How Slurm names the log of a task.
    std::string log_pattern() const;

    const std::vector<queued_point>& points() const { return points_; }
    std::size_t points_per_task() const { return points_per_task_; }
    std::size_t task_of(std::size_t index) const { return index / points_per_task_; }
    std::size_t tasks() const { return task_of(points_.size() - 1) + 1; }

    bool has(std::size_t index) const;
    /// Nothing when it is not whole: a file system that broke down may leave such a file.
    std::optional<ended_point> read(std::size_t index) const;
    std::vector<std::size_t> ended() const;
    std::string log_of(std::size_t task) const;
    void forget(std::size_t index) const;
    void remove() const;

    /// On a node: runs the points of a task that have no result yet, each as on the machine of the study.
    void run(std::size_t task) const;

private:
    std::filesystem::path file_of(std::size_t index) const;

    std::filesystem::path folder_;
    study::limits limits_;
    std::size_t points_per_task_ = 1;
    std::string program_;  ///< stamp of the program that made it
    std::vector<queued_point> points_;
};

}  // namespace vinic::testbench::study
