// SPDX-License-Identifier: Apache-2.0
// `vinic validate`: published figures beside ours.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "testbench/cli/output.h"
#include "testbench/cli/paths.h"
#include "testbench/cli/verbs.h"
#include "testbench/cli/version.h"
#include "testbench/validation/validation.h"

namespace vinic::testbench {

namespace {

namespace fs = std::filesystem;

/// With the published figures, which ship.
fs::path validation_folder() { return folders().workloads.parent_path() / "validation"; }

/// A design of the figures: one that ships, or a file beside them; nothing when it has none yet.
std::optional<std::string> design_file_of(const fs::path& figures, const located& named) {
    std::error_code none;
    if (named.text.find('/') == std::string::npos) {
        if (!fs::is_regular_file(folders().designs / (named.text + ".yaml"), none)) return std::nullopt;
        return named.text;
    }
    const fs::path file = fs::path(figures).replace_filename(named.text).lexically_normal();
    if (!fs::is_regular_file(file, none)) return std::nullopt;
    // A name with a slash, or vinic would look for it among the designs that ship.
    return file.is_absolute() ? file.string() : "./" + file.string();
}

}  // namespace

status validate(const validate_options& options) {
    output to(options.json.empty() ? "-" : options.json);
    const fs::path file =
        options.figures.empty() ? validation_folder() / "figures.yaml" : fs::path(options.figures);
    const validation::figures_file figures = validation::read_figures(file);
    const bool all = std::ranges::find(options.designs, "all") != options.designs.end();
    validation::validation_run run(figures,
                                   {.designs = all ? std::vector<std::string>() : options.designs,
                                    .tolerance_percent = options.tolerance_percent},
                                   [&](const located& named) { return design_file_of(file, named); });
    validation::simulations needed({.jobs = options.jobs, .progress = is_terminal(STDERR_FILENO)});
    run.ask(needed);
    needed.run();
    const auto found = run.findings(needed);
    if (options.json.empty()) {
        to.commit(validation::to_text(found, run.tolerance_percent(), is_terminal(STDOUT_FILENO)));
    } else {
        json object{{"format", "vinic validation 1"},
                    {"tolerance_percent", run.tolerance_percent()},
                    {"figures", validation::to_json(found, run.tolerance_percent())}};
        if (!options.reproducible)
            object["provenance"] = {{"version", version},
                                    {"git_revision", git_revision},
                                    {"compiler", compiler},
                                    {"build_type", build_type}};
        to.commit(json_text(object));
    }
    return std::ranges::any_of(found, &validation::finding::bad) ? status::failed : status::done;
}

}  // namespace vinic::testbench
