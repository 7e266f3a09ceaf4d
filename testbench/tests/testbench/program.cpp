// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/testbench/program.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "testbench/report/sha256.h"

namespace vinic::testbench {

namespace fs = std::filesystem;

namespace {

fs::path fresh_folder() {
    std::string pattern = (fs::temp_directory_path() / "vinic_test.XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    return pattern;
}

}  // namespace

program::program(std::string name)
    : name_(std::move(name)), folder_(fresh_folder()), captured_(fresh_folder()) {}

program::~program() {
    fs::remove_all(folder_);
    fs::remove_all(captured_);
}

program::outcome program::run(const std::string& arguments, const std::string& before) const {
    const fs::path out = captured_ / "out";
    const fs::path err = captured_ / "err";
    const std::string command = "cd '" + folder_.string() + "' && " + before + " '" VINIC_BINARY_DIR "/" +
                                name_ + "' " + arguments + " >'" + out.string() + "' 2>'" + err.string() +
                                "' </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read_file(out), read_file(err)};
}

void program::write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
}

std::string program::read(const std::string& name) const { return read_file(folder_ / name); }

}  // namespace vinic::testbench
