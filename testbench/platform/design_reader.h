// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "testbench/platform/design.h"

namespace YAML {
class Node;
}

namespace vinic::testbench {

/// Reads a design file with all that it builds on: `base` (another design) first, then each `include` (a
/// class of host, bus, card, link), then its own keys; later values replace earlier ones.
class design_reader {
public:
    design read(const std::string& name_or_file);

private:
    struct source {
        std::filesystem::path file;  ///< as it was opened
        std::string shown;           ///< as messages name it
    };

    void read_file(const source& from);
    void read_keys(const source& from, const YAML::Node& root);
    void read_bases(const source& from, const YAML::Node& root);
    void read_topology(const source& from, const YAML::Node& node);
    void read_switches(const source& from, const YAML::Node& list);
    void read_cables(const source& from, const YAML::Node& list);
    void read_parameters(const source& from, const std::string& name, const YAML::Node& node);
    void add_parameter(const source& from, const std::string& name, const YAML::Node& at, sim::setting value);

    /// The file that `name` means when `from` asks for it.
    source resolve(const source& from, const YAML::Node& name) const;
    std::string scalar(const source& from, const std::string& key, const YAML::Node& node) const;
    [[noreturn]] void unknown_key(const source& from, const YAML::Node& key,
                                  const std::vector<std::string>& known) const;
    static std::string place(const source& from, const YAML::Node& node);

    design design_;
    std::vector<std::filesystem::path> open_;  ///< files being read, to notice a circle
    std::map<std::string, std::string> own_;   ///< parameters of the file being read, and their places
};

}  // namespace vinic::testbench
