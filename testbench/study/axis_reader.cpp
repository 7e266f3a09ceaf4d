// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/axis_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hw/sim/error.h"

namespace vinic::testbench::study {

namespace {

constexpr std::uint64_t most_values = 100'000;

double number_of(const std::string& shown, const std::string& key, const YAML::Node& node) {
    const std::string text = node.IsScalar() ? node.Scalar() : "";
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        throw sim::input_error("{}: {}: expected a number", place_of(shown, node), key);
    return value;
}

bool is_whole(const YAML::Node& node) { return node.Scalar().find_first_of(".eE") == std::string::npos; }

/// As an axis is written out: whole numbers without a point, others with the digits that count.
std::string text_of(double value, bool whole) {
    return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.12g}", value);
}

/// {from, to} and one of: step; points with scale linear or log; scale powers_of_two; none (for samples).
class range_reader {
public:
    range_reader(const std::string& shown, const std::string& name, const YAML::Node& node)
        : name_(name), place_(place_of(shown, node)) {
        static const std::vector<std::string> keys{"from", "to", "step", "points", "scale"};
        for (const auto& entry : node)
            if (std::ranges::find(keys, entry.first.Scalar()) == keys.end())
                unknown_key(place_of(shown, entry.first), entry.first.Scalar(), keys);
        if (!node["from"] || !node["to"]) fail("expected from and to, as in {from: 33, to: 400, points: 5}");
        from_ = number_of(shown, "from", node["from"]);
        to_ = number_of(shown, "to", node["to"]);
        whole_ = is_whole(node["from"]) && is_whole(node["to"]) && (!node["step"] || is_whole(node["step"]));
        if (from_ > to_) fail(fmt::format("from {} lies above to {}", from_, to_));
        if (node["scale"]) scale_ = node["scale"].as<std::string>("");
        if (scale_ != "linear" && scale_ != "log" && scale_ != "powers_of_two")
            fail(fmt::format("scale is '{}': expected linear, log or powers_of_two", scale_));
        if (scale_ != "linear" && from_ <= 0) fail(fmt::format("scale {} needs from above 0", scale_));
        read_steps(shown, node);
    }

    bool stepless() const { return values_.empty(); }
    continuous_range range() const { return {from_, to_, scale_ == "log", whole_}; }
    std::vector<located> values() const {
        std::vector<located> all;
        for (const double value : values_) {
            const std::string text = text_of(value, whole_);
            if (all.empty() || all.back().text != text) all.push_back({text, place_});
        }
        return all;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw sim::input_error("{}: {}: {}", place_, name_, what);
    }

    void read_steps(const std::string& shown, const YAML::Node& node) {
        const bool step = static_cast<bool>(node["step"]), points = static_cast<bool>(node["points"]);
        if (step && points) fail("expected step or points, not both");
        if (scale_ == "powers_of_two") {
            if (step || points) fail("powers_of_two has neither step nor points");
            for (double value = std::exp2(std::ceil(std::log2(from_))); value <= to_; value *= 2)
                values_.push_back(value);
            if (values_.empty()) fail(fmt::format("no power of two lies from {} to {}", from_, to_));
        } else if (step) {
            if (scale_ == "log") fail("a log scale takes points, not a step");
            take_steps(number_of(shown, "step", node["step"]));
        } else if (points) {
            take_points(number_of(shown, "points", node["points"]));
        }
    }

    void take_steps(double step) {
        if (step <= 0) fail("step: expected a number above 0");
        const double count = std::floor((to_ - from_) / step * (1 + 1e-12)) + 1;
        if (count > most_values) fail(fmt::format("more than {} values", most_values));
        for (double i = 0; i < count; ++i) values_.push_back(from_ + i * step);
    }

    void take_points(double count) {
        if (count < 1 || count > most_values || count != std::floor(count))
            fail(fmt::format("points: expected a whole number from 1 to {}", most_values));
        for (double i = 0; i < count; ++i) {
            const double share = count > 1 ? i / (count - 1) : 0;
            values_.push_back(scale_ == "log" ? from_ * std::pow(to_ / from_, share)
                                              : from_ + (to_ - from_) * share);
        }
    }

    std::string name_;
    std::string place_;
    double from_ = 0, to_ = 0;
    bool whole_ = false;
    std::string scale_ = "linear";
    std::vector<double> values_;
};

void check_name(const std::string& place, const std::string& name) {
    static const std::vector<std::string> plain{"design", "nodes", "cards", "seed", "topology", "firmware"};
    if (name.find('.') != std::string::npos || std::ranges::find(plain, name) != plain.end()) return;
    const std::string near = sim::nearest_name(name, plain);
    throw sim::input_error("{}: no axis is named '{}'; {}", place, name,
                           near.empty() ? "expected a parameter (bus.clock_mhz), arguments.NAME of the "
                                          "workload, design, nodes, cards, seed, topology or firmware"
                                        : fmt::format("did you mean '{}'?", near));
}

std::vector<located> read_values(const std::string& shown, const std::string& name, const YAML::Node& node) {
    std::vector<located> values;
    if (node.IsSequence())
        for (const auto& one : node) values.push_back(read_value(shown, name, one));
    else if (node.IsScalar())
        values.push_back(read_value(shown, name, node));
    if (values.empty())
        throw sim::input_error("{}: {}: expected values, as in [33, 66] or {{from: 33, to: 133, step: 33}}",
                               place_of(shown, node), name);
    return values;
}

}  // namespace

located read_value(const std::string& shown, const std::string& name, const YAML::Node& node) {
    if (node.IsScalar()) return {node.Scalar(), place_of(shown, node)};
    if (!node.IsSequence() || node.size() == 0)
        throw sim::input_error("{}: {}: expected a value", place_of(shown, node), name);
    std::string joined;
    for (const auto& one : node) {
        if (!one.IsScalar())
            throw sim::input_error("{}: {}: expected a list of single values", place_of(shown, one), name);
        joined += (joined.empty() ? "" : ",") + one.Scalar();
    }
    return {joined, place_of(shown, node)};
}

axis read_axis(const std::string& shown, const YAML::Node& entry) {
    if (!entry.IsMap() || entry.size() == 0)
        throw sim::input_error("{}: axes: expected a name and its values, as in `- bus.clock_mhz: [33, 66]`",
                               place_of(shown, entry));
    axis read;
    read.origin = place_of(shown, entry);
    for (const auto& one : entry) {
        const std::string name = one.first.as<std::string>("");
        check_name(place_of(shown, one.first), name);
        std::vector<located> values;
        if (one.second.IsMap()) {
            const range_reader range(shown, name, one.second);
            if (range.stepless() && entry.size() > 1)
                throw sim::input_error("{}: {}: names that advance together need step or points",
                                       place_of(shown, one.second), name);
            if (range.stepless()) read.range = range.range();
            values = range.values();
        } else {
            values = read_values(shown, name, one.second);
        }
        if (!read.names.empty() && values.size() != read.steps.size())
            throw sim::input_error("{}: {} has {} values, {} has {}: names of one entry advance together",
                                   place_of(shown, one.first), name, values.size(), read.names.front(),
                                   read.steps.size());
        read.steps.resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) read.steps[i].push_back(values[i]);
        read.names.push_back(name);
    }
    return read;
}

}  // namespace vinic::testbench::study
