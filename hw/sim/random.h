// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace vinic::sim {

/// FNV-1a: the same on every machine, unlike std::hash.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

/// A random stream seeded from the run's seed and its owner's hierarchical name (SplitMix64).
class random_stream {
public:
    random_stream(std::uint64_t run_seed, std::string_view owner)
        : state_(fnv1a(owner) ^ (run_seed * 0x9e3779b97f4a7c15)) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    /// Uniform in [0, bound); the bias of at most bound / 2^64 is accepted.
    std::uint64_t below(std::uint64_t bound) {
        __extension__ using wide = unsigned __int128;
        return static_cast<std::uint64_t>((wide{next()} * bound) >> 64);
    }
    /// True with the given probability.
    bool chance(double probability) { return static_cast<double>(next() >> 11) * 0x1p-53 < probability; }

private:
    std::uint64_t state_;
};

}  // namespace vinic::sim
