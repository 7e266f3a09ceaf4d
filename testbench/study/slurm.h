// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// Slurm's commands, as a user of a cluster calls them.
namespace vinic::testbench::study::slurm {

/// A task of an array job, as squeue knows it.
struct task {
    std::string name;  ///< of the job
    std::string job;   ///< number of the array job
    std::size_t number = 0;
    std::string state;   ///< "PENDING", "RUNNING", "TIMEOUT", ...
    std::string reason;  ///< why it waits, or ended
    std::string nodes;

    std::string id() const { return job + "_" + std::to_string(number); }
    bool is_over() const;
};

/// Throws input_error when there is no Slurm here.
void check_available();

/// How many tasks an array job may have.
std::size_t most_tasks();

/// The number of the job. Throws input_error with what Slurm has against it.
std::string submit(const std::vector<std::string>& options, const std::string& command);

struct answer {
    bool known = false;  ///< squeue gave an answer
    std::string error;
    std::vector<task> tasks;
};
/// All tasks of this user's jobs of these names that Slurm still knows, ended ones too.
answer tasks(const std::vector<std::string>& names);

/// Jobs ("12") or tasks ("12_3"). Those that have ended meanwhile do not matter.
void cancel(const std::vector<std::string>& jobs);

}  // namespace vinic::testbench::study::slurm
