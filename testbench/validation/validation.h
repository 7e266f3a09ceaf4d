// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/validation/figures.h"
#include "testbench/validation/simulations.h"

namespace vinic::testbench::validation {

/// What a published figure says of ours.
enum class verdict {
    within,      ///< it validates: published, not fitted, met within the tolerance
    misses,      ///< it would validate, and is not met
    fitted,      ///< met, after parameters were fitted to it: no validation
    fit_missed,  ///< fitted, and not met
    plausible,   ///< unverified, or a sanity band: met; never counts
    odd,         ///< the same, not met
    failed,      ///< the simulation did not end well, or has no such cell
    not_modelled,
};

struct finding {
    const figure* of = nullptr;
    std::optional<double> ours;
    std::optional<double> error_percent;  ///< of ours against the value, or the nearest end of the range
    validation::verdict verdict = verdict::not_modelled;
    std::string note;                   ///< why it failed, or what is not modelled
    std::vector<std::string> commands;  ///< that measure it

    /// Against the exit status.
    bool bad() const {
        return verdict == verdict::misses || verdict == verdict::fit_missed || verdict == verdict::failed;
    }
};

/// Signed, in percent; 0 inside of the range.
double error_percent_of(const figure& of, double ours);
/// `tolerance_percent`: for figures that name none of their own.
verdict judge(const figure& of, double ours, double tolerance_percent);
/// The number of the rows that is asked for; throws input_error when it is not there.
double number_in(const json& rows, const measure& which);
/// The word for it in tables.
std::string text_of(verdict what);

/// All figures of a file beside what the designs do.
class validation_run {
public:
    struct options {
        std::vector<std::string> designs;  ///< names; empty: all
        std::optional<double> tolerance_percent;
    };
    /// `design_file`: the file of a design by its name, or nothing when it has none yet. Throws input_error
    /// for designs that no figure names.
    validation_run(const figures_file& from, const options& which,
                   const std::function<std::optional<std::string>(const located&)>& design_file);

    /// What has to be simulated.
    void ask(simulations& of);
    /// What came out.
    std::vector<finding> findings(const simulations& of) const;
    double tolerance_percent() const { return tolerance_percent_; }

private:
    struct asked {
        const figure* of;
        std::optional<std::size_t> run, over;  ///< numbers of simulations
        std::string missing;                   ///< the design that has no file
    };
    std::optional<std::size_t> ask(simulations& of, const measure& what, std::string& missing) const;
    finding find(const asked& one, const simulations& of) const;

    const figures_file& from_;
    std::function<std::optional<std::string>(const located&)> design_file_;
    double tolerance_percent_;
    std::vector<asked> asked_;
};

/// "clan" of "clan", "rx2000" of "./hosts/rx2000.yaml".
std::string design_name(const located& of);

json to_json(const std::vector<finding>& all, double tolerance_percent);
std::string to_text(const std::vector<finding>& all, double tolerance_percent, bool colours);

}  // namespace vinic::testbench::validation
