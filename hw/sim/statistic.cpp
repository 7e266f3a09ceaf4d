// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/statistic.h"

#include <algorithm>
#include <bit>

#include "hw/sim/simulation.h"

namespace vinic::sim {

namespace {

constexpr unsigned exact_bits = 6;
constexpr unsigned buckets_per_octave = 32;

std::size_t bucket_of(std::uint64_t sample) {
    if (sample < (1u << exact_bits)) return sample;
    const unsigned octave = static_cast<unsigned>(std::bit_width(sample)) - 1;
    const std::uint64_t within = (sample >> (octave - 5)) - buckets_per_octave;
    return (1u << exact_bits) + (octave - exact_bits) * buckets_per_octave + within;
}

std::uint64_t upper_bound_of(std::size_t bucket) {
    if (bucket < (1u << exact_bits)) return bucket;
    const std::size_t above = bucket - (1u << exact_bits);
    const auto octave = static_cast<unsigned>(exact_bits + above / buckets_per_octave);
    const std::uint64_t within = above % buckets_per_octave + buckets_per_octave;
    return ((within + 1) << (octave - 5)) - 1;
}

}  // namespace

statistic::statistic(const module& owner, const std::string& name, std::string unit, std::string help)
    : name_(std::string(owner.name()) + "." + name), unit_(std::move(unit)), help_(std::move(help)) {
    simulation::current().add(*this);
}

statistic::~statistic() { simulation::current().remove(*this); }

void histogram_base::add(std::uint64_t sample) {
    const std::size_t bucket = bucket_of(sample);
    if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
    ++buckets_[bucket];
    ++count_;
    sum_ += sample;
    min_ = std::min(min_, sample);
    max_ = std::max(max_, sample);
}

std::uint64_t histogram_base::percentile(unsigned permille) const {
    const std::uint64_t rank = (count_ * permille + 999) / 1000;
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
        seen += buckets_[bucket];
        if (seen >= rank && seen > 0) return std::min(upper_bound_of(bucket), max_);
    }
    return 0;
}

std::vector<std::pair<std::string, std::uint64_t>> histogram_base::values(picoseconds) const {
    return {{".count", count_},        {".mean", count_ ? sum_ / count_ : 0},
            {".min", min()},           {".p50", percentile(500)},
            {".p99", percentile(990)}, {".max", max_}};
}

}  // namespace vinic::sim
