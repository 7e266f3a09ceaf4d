// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "testbench/lua/condition.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::study {

/// What stands under `only`: the points of a study fulfil all of it.
class conditions {
public:
    /// `names`: of the values that `keep` is given.
    conditions(const study_file& study, std::vector<std::string> names);
    bool keep(const std::vector<located>& point) const;

private:
    std::vector<std::string> names_;
    std::deque<lua::condition> all_;
};

}  // namespace vinic::testbench::study
