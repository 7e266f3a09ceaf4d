// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace vinic::testbench {

/// Where the files that ship with vinic are: the installed tree (share/vinic beside the program's bin) when
/// the program runs from there, else the source and build trees that it was built in.
struct data_folders {
    std::filesystem::path designs;    ///< NAME.yaml and the folders of classes
    std::filesystem::path workloads;  ///< NAME.lua
    std::filesystem::path firmware;   ///< NAME.elf: linked images
    std::filesystem::path
        firmware_source;  ///< the folder that has firmware/ in it, for `vinic firmware build`
    std::filesystem::path firmware_runtime;  ///< the runtime's objects
    std::filesystem::path libraries;         ///< libvipl.so, for programs that are attached
    std::filesystem::path vibe;              ///< programs of the VIBe suite
};

const data_folders& folders();

/// The file that a user means by NAME: a path when it has a slash or ends in the suffix, else NAME + suffix
/// in `folder`. Throws input_error, with the nearest name that ships, when there is no such file; `kind`
/// ("design") is for the message.
std::filesystem::path find_file(const std::string& name, const std::filesystem::path& folder,
                                const std::string& suffix, const std::string& kind);

/// The names (without suffix) of the files with that suffix directly in a folder, sorted.
std::vector<std::string> names_in(const std::filesystem::path& folder, const std::string& suffix);

}  // namespace vinic::testbench
