// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "testbench/study/database.h"
#include "testbench/study/engine.h"
#include "testbench/study/plan.h"

namespace vinic::testbench::study {

/// Runs the points of a study that have no result yet, and puts each result into the database as it comes.
class study_runner {
public:
    struct options {
        bool again_failed = false;  ///< run points again that did not end well
        bool progress = false;      ///< a line on standard error that follows
        std::string verb = "run";   ///< of `vinic study` that goes on where this was interrupted
    };
    struct outcome {
        std::size_t ran = 0;
        std::size_t kept = 0;                       ///< had a result already
        std::map<std::string, std::size_t> failed;  ///< of all points: by status
        double seconds = 0;                         ///< of the run, without what came before it
        double inside_points_s = 0;                 ///< the processes of points together

        std::size_t failures() const;
    };

    study_runner(const plan& of, database& results, engine& on, const options& how)
        : plan_(of), identities_(of), results_(results), engine_(on), options_(how) {}

    /// Throws `interrupted` when the user stops it: what was under way is lost, all else is kept.
    outcome run();

private:
    void find_pending();
    void start_some();
    void record(const ended_point& p);
    void show_progress(bool last) const;
    double elapsed() const;

    const plan& plan_;
    identities identities_;
    database& results_;
    engine& engine_;
    options options_;
    std::vector<std::size_t> pending_;  ///< the next one last
    std::size_t wanted_ = 0;
    outcome outcome_;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

/// "1:05" or "2:03:04"
std::string clock_text(double seconds);

}  // namespace vinic::testbench::study
