// SPDX-License-Identifier: Apache-2.0
// Where the points of a study run: as processes of this machine, or as tasks of a cluster.
#pragma once

#include <cstddef>
#include <string>

#include "testbench/cli/study_verbs.h"
#include "testbench/study/database.h"
#include "testbench/study/plan.h"
#include "testbench/study/runner.h"

namespace vinic::testbench {

/// Throws input_error when the engine that was asked for is not there.
void check_engine(const study_options& options);

/// Points at a time; 0: as many as the cluster likes.
std::size_t jobs_of(const study_options& options);

/// Runs those points of a plan that have no result. `verb`: of `vinic study`, which the user called.
study::study_runner::outcome run_points(const study::plan& plan, study::database& results,
                                        const study_options& options, const std::string& verb);

}  // namespace vinic::testbench
