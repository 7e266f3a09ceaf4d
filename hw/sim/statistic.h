// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hw/sim/module.h"
#include "hw/sim/time.h"

namespace vinic::sim {

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

    /// Suffix ("" for the value itself, ".p99" ...) and value of each number that this statistic prints at
    /// time `at`.
    virtual std::vector<std::pair<std::string, std::uint64_t>> values(picoseconds at) const = 0;

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
    std::vector<std::pair<std::string, std::uint64_t>> values(picoseconds) const override {
        return {{"", value_}};
    }

private:
    std::uint64_t value_ = 0;
};

/// How a quantity is distributed. Buckets are exact below 64 and then 32 to each power of two (error
/// below 3.2 %); count, sum, minimum and maximum are exact.
class histogram_base : public statistic {
public:
    using statistic::statistic;

    void add(std::uint64_t sample);
    std::uint64_t count() const { return count_; }
    std::uint64_t sum() const { return sum_; }
    std::uint64_t min() const { return count_ ? min_ : 0; }
    std::uint64_t max() const { return max_; }
    /// Upper bound of the bucket that holds the sample of rank ceil(count * permille / 1000), never above
    /// max.
    std::uint64_t percentile(unsigned permille) const;
    std::vector<std::pair<std::string, std::uint64_t>> values(picoseconds) const override;

private:
    std::vector<std::uint64_t> buckets_;
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    std::uint64_t min_ = ~std::uint64_t{0};
    std::uint64_t max_ = 0;
};

template <typename Unit>
class histogram : public histogram_base {
public:
    histogram(const module& owner, const std::string& name, std::string help)
        : histogram_base(owner, name, Unit::name, std::move(help)) {}
};

/// Something per second of simulated time, from its total: printed in whole units per second.
template <typename Unit>
class rate : public statistic {
public:
    rate(const module& owner, const std::string& name, std::string help)
        : statistic(owner, name, std::string(Unit::name) + "/s", std::move(help)) {}

    void add(std::uint64_t n = 1) { total_ += n; }
    std::uint64_t total() const { return total_; }
    std::vector<std::pair<std::string, std::uint64_t>> values(picoseconds at) const override {
        __extension__ using wide = unsigned __int128;
        constexpr std::uint64_t second = 1'000'000'000'000;
        return {{"", at ? static_cast<std::uint64_t>(wide{total_} * second / at) : 0}};
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
    std::vector<std::pair<std::string, std::uint64_t>> values(picoseconds at) const override {
        __extension__ using wide = unsigned __int128;
        return {{"", at ? static_cast<std::uint64_t>(wide{busy_} * 1'000'000 / at) : 0}};
    }

private:
    picoseconds busy_ = 0;
};

}  // namespace vinic::sim
