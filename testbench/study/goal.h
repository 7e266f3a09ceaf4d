// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testbench/study/database.h"
#include "testbench/study/space.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::study {

/// A goal of a search, ready to be measured: a metric in the row that its text names, "latency_us
/// size_bytes=8", or an axis with numbers.
class goal {
public:
    /// Throws input_error when it is an axis without numbers.
    goal(const goal_text& from, const space& in);

    const std::string& text() const { return text_.text; }
    /// As tables name it: "latency (us), size (bytes) 8".
    std::string heading() const;
    bool is_axis() const { return column_.has_value(); }
    const std::string& metric() const { return metric_; }
    const std::vector<std::pair<std::string, std::string>>& row() const { return row_; }
    bool maximise() const { return maximise_; }

    /// Its number at a point; nothing when the point gave none. Throws input_error when several rows have
    /// one.
    std::optional<double> value(const point& at, const point_record& of) const;
    /// Throws input_error when points ended well and none has such a metric, with what is near.
    void check(const std::vector<const point_record*>& of) const;

private:
    bool is_of(const study::metric& m) const;

    located text_;
    bool maximise_;
    std::string metric_;                                    ///< as results name it
    std::vector<std::pair<std::string, std::string>> row_;  ///< keys that it must have
    std::optional<std::size_t> column_;                     ///< of the axis
};

}  // namespace vinic::testbench::study
