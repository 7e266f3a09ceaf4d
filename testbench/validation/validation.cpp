// SPDX-License-Identifier: Apache-2.0
#include "testbench/validation/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "hw/sim/error.h"
#include "testbench/report/table.h"

namespace vinic::testbench::validation {

namespace {

std::string letter(evidence of) {
    switch (of) {
        case evidence::seen:
            return "S";
        case evidence::derived:
            return "D";
        case evidence::background:
            return "B";
        case evidence::prediction:
            return "P";
    }
    return "";
}

bool counts(const figure& of) { return of.evidence == evidence::seen || of.evidence == evidence::derived; }

/// Whether a cell of a row is what a figure asks for: numbers as numbers, texts as texts.
bool is_value(const json& cell, const std::string& wanted) {
    if (cell.is_string()) return cell.get<std::string>() == wanted;
    double number = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    return cell.is_number() && error == std::errc{} && end == wanted.data() + wanted.size() &&
           cell.get<double>() == number;
}

double number_at(const json& row, const measure& which, const std::string& column) {
    if (!row.contains(column) || !row[column].is_number())
        throw sim::input_error("{}: no row of the run {} has a number in the column {}", which.origin,
                               which.run, column);
    return row[column].get<double>();
}

double half_peak(const json& rows, const measure& which, double peak) {
    double size_before = 0, value_before = 0;
    for (const auto& row : rows) {
        const double size = number_at(row, which, "size_bytes");
        const double value = number_at(row, which, which.column);
        if (value >= peak / 2)
            return size_before + (size - size_before) * (peak / 2 - value_before) / (value - value_before);
        size_before = size;
        value_before = value;
    }
    throw sim::input_error("{}: {} never reaches half of its peak", which.origin, which.column);
}

std::string published_text(const figure& of) {
    const auto number = [](double value) { return fmt::format("{:g}", value); };
    if (!of.is_range()) return number(*of.least);
    if (!of.most) return number(*of.least) + " or more";
    if (!of.least) return number(*of.most) + " or less";
    return number(*of.least) + "-" + number(*of.most);
}

std::string digits(double value) {
    return fmt::format("{:.{}f}", value, std::abs(value) >= 100 ? 1 : std::abs(value) >= 10 ? 2 : 3);
}

}  // namespace

std::string design_name(const located& of) { return std::filesystem::path(of.text).stem().string(); }

double error_percent_of(const figure& of, double ours) {
    double nearest = ours;
    if (of.least && ours < *of.least) nearest = *of.least;
    if (of.most && ours > *of.most) nearest = *of.most;
    if (nearest == ours) return 0;
    return nearest == 0 ? std::copysign(INFINITY, ours) : 100 * (ours - nearest) / nearest;
}

verdict judge(const figure& of, double ours, double tolerance_percent) {
    const double allowed = of.tolerance_percent.value_or(tolerance_percent);
    const bool met = std::abs(error_percent_of(of, ours)) <= allowed;
    if (!counts(of)) return met ? verdict::plausible : verdict::odd;
    if (!of.fitted.empty()) return met ? verdict::fitted : verdict::fit_missed;
    return met ? verdict::within : verdict::misses;
}

double number_in(const json& rows, const measure& which) {
    if (which.what == measure::kind::cell) {
        for (const auto& row : rows)
            if (std::ranges::all_of(which.row, [&](const auto& wanted) {
                    return row.contains(wanted.first) && is_value(row[wanted.first], wanted.second);
                }))
                return number_at(row, which, which.column);
        throw sim::input_error("{}: the run {} has no such row", which.origin, which.run);
    }
    double peak = 0;
    for (const auto& row : rows) peak = std::max(peak, number_at(row, which, which.column));
    return which.what == measure::kind::peak ? peak : half_peak(rows, which, peak);
}

std::string text_of(verdict what) {
    switch (what) {
        case verdict::within:
            return "within";
        case verdict::misses:
            return "MISSES";
        case verdict::fitted:
            return "fitted";
        case verdict::fit_missed:
            return "FIT MISSES";
        case verdict::plausible:
            return "plausible";
        case verdict::odd:
            return "odd";
        case verdict::failed:
            return "FAILED";
        case verdict::not_modelled:
            return "not modelled";
    }
    return "";
}

validation_run::validation_run(const figures_file& from, const options& which,
                               const std::function<std::optional<std::string>(const located&)>& design_file)
    : from_(from),
      design_file_(design_file),
      tolerance_percent_(which.tolerance_percent.value_or(from.tolerance_percent)) {
    std::vector<std::string> known;
    for (const figure& f : from.figures)
        if (!f.design.text.empty()) known.push_back(design_name(f.design));
    for (const auto& name : which.designs)
        if (std::ranges::find(known, name) == known.end()) {
            const std::string near = sim::nearest_name(name, known);
            std::ranges::sort(known);
            known.erase(std::unique(known.begin(), known.end()), known.end());
            throw sim::input_error("--design {}: {} has no figure of it; {}", name, from.path.string(),
                                   near.empty() ? fmt::format("it has {}", fmt::join(known, ", "))
                                                : fmt::format("did you mean '{}'?", near));
        }
    for (const figure& f : from.figures) {
        const bool chosen = which.designs.empty() ||
                            (!f.design.text.empty() &&
                             std::ranges::find(which.designs, design_name(f.design)) != which.designs.end());
        if (chosen) asked_.push_back({.of = &f});
    }
}

std::optional<std::size_t> validation_run::ask(simulations& of, const measure& what,
                                               std::string& missing) const {
    const auto file = design_file_(what.design);
    if (!file) {
        missing = design_name(what.design);
        return std::nullopt;
    }
    const run_recipe& recipe = from_.runs.at(what.run);
    std::vector<std::string> command{"run", recipe.workload.text, "--design", *file}, arguments;
    for (const auto& [name, value] : recipe.settings) {
        command.push_back("--set");
        command.push_back(name + "=" + value);
    }
    for (const auto& [name, value] : recipe.arguments) arguments.push_back(name + "=" + value);
    return of.want(command, arguments);
}

void validation_run::ask(simulations& of) {
    for (asked& one : asked_) {
        if (one.of->design.text.empty() || !one.of->measure) continue;
        // Nothing is simulated for a quotient of which one side is missing.
        for (const auto* side : {&one.of->measure, &one.of->over})
            if (*side && one.missing.empty() && !design_file_((*side)->design))
                one.missing = design_name((*side)->design);
        if (!one.missing.empty()) continue;
        one.run = ask(of, *one.of->measure, one.missing);
        if (one.of->over) one.over = ask(of, *one.of->over, one.missing);
    }
}

finding validation_run::find(const asked& one, const simulations& of) const {
    finding f{.of = one.of};
    if (!one.run) {
        if (!one.missing.empty()) f.note = fmt::format("no design {} yet", one.missing);
        return f;
    }
    f.verdict = verdict::failed;
    for (const auto& number : {one.run, one.over}) {
        if (!number) continue;
        f.commands.push_back(of.command(*number));
        if (f.note.empty()) f.note = of.failure(*number);
    }
    if (!f.note.empty()) return f;
    try {
        double ours = number_in(of.rows(*one.run), *one.of->measure);
        if (one.over) ours /= number_in(of.rows(*one.over), *one.of->over);
        f.ours = ours;
        f.error_percent = error_percent_of(*one.of, ours);
        f.verdict = judge(*one.of, ours, tolerance_percent_);
    } catch (const sim::input_error& error) {
        f.note = error.what();
    }
    return f;
}

std::vector<finding> validation_run::findings(const simulations& of) const {
    std::vector<finding> all;
    for (const asked& one : asked_) all.push_back(find(one, of));
    return all;
}

json to_json(const std::vector<finding>& all, double tolerance_percent) {
    json rows = json::array();
    for (const finding& f : all) {
        json row{{"system", f.of->system}};
        if (!f.of->design.text.empty()) row["design"] = design_name(f.of->design);
        row.update({{"figure", f.of->what}, {"unit", f.of->unit}});
        if (!f.of->is_range()) {
            row["published"] = *f.of->least;
        } else {
            if (f.of->least) row["published_from"] = *f.of->least;
            if (f.of->most) row["published_to"] = *f.of->most;
        }
        if (f.ours) row["ours"] = *f.ours;
        if (f.error_percent && std::isfinite(*f.error_percent)) row["error_percent"] = *f.error_percent;
        row["evidence"] = letter(f.of->evidence);
        row["fitted"] = f.of->fitted.empty() ? json(false) : json(f.of->fitted);
        row["tolerance_percent"] = f.of->tolerance_percent.value_or(tolerance_percent);
        row["verdict"] = text_of(f.verdict);
        if (!f.note.empty()) row["note"] = f.note;
        row["source"] = f.of->source;
        row["commands"] = f.commands;
        rows.push_back(std::move(row));
    }
    return rows;
}

namespace {

std::size_t count_of(const std::vector<finding>& all, verdict what) {
    return static_cast<std::size_t>(std::ranges::count(all, what, &finding::verdict));
}

std::string summary_of(const std::vector<finding>& all, double tolerance_percent) {
    const std::size_t within = count_of(all, verdict::within), misses = count_of(all, verdict::misses);
    std::string text = fmt::format(
        "{} of {} published figures that nothing was fitted to are within {:g} % (or their own tolerance)\n",
        within, within + misses, tolerance_percent);
    const auto line = [&](verdict what, const char* of) {
        if (const std::size_t n = count_of(all, what)) text += fmt::format("{} {}\n", n, of);
    };
    line(verdict::fitted, "more were fitted to: no validation");
    line(verdict::fit_missed, "were fitted to and are missed nevertheless");
    if (const std::size_t n = count_of(all, verdict::plausible) + count_of(all, verdict::odd))
        text += fmt::format("{} are unverified [B] or the band of a prediction [P]: they never count\n", n);
    line(verdict::failed, "could not be measured");
    line(verdict::not_modelled, "are of what is not modelled");
    for (const finding& f : all)
        if (f.verdict == verdict::failed)
            text += fmt::format("failed: {}, {}: {}\n", f.of->system, f.of->what, f.note);
    return text;
}

}  // namespace

std::string to_text(const std::vector<finding>& all, double tolerance_percent, bool colours) {
    std::vector<std::vector<std::string>> cells;
    std::string last;
    for (const finding& f : all) {
        const std::string name = f.of->design.text.empty() ? f.of->system : design_name(f.of->design);
        std::string said = text_of(f.verdict);
        if (f.verdict == verdict::not_modelled && !f.note.empty()) said += ": " + f.note;
        cells.push_back({name == last ? "" : name, f.of->what, published_text(*f.of),
                         f.ours ? digits(*f.ours) : "", f.of->unit,
                         f.error_percent ? fmt::format("{:+.1f}", *f.error_percent) : "",
                         letter(f.of->evidence), f.of->fitted.empty() ? "" : "yes", said});
        last = name;
    }
    return table({"design", "figure", "published", "ours", "unit", "error (%)", "evidence", "fitted",
                  "verdict"},
                 cells, colours) +
           "\n" + summary_of(all, tolerance_percent);
}

}  // namespace vinic::testbench::validation
