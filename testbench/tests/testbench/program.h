// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace vinic::testbench {

/// The program `vinic`, or another one of the build, run in a folder of its own.
class program {
public:
    explicit program(std::string name = "vinic");
    ~program();
    program(const program&) = delete;
    program& operator=(const program&) = delete;

    struct outcome {
        int status = 0;
        std::string output;
        std::string errors;
    };
    /// `arguments` as a shell takes them; `before`: what stands before the program's name.
    outcome run(const std::string& arguments, const std::string& before = "") const;

    const std::filesystem::path& folder() const { return folder_; }
    /// Writes a file into the folder.
    void write(const std::string& name, const std::string& text) const;
    std::string read(const std::string& name) const;
    bool has(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

private:
    std::string name_;
    std::filesystem::path folder_;
    std::filesystem::path
        captured_;  ///< where output goes: beside the folder, so that that stays as vinic left it
};

}  // namespace vinic::testbench
