// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/yaml.h"

#include <fstream>

#include "hw/sim/error.h"

namespace vinic::testbench {

YAML::Node parse_yaml(const std::filesystem::path& file, const std::string& shown) {
    std::ifstream stream(file);
    if (!stream) throw sim::input_error("cannot read {}", shown);
    try {
        const std::vector<YAML::Node> documents = YAML::LoadAll(stream);
        if (documents.size() > 1)
            throw sim::input_error("{}: holds {} documents, expected one; a line `---` parts them", shown,
                                   documents.size());
        return documents.empty() ? YAML::Node() : documents.front();
    } catch (const YAML::Exception& error) {
        throw sim::input_error("{}:{}: {}", shown, error.mark.line + 1, error.msg);
    }
}

std::string place_of(const std::string& shown, const YAML::Node& node) {
    return fmt::format("{}:{}", shown, node.Mark().line + 1);
}

void unknown_key(const std::string& place, const std::string& key, const std::vector<std::string>& known) {
    const std::string near = sim::nearest_name(key, known);
    throw sim::input_error("{}: no key is named '{}'; {}", place, key,
                           near.empty() ? fmt::format("expected one of {}", fmt::join(known, ", "))
                                        : fmt::format("did you mean '{}'?", near));
}

}  // namespace vinic::testbench
