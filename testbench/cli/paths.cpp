// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/paths.h"

#include <algorithm>

#include "hw/sim/error.h"
#include "testbench/cli/version.h"

namespace vinic::testbench {

namespace fs = std::filesystem;

namespace {

data_folders find_folders() {
    std::error_code none;
    const fs::path program = fs::read_symlink("/proc/self/exe", none);
    const fs::path installed = program.parent_path().parent_path() / "share" / "vinic";
    if (fs::is_directory(installed / "designs", none))
        return {
            installed / "designs", installed / "workloads",       installed / "firmware",
            installed / "sdk",     installed / "sdk" / "runtime", program.parent_path().parent_path() / "lib",
            installed / "vibe"};
    const fs::path source = source_share;
    const fs::path build = build_share;
    return {source / "hw/designs",
            source / "testbench/workloads",
            build / "share/vinic/firmware",
            source,
            build / "firmware/vinic_runtime.dir",
            build / "lib",
            build / "share/vinic/vibe"};
}

}  // namespace

const data_folders& folders() {
    static const data_folders found = find_folders();
    return found;
}

std::vector<std::string> names_in(const fs::path& folder, const std::string& suffix) {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
        if (entry.path().extension() == suffix) names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

fs::path find_file(const std::string& name, const fs::path& folder, const std::string& suffix,
                   const std::string& kind) {
    std::error_code none;
    const bool is_path = name.find('/') != std::string::npos || fs::path(name).extension() == suffix;
    const fs::path file = is_path ? fs::path(name) : folder / (name + suffix);
    if (fs::is_regular_file(file, none)) return file;
    if (is_path) throw sim::input_error("no {} file {}", kind, name);
    const std::string near = sim::nearest_name(name, names_in(folder, suffix));
    throw sim::input_error("no {} is named '{}'{}", kind, name,
                           near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near));
}

}  // namespace vinic::testbench
