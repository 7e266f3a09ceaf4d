// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/error.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "hw/sim/time.h"

namespace vinic::sim {

model_error::model_error(const std::string& module, const std::string& what)
    : std::runtime_error(fmt::format("{} at {} ps: {}", module, now(), what)) {}

std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

}  // namespace vinic::sim
