// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace vinic::sim {

/// A value that somebody gave to a parameter, as text, with the place where it was given.
struct setting {
    std::string text;
    std::string origin;  ///< "file.yaml:12" or "--set"
    std::string source;  ///< publication or document; empty when the giver named none
};

/// What a parameter is, as printed by `vinic params`.
struct parameter_info {
    std::string name;  ///< hierarchical, with the node
    std::string type;
    std::string unit;
    std::string default_text;
    std::string value_text;
    std::string range;
    std::string help;
    std::string source;
    std::string origin;  ///< "default" or where it was set
};

/// The settings of one simulation: filled from design files and the command line, consumed by modules as they
/// are built.
class configuration {
public:
    /// Later settings of a name replace earlier ones.
    void set(const std::string& name, setting value);

    /// The setting that applies to a parameter, most specific first: its full name, its name without the node
    /// ("every node"), its name under the alias of its kind of module ("link.byte_ps" for every cable). Null
    /// when there is none. Marks every setting that names this parameter as consumed.
    const setting* consume(std::string_view module, std::string_view alias, std::string_view parameter);

    void declare(parameter_info info);
    const std::vector<parameter_info>& parameters() const { return parameters_; }
    const std::map<std::string, setting>& settings() const { return settings_; }

    /// Throws input_error for the first setting that no module consumed, with the nearest name that exists.
    void check_all_consumed() const;

private:
    std::map<std::string, setting> settings_;
    std::set<std::string> consumed_;
    std::vector<parameter_info> parameters_;
};

/// "node3.nic.lanai" -> "nic.lanai"; other names unchanged.
std::string_view without_node(std::string_view name);

}  // namespace vinic::sim
