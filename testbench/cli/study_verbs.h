// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "testbench/cli/command_line.h"
#include "testbench/cli/options.h"

namespace vinic::testbench {

/// What the verbs under `study` take.
struct study_options : simulation_options {
    std::string file;
    std::string other;     ///< the second one of `diff`; of `tell`: the place of the points
    std::string database;  ///< empty: beside the study file
    std::size_t jobs = 0;  ///< 0: as many as there are processors
    bool again_failed = false;
    std::string engine = "local";
    std::string partition, account, work_folder;  ///< of Slurm; empty: as it likes, beside the database
    std::vector<std::string> sbatch;              ///< further arguments of it
    std::size_t points_per_task = 1;
    std::size_t task = 0;
    std::string x, y;       ///< what `show` plots
    std::string csv;        ///< of `export`
    std::string html;       ///< of `report`; empty: beside the study file
    std::size_t point = 0;  ///< of `point`, from 1; of `ask`: how many
    std::optional<double> tolerance_percent;
};
status check_study(const study_options&);
status run_study(const study_options&);
status show_study_status(const study_options&);
status show_study(const study_options&);
status report_study(const study_options&);
status export_study(const study_options&);
status run_study_point(const study_options&);
/// What a task of an array job does on its node: `file` is the folder of the submission.
status run_study_task(const study_options&);
status study_sensitivity(const study_options&);
status study_optimise(const study_options&);
status ask_study(const study_options&);
status tell_study(const study_options&);
status compare_studies(const study_options&);

}  // namespace vinic::testbench
