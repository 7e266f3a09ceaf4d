// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "testbench/platform/design.h"
#include "testbench/platform/yaml.h"

namespace vinic::testbench::study {

/// Reads what stands behind the keys of a study file; all throw input_error that names the place.
class value_reader {
public:
    /// `shown`: the file as messages name it.
    explicit value_reader(std::string shown) : shown_(std::move(shown)) {}

    located scalar(const std::string& key, const YAML::Node& node) const;
    /// A value, or a list of them.
    std::vector<located> list(const std::string& key, const YAML::Node& node) const;
    std::vector<std::pair<std::string, located>> settings(const std::string& key,
                                                          const YAML::Node& node) const;
    std::uint64_t whole(const std::string& key, const YAML::Node& node, std::uint64_t least,
                        std::uint64_t most) const;
    /// A number with a unit, in that of factor 1.
    double quantity(const located& from, const std::string& key,
                    const std::vector<std::pair<std::string, double>>& units,
                    const std::string& example) const;
    /// A map of these keys only.
    void check_keys(const YAML::Node& node, const std::string& key,
                    const std::vector<std::string>& allowed) const;

protected:
    std::string shown_;
};

}  // namespace vinic::testbench::study
