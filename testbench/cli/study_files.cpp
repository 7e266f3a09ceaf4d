// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/study_files.h"

#include <unistd.h>

#include <algorithm>

#include "hw/sim/error.h"
#include "testbench/cli/output.h"
#include "testbench/cli/paths.h"
#include "testbench/cli/study_paths.h"
#include "testbench/report/table.h"
#include "testbench/study/perturbation.h"

namespace vinic::testbench {

namespace fs = std::filesystem;

namespace {

/// Of a long table, its beginning.
constexpr std::size_t lines_in_full = 40;

}  // namespace

study::study_file study_of(const std::string& name_or_file) {
    return study::read_study(find_file(name_or_file, studies_folder(), ".yaml", "study"));
}

fs::path database_of(const std::string& name_or_file, const std::string& given) {
    if (!given.empty()) return given;
    return fs::path(name_or_file).replace_extension(".sqlite");
}

std::vector<study::point_record> records_of(const fs::path& file, bool logs) {
    if (!fs::exists(file))
        throw sim::input_error("no database {}; `vinic study run` makes it", file.string());
    return study::database(file, study::database::mode::read).points(logs);
}

std::vector<study::point_record> records_so_far(const fs::path& file) {
    return fs::exists(file) ? records_of(file) : std::vector<study::point_record>();
}

study::plan plan_of(const study_options& options) {
    study::study_file file = study_of(options.file);
    if (file.sensitivity) return study::plan(file, study::expand(study::perturb(file), file));
    if (!file.optimise) return study::plan(std::move(file));
    const auto records = records_so_far(database_of(options.file, options.database));
    study::search search(std::move(file));
    search.replay(records);
    return search.all_points(records);
}

void say_failures(const study::study_runner::outcome& o) {
    for (const auto& [status, count] : o.failed)
        fmt::print(stderr,
                   "vinic: {} points: {}; `vinic study status` says which and why, {} runs them again\n",
                   count, status, status == study::ended_point::killed ? "`run`" : "`--retry`");
}

std::string beginning_of(const json& rows) {
    json shown = json::array();
    for (std::size_t i = 0; i < std::min(rows.size(), lines_in_full); ++i) shown.push_back(rows[i]);
    std::string text = table_of_rows(shown, is_terminal(STDOUT_FILENO));
    if (rows.size() > lines_in_full)
        text += fmt::format("... and {} lines more: --json has all\n", rows.size() - lines_in_full);
    return text;
}

void write(const study_options& options, const std::string& text, const json& object) {
    output to(options.json.empty() ? "-" : options.json);
    to.commit(options.json.empty() ? text : json_text(object));
}

}  // namespace vinic::testbench
