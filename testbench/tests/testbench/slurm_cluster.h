// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace vinic::testbench {

/// A Slurm of one node on the loopback address, with daemons, ports and folders of its own; Slurm's commands
/// of this process and its children speak with it. It needs neither systemd nor cgroups, and runs under the
/// user of the test.
class slurm_cluster {
public:
    slurm_cluster();
    ~slurm_cluster();
    slurm_cluster(const slurm_cluster&) = delete;
    slurm_cluster& operator=(const slurm_cluster&) = delete;

    /// Slurm's packages are there.
    static bool is_installed();
    /// A command, in a shell: what it prints.
    std::string ask(const std::string& command) const;
    std::string node() const { return node_; }

private:
    void configure() const;
    void start(const std::vector<std::string>& words);
    void wait_until_idle() const;

    std::filesystem::path folder_;
    std::string node_;
    std::vector<pid_t> daemons_;
};

}  // namespace vinic::testbench
