// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "firmware/linker/image.h"
#include "hw/nic/lanai/core.h"
#include "testbench/report/json.h"

namespace vinic::testbench {

/// Where firmware's cycles went, by function and by source line, from the counts of each instruction. `share`
/// is of all cycles of the cores.
class profile {
public:
    explicit profile(const linker::image& image) : image_(image) {}

    /// The counts of one core; those of several add up.
    void add(const std::vector<lanai::pc_profile>& counts);

    json functions() const;
    json lines() const;
    json to_json() const { return {{"functions", functions()}, {"lines", lines()}}; }
    std::string to_text(bool colours) const;

private:
    template <typename Name>
    json rows_by(const char* what, Name name) const;

    const linker::image& image_;
    std::vector<lanai::pc_profile> counts_;
};

}  // namespace vinic::testbench
