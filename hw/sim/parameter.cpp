// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/parameter.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "hw/sim/error.h"
#include "hw/sim/parameter_check.h"
#include "hw/sim/simulation.h"

namespace vinic::sim {

namespace {

template <typename T>
constexpr const char* type_name = "";
template <>
constexpr const char* type_name<bool> = "bool";
template <>
constexpr const char* type_name<std::uint64_t> = "integer";
template <>
constexpr const char* type_name<double> = "real";
template <>
constexpr const char* type_name<std::string> = "text";

std::optional<bool> parse(const std::string& text, bool) {
    if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
    if (text == "false" || text == "no" || text == "off" || text == "0") return false;
    return std::nullopt;
}

std::optional<std::uint64_t> parse(const std::string& text, std::uint64_t) {
    const bool hex = text.starts_with("0x");
    const char* first = text.data() + (hex ? 2 : 0);
    const char* last = text.data() + text.size();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(first, last, value, hex ? 16 : 10);
    if (error != std::errc{} || end != last) return std::nullopt;
    return value;
}

std::optional<double> parse(const std::string& text, double) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::string> parse(const std::string& text, const std::string&) { return text; }

template <typename T>
std::string print(const T& value) {
    return fmt::format("{}", value);
}

template <typename T>
constexpr bool is_number = std::is_same_v<T, std::uint64_t> || std::is_same_v<T, double>;

template <typename T>
std::string range_text(const parameter_spec<T>& spec) {
    if (!spec.choices.empty()) return fmt::format("{}", fmt::join(spec.choices, ", "));
    if constexpr (is_number<T>) return fmt::format("{} to {}", spec.min, spec.max);
    return std::is_same_v<T, bool> ? "true, false" : "any";
}

template <typename T>
bool in_range(const parameter_spec<T>& spec, const T& value) {
    if (!spec.choices.empty()) return std::ranges::find(spec.choices, value) != spec.choices.end();
    if constexpr (is_number<T>) return value >= spec.min && value <= spec.max;
    return true;
}

template <typename T>
std::string refusal(const parameter_spec<T>& spec, const std::string& name, const std::string& text) {
    const auto parsed = parse(text, T{});
    const std::string unit = spec.unit.empty() ? "" : " in " + spec.unit;
    if (!parsed)
        return fmt::format("{} = '{}': expected {} {}{}", name, text, type_name<T>, range_text(spec), unit);
    if (!in_range(spec, *parsed))
        return fmt::format("{} = {} is out of range: expected {}{}", name, text, range_text(spec), unit);
    return {};
}

/// The inverse of range_text.
template <typename T>
parameter_spec<T> spec_of(const parameter_info& declared) {
    parameter_spec<T> spec{.name = declared.name, .unit = declared.unit};
    if constexpr (is_number<T>) {
        if (const auto ends = ends_of(declared)) {
            spec.min = *parse(ends->first, T{});
            spec.max = *parse(ends->second, T{});
        }
    }
    if constexpr (!std::is_same_v<T, bool>)
        for (const std::string& choice : choices_of(declared)) spec.choices.push_back(*parse(choice, T{}));
    return spec;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> ends_of(const parameter_info& declared) {
    const std::size_t middle = declared.range.find(" to ");
    if (middle == std::string::npos || declared.type == type_name<std::string>) return std::nullopt;
    return std::pair{declared.range.substr(0, middle), declared.range.substr(middle + 4)};
}

std::vector<std::string> choices_of(const parameter_info& declared) {
    std::vector<std::string> all;
    if (declared.range == "any" || ends_of(declared)) return all;
    for (std::size_t from = 0, end = 0; end != std::string::npos; from = end + 2) {
        end = declared.range.find(", ", from);
        all.push_back(declared.range.substr(from, end - from));
    }
    return all;
}

std::string refusal_of(const parameter_info& declared, const std::string& text) {
    const auto check = [&]<typename T>(T) { return refusal(spec_of<T>(declared), declared.name, text); };
    if (declared.type == type_name<bool>) return check(bool{});
    if (declared.type == type_name<std::uint64_t>) return check(std::uint64_t{});
    if (declared.type == type_name<double>) return check(double{});
    return check(std::string{});
}

template <typename T>
parameter<T>::parameter(const module& owner, const parameter_spec<T>& spec) : value_(spec.value) {
    configuration& config = simulation::current().config();
    const std::string name = std::string(owner.name()) + "." + spec.name;
    const setting* given = config.consume(owner.name(), owner.parameter_alias(), spec.name);
    if (given) {
        const std::string refused = refusal(spec, name, given->text);
        if (!refused.empty()) throw input_error("{}: {}", given->origin, refused);
        value_ = *parse(given->text, T{});
    }
    config.declare({.name = name,
                    .type = type_name<T>,
                    .unit = spec.unit,
                    .default_text = print(spec.value),
                    .value_text = print(value_),
                    .range = range_text(spec),
                    .help = spec.help,
                    .source = given && !given->source.empty() ? given->source : spec.source,
                    .origin = given ? given->origin : "default"});
}

template class parameter<bool>;
template class parameter<std::uint64_t>;
template class parameter<double>;
template class parameter<std::string>;

}  // namespace vinic::sim
