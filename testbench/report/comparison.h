// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "testbench/report/json.h"

namespace vinic::testbench {

/// Two results side by side. Rows belong together when the numbers and texts that were chosen, not measured
/// (size_bytes, nodes), are equal.
class comparison {
public:
    /// Throws input_error, with the file's name, for what is no result of vinic.
    static json read_result(const std::string& file);

    comparison(const json& before, const json& after);

    struct line {
        std::string row;  ///< "size_bytes=8"
        std::string what;
        json before;  ///< null: not there
        json after;
        std::optional<double> ratio;  ///< after / before; none when one is missing or before is zero
    };
    const std::vector<line>& lines() const { return lines_; }

    /// Whether some number differs by more than that share of the one before, or a row or value is in one
    /// only.
    bool beyond(double tolerance_percent) const;
    json to_json() const;
    std::string to_text(bool colours) const;

private:
    void compare_rows(const json& before, const json& after);

    json designs_;
    json parameters_;  ///< that differ: name -> [before, after]
    std::vector<line> lines_;
};

/// Whether a key of a row names something measured: a time, a rate, a share.
bool is_measured(const std::string& key, const json& value);

}  // namespace vinic::testbench
