// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "testbench/cli/study_verbs.h"
#include "testbench/report/json.h"
#include "testbench/study/database.h"
#include "testbench/study/plan.h"
#include "testbench/study/runner.h"
#include "testbench/study/search.h"

namespace vinic::testbench {

/// The file of a study, by its name or path.
study::study_file study_of(const std::string& name_or_file);

/// Beside the study file; of a study that ships, in the folder in which the user works.
std::filesystem::path database_of(const std::string& name_or_file, const std::string& given);

/// Throws input_error when there is no database.
std::vector<study::point_record> records_of(const std::filesystem::path& file, bool logs = false);

/// The same; none when there is no database yet.
std::vector<study::point_record> records_so_far(const std::filesystem::path& file);

/// The points of a study: those that its file states, those that change a parameter each, or those of its
/// search as far as that has come.
study::plan plan_of(const study_options& options);

/// Says how many points did not end well, and what to do.
void say_failures(const study::study_runner::outcome& of);

/// The first lines of a long table, and how many are left out.
std::string beginning_of(const json& rows);

/// A table to standard output, or JSON where that was asked for.
void write(const study_options& options, const std::string& text, const json& object);

}  // namespace vinic::testbench
