// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace vinic::testbench::study {

/// How a point ended, as the process that ran it left it.
struct ended_point {
    /// By somebody else (SIGKILL), so not because of what it is: the next `run` does it again.
    static constexpr const char* killed = "killed";

    std::size_t index = 0;
    std::string status;  ///< "done", "failed", "crashed", ...
    int exit_status = 0;
    std::string output;  ///< the result
    std::string log;
    std::string host;
    double wall_s = 0;
};

/// Where points run: this machine, or a cluster.
class engine {
public:
    virtual ~engine() = default;
    virtual bool has_room() const = 0;
    virtual std::size_t under_way() const = 0;
    /// Starts a point: vinic with these arguments.
    virtual void start(std::size_t index, const std::vector<std::string>& arguments) = 0;
    /// The points that ended since; waits for one, but not longer than that.
    virtual std::vector<ended_point> wait(std::chrono::milliseconds longest) = 0;
    /// A point is in the database: what the engine kept of it may go.
    virtual void recorded(std::size_t) {}
    /// What the points under way do, for the line of progress.
    virtual std::string state() const { return ""; }
    /// The user stops: what becomes of the points under way, for the last line; those of which nothing is
    /// said end with the object. `for_good`: by Ctrl-C, not because the terminal or the session has gone.
    virtual std::string stop([[maybe_unused]] bool for_good) { return ""; }
};

}  // namespace vinic::testbench::study
