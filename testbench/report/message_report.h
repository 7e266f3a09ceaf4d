// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "hw/sim/simulation.h"
#include "testbench/report/json.h"
#include "traces/anatomy.h"

namespace vinic::testbench {

/// The path of one message, interval by interval, with its stamps: picoseconds since VipPostSend and in the
/// run, and the clock cycle in which it begins, of the clock that the interval belongs to.
class message_report {
public:
    /// `of` knows the clocks.
    message_report(const traces::message_anatomy& m, std::size_t number, sim::simulation& of);

    json to_json() const;
    std::string to_text(bool colours) const;

private:
    json rows_of(const std::vector<traces::interval>& intervals) const;
    std::string clock_of(const traces::interval& i) const;

    const traces::message_anatomy& message_;
    std::size_t number_;
    std::map<std::string, std::uint64_t> clock_mhz_;  ///< by parameter
};

}  // namespace vinic::testbench
