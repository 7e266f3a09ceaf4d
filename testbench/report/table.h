// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "testbench/report/json.h"

namespace vinic::testbench {

/// The heading of a key that carries its unit: "latency_us" -> "latency (us)".
std::string heading(const std::string& key);

/// Lines of a table: numbers to the right, texts to the left, one blank line never. `head` and all rows have
/// the same number of cells.
std::string table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows,
                  bool colours = false);

/// Rows (objects) with a column for each key, in the order in which keys first appear.
std::string table_of_rows(const json& rows, bool colours = false);

/// How a value prints in a table: strings bare, fractions with three digits behind the point.
std::string cell(const json& value);

}  // namespace vinic::testbench
