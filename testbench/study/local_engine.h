// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>

#include "testbench/study/engine.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::study {

/// One process of this program for each point, so many at a time. Each has its limits, and dies with this
/// one.
class local_engine : public engine {
public:
    local_engine(std::size_t jobs, const limits& each) : jobs_(jobs), limits_(each) {}
    ~local_engine() override;

    bool has_room() const override { return children_.size() < jobs_; }
    std::size_t under_way() const override { return children_.size(); }
    void start(std::size_t index, const std::vector<std::string>& arguments) override;
    std::vector<ended_point> wait(std::chrono::milliseconds longest) override;

private:
    struct child {
        std::size_t index;
        int alive;   ///< a pipe that hangs up when the process has ended
        int output;  ///< files in memory
        int log;
        std::chrono::steady_clock::time_point begun;
        bool overdue = false;
    };
    void kill_overdue();
    ended_point reap(pid_t process, const child& of) const;

    std::size_t jobs_;
    limits limits_;
    std::map<pid_t, child> children_;
};

/// How many processes this one may run at a time.
std::size_t processors();

}  // namespace vinic::testbench::study
