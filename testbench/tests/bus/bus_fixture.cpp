// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/bus/bus_fixture.h"

namespace vinic::bus::test {

sim::configuration bench::config(const std::vector<std::pair<std::string, std::string>>& settings) {
    sim::configuration c;
    for (const auto& [name, text] : settings) c.set(name, {.text = text, .origin = "test", .source = ""});
    return c;
}

}  // namespace vinic::bus::test
