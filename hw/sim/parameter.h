// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "hw/sim/module.h"

namespace vinic::sim {

/// The declaration of a parameter; `min` and `max` bound numbers, `choices` restricts values.
template <typename T>
struct parameter_spec {
    std::string name;
    std::string unit;
    T value{};
    T min{};
    T max{};
    std::vector<T> choices;
    std::string help;
    std::string source = "assumed";
};

/// A constant of the model, declared in the module that uses it and printed from there. T is bool,
/// std::uint64_t, double or std::string. The value is fixed when the module is built. Throws input_error for
/// a value that is ill-typed or out of range, with the place where it was given.
template <typename T>
class parameter {
public:
    parameter(const module& owner, const parameter_spec<T>& spec);

    const T& get() const { return value_; }
    operator const T&() const { return value_; }

private:
    T value_;
};

extern template class parameter<bool>;
extern template class parameter<std::uint64_t>;
extern template class parameter<double>;
extern template class parameter<std::string>;

}  // namespace vinic::sim
