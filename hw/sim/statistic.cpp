// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/statistic.h"

#include "hw/sim/simulation.h"

namespace vinic::sim {

std::uint64_t distribution::count() const {
    std::uint64_t all = 0;
    for (const auto& [value, count] : samples_) all += count;
    return all;
}

std::uint64_t distribution::sum() const {
    std::uint64_t all = 0;
    for (const auto& [value, count] : samples_) all += value * count;
    return all;
}

std::uint64_t distribution::percentile(unsigned permille) const {
    const std::uint64_t rank = (count() * permille + 999) / 1000;
    std::uint64_t seen = 0;
    for (const auto& [value, count] : samples_)
        if ((seen += count) >= rank) return value;
    return 0;
}

distribution& distribution::operator+=(const distribution& more) {
    for (const auto& [value, count] : more.samples_) samples_[value] += count;
    return *this;
}

distribution& distribution::operator-=(const distribution& part) {
    for (const auto& [value, count] : part.samples_)
        if ((samples_[value] -= count) == 0) samples_.erase(value);
    return *this;
}

tally& tally::operator+=(const tally& more) {
    total += more.total;
    samples += more.samples;
    return *this;
}

tally& tally::operator-=(const tally& part) {
    total -= part.total;
    samples -= part.samples;
    return *this;
}

statistic::statistic(const module& owner, const std::string& name, std::string unit, std::string help)
    : name_(std::string(owner.name()) + "." + name), unit_(std::move(unit)), help_(std::move(help)) {
    simulation::current().add(*this);
}

statistic::~statistic() { simulation::current().remove(*this); }

std::vector<std::pair<std::string, std::uint64_t>> histogram_base::numbers(const tally& of,
                                                                           picoseconds) const {
    const distribution& all = of.samples;
    const std::uint64_t count = all.count();
    return {{".count", count},
            {".mean", count ? all.sum() / count : 0},
            {".min", all.min()},
            {".p50", all.percentile(500)},
            {".p99", all.percentile(990)},
            {".max", all.max()}};
}

std::uint64_t scaled(std::uint64_t part, std::uint64_t full, std::uint64_t whole) {
    __extension__ using wide = unsigned __int128;
    return whole ? static_cast<std::uint64_t>(wide{part} * full / whole) : 0;
}

}  // namespace vinic::sim
