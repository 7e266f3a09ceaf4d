// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hw/sim/module.h"
#include "hw/sim/time.h"

namespace vinic::sim {

/// How many samples there are of each value: exact, whatever is asked of it. Quantities lie on the grid of
/// some clock, so there are far fewer values than samples.
class distribution {
public:
    void add(std::uint64_t sample) { ++samples_[sample]; }
    std::uint64_t count() const;
    std::uint64_t sum() const;
    std::uint64_t min() const { return samples_.empty() ? 0 : samples_.begin()->first; }
    std::uint64_t max() const { return samples_.empty() ? 0 : samples_.rbegin()->first; }
    /// The sample of rank ceil(count * permille / 1000).
    std::uint64_t percentile(unsigned permille) const;

    distribution& operator+=(const distribution& more);
    distribution& operator-=(const distribution& part);

private:
    std::map<std::uint64_t, std::uint64_t> samples_;
};

/// What a statistic counted in a stretch of a run: of the whole it can be taken away, to others added.
struct tally {
    std::uint64_t total = 0;
    distribution samples{};

    tally& operator+=(const tally& more);
    tally& operator-=(const tally& part);
};

/// A named quantity of a module: printed with its unit, under the same hierarchical names as parameters.
class statistic {
public:
    statistic(const module& owner, const std::string& name, std::string unit, std::string help);
    virtual ~statistic();
    statistic(const statistic&) = delete;
    statistic& operator=(const statistic&) = delete;

    const std::string& name() const { return name_; }
    const std::string& unit() const { return unit_; }
    const std::string& help() const { return help_; }

    /// From the beginning of the run until `at`, which is now.
    virtual tally counted(picoseconds at) const = 0;
    /// Suffix ("" for the value itself, ".p99" ...) and value of each number that is printed of what was
    /// counted in a stretch of that length.
    virtual std::vector<std::pair<std::string, std::uint64_t>> numbers(const tally& of,
                                                                       picoseconds /*length*/) const {
        return {{"", of.total}};
    }
    std::vector<std::pair<std::string, std::uint64_t>> values(picoseconds at) const {
        return numbers(counted(at), at);
    }

private:
    std::string name_;
    std::string unit_;
    std::string help_;
};

/// Counts up.
template <typename Unit>
class counter : public statistic {
public:
    counter(const module& owner, const std::string& name, std::string help)
        : statistic(owner, name, Unit::name, std::move(help)) {}

    void add(std::uint64_t n = 1) { value_ += n; }
    std::uint64_t value() const { return value_; }
    tally counted(picoseconds) const override { return {value_}; }

private:
    std::uint64_t value_ = 0;
};

/// How a quantity is distributed.
class histogram_base : public statistic {
public:
    using statistic::statistic;

    void add(std::uint64_t sample) { samples_.add(sample); }
    const distribution& samples() const { return samples_; }
    tally counted(picoseconds) const override { return {0, samples_}; }
    std::vector<std::pair<std::string, std::uint64_t>> numbers(const tally&, picoseconds) const override;

private:
    distribution samples_;
};

template <typename Unit>
class histogram : public histogram_base {
public:
    histogram(const module& owner, const std::string& name, std::string help)
        : histogram_base(owner, name, Unit::name, std::move(help)) {}
};

/// `part` of `whole` as so many of `full`; 0 of nothing.
std::uint64_t scaled(std::uint64_t part, std::uint64_t full, std::uint64_t whole);

/// Something per second of simulated time, from its total: printed in whole units per second.
template <typename Unit>
class rate : public statistic {
public:
    rate(const module& owner, const std::string& name, std::string help)
        : statistic(owner, name, std::string(Unit::name) + "/s", std::move(help)) {}

    void add(std::uint64_t n = 1) { total_ += n; }
    tally counted(picoseconds) const override { return {total_}; }
    std::vector<std::pair<std::string, std::uint64_t>> numbers(const tally& of,
                                                               picoseconds length) const override {
        constexpr std::uint64_t second = 1'000'000'000'000;
        return {{"", scaled(of.total, second, length)}};
    }

private:
    std::uint64_t total_ = 0;
};

/// The share of time in which a resource was busy, from busy spans that do not overlap: printed in parts per
/// million.
class utilisation : public statistic {
public:
    utilisation(const module& owner, const std::string& name, std::string help)
        : statistic(owner, name, "ppm", std::move(help)) {}

    void add(picoseconds begin, picoseconds end) { busy_ += end - begin; }
    picoseconds busy() const { return busy_; }
    tally counted(picoseconds) const override { return {busy_}; }
    std::vector<std::pair<std::string, std::uint64_t>> numbers(const tally& of,
                                                               picoseconds length) const override {
        return {{"", scaled(of.total, 1'000'000, length)}};
    }

private:
    picoseconds busy_ = 0;
};

}  // namespace vinic::sim
