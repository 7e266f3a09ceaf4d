// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/firmware.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <vector>

#include "firmware/linker/linker.h"
#include "hw/sim/error.h"
#include "testbench/cli/paths.h"
#include "testbench/platform/firmware_recipe.h"
#include "testbench/report/sha256.h"

namespace vinic::testbench {

namespace fs = std::filesystem;

namespace {

/// Runs a program to its end; its output goes to standard error, or to `output`. Returns its exit status.
int execute(const std::vector<std::string>& command, const fs::path& output = {}) {
    std::vector<char*> arguments;
    for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (output.empty())
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT, 0600);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) throw sim::input_error("cannot run {}: {}", command[0], std::strerror(failed));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void check_clang(const fs::path& scratch, bool allow_other_clang) {
    if (!fs::exists(recipe.clang))
        throw sim::input_error("no compiler for firmware: {} (Debian package clang-14)", recipe.clang);
    if (allow_other_clang) return;
    execute({recipe.clang, "--version"}, scratch / "version");
    const std::string text = read_file(scratch / "version");
    if (text.find("version 14.") == std::string::npos)
        throw sim::input_error(
            "{} is not clang 14, so cycles would be others: to allow it, give --allow-other-clang",
            recipe.clang);
}

std::vector<std::string> recipe_options(const fs::path& root) {
    std::vector<std::string> options;
    std::istringstream lines(recipe.options);
    for (std::string line; std::getline(lines, line);) {
        constexpr std::string_view token = "@root@";
        if (const std::size_t at = line.find(token); at != std::string::npos)
            line.replace(at, token.size(), root.string());
        if (!line.empty()) options.push_back(line);
    }
    return options;
}

std::vector<fs::path> sources_in(const fs::path& folder) {
    std::vector<fs::path> sources;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        const std::string suffix = entry.path().extension();
        if (suffix == ".cpp" || suffix == ".s") sources.push_back(entry.path());
    }
    std::sort(sources.begin(), sources.end());
    if (sources.empty())
        throw sim::input_error("{}: no firmware sources (.cpp, .s) in this folder", folder.string());
    return sources;
}

/// The objects of vinic's own runtime, as the build made them.
std::vector<fs::path> runtime_objects() {
    std::vector<fs::path> objects;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folders().firmware_runtime, none))
        if (entry.path().extension() == ".o") objects.push_back(entry.path());
    std::sort(objects.begin(), objects.end());
    if (objects.empty())
        throw sim::input_error("the firmware runtime is missing in {}", folders().firmware_runtime.string());
    return objects;
}

}  // namespace

temporary_folder::temporary_folder() {
    std::string pattern = (fs::temp_directory_path() / "vinic.XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
        throw sim::input_error("cannot make a folder in {}", fs::temp_directory_path().string());
    path_ = pattern;
}

temporary_folder::~temporary_folder() {
    std::error_code none;
    fs::remove_all(path_, none);
}

void compile_firmware(const fs::path& folder, const fs::path& image, bool allow_other_clang) {
    const std::vector<fs::path> sources = sources_in(folder);
    const temporary_folder scratch;
    check_clang(scratch.path(), allow_other_clang);
    std::vector<fs::path> objects = runtime_objects();
    for (const auto& source : sources) {
        std::vector<std::string> command{recipe.timeout, "--verbose", recipe.timeout_seconds, recipe.clang,
                                         "-I" + folder.string()};
        for (auto& option : recipe_options(folders().firmware_source)) command.push_back(std::move(option));
        objects.push_back(scratch.path() / (source.filename().string() + ".o"));
        // Paths are mapped away, so that an image has the same bytes wherever its sources are.
        command.push_back("-ffile-prefix-map=" + folder.string() + "/=");
        if (source.extension() == ".cpp")
            command.insert(command.end(), {"-std=c++20", "-O2"});
        else
            command.push_back("-Wno-unused-command-line-argument");
        command.insert(command.end(), {"-c", source.string(), "-o", objects.back().string()});
        if (const int status = execute(command); status != 0)
            throw sim::input_error("{} does not compile{}", source.string(),
                                   status == 124 ? " in the time allowed" : "");
    }
    try {
        linker::link(objects, image, {});
    } catch (const linker::image_error& error) {
        const std::string what = error.what();
        const bool mangled = what.find("undefined symbol 'main'") != std::string::npos;
        throw sim::input_error("{}{}", what, mangled ? "; firmware starts at `extern \"C\" int main()`" : "");
    }
}

firmware load_firmware(const located& what) {
    std::error_code none;
    std::shared_ptr<temporary_folder> scratch;
    fs::path file;
    if (fs::is_directory(what.text, none) && what.text.find('/') != std::string::npos) {
        scratch = std::make_shared<temporary_folder>();
        file = scratch->path() / "firmware.elf";
        compile_firmware(what.text, file, false);
    } else {
        try {
            file = find_file(what.text, folders().firmware, ".elf", "firmware");
        } catch (const sim::input_error& error) {
            throw sim::input_error("{}: {}", what.origin, error.what());
        }
    }
    try {
        return {fs::path(what.text).stem(), scratch, linker::image(file), sha256(read_file(file))};
    } catch (const linker::image_error& error) {
        throw sim::input_error("{}: {}", what.origin, error.what());
    }
}

}  // namespace vinic::testbench
