// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace vinic::driver {

/// Runs of consecutive entries of the translation table, first fit.
class page_allocator {
public:
    explicit page_allocator(std::uint32_t entries = 0) { reset(entries); }

    void reset(std::uint32_t entries) {
        free_.clear();
        if (entries > 0) free_[0] = entries;
    }

    std::optional<std::uint32_t> allocate(std::uint32_t count) {
        for (auto run = free_.begin(); run != free_.end(); ++run) {
            if (run->second < count) continue;
            const std::uint32_t first = run->first;
            const std::uint32_t rest = run->second - count;
            free_.erase(run);
            if (rest > 0) free_[first + count] = rest;
            return first;
        }
        return std::nullopt;
    }

    void release(std::uint32_t first, std::uint32_t count) {
        auto run = free_.emplace(first, count).first;
        if (const auto next = std::next(run); next != free_.end() && first + count == next->first) {
            run->second += next->second;
            free_.erase(next);
        }
        if (run == free_.begin()) return;
        if (const auto before = std::prev(run); before->first + before->second == first) {
            before->second += run->second;
            free_.erase(run);
        }
    }

private:
    std::map<std::uint32_t, std::uint32_t> free_;  ///< first entry, count
};

}  // namespace vinic::driver
