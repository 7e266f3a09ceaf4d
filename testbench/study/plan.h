// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "testbench/platform/design.h"
#include "testbench/report/json.h"
#include "testbench/study/grid.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::study {

/// One point, ready to run.
struct planned_point {
    json configuration;  ///< all that the study asks for at this point
    std::string key;     ///< hash of it
    std::string workload;
    std::string design;
    std::optional<std::string> nodes;
    std::uint64_t seed = 1;
    std::vector<std::string> settings;   ///< of parameters, "name=value"
    std::vector<std::string> arguments;  ///< of the workload, "name=value"

    /// Arguments of vinic that run it; `options` go in front of the workload's arguments.
    std::vector<std::string> command(const std::vector<std::string>& options = {}) const;
};

/// What a point is, from the file and the grid alone: it touches no design, workload or firmware.
class plan {
public:
    /// The points that the study's file states.
    explicit plan(study_file of);
    /// Points that somebody else chose.
    plan(study_file of, grid points) : study_(std::move(of)), grid_(std::move(points)) {}

    const study_file& study() const { return study_; }
    const grid& points() const { return grid_; }
    planned_point at(std::size_t index) const;

    /// The value of a name at a point, wherever the study gives it; null when it does not.
    const located* value(std::size_t index, const std::string& name) const;
    /// The design of a point with all that the point sets; its errors name the study's lines.
    design design_at(std::size_t index) const;
    /// Arguments of the workload, "name=value".
    std::vector<std::string> arguments_at(std::size_t index) const;
    /// What `run` is told so that a result has what the study keeps.
    std::vector<std::string> result_options() const;
    std::string workload() const { return beside(study_.workload.text, ".lua"); }

private:
    bool wants(const char* prefix) const;
    /// Parameters of a point by name, as they stand in the study.
    std::map<std::string, located> parameters_at(std::size_t index) const;
    std::map<std::string, located> arguments_by_name(std::size_t index) const;
    /// Files of the user's are named from the study's folder.
    std::string beside(const std::string& name, const char* suffix) const;

    study_file study_;
    grid grid_;
};

/// Hashes of what a point is made from besides its configuration: the program, design files, workload and
/// firmware image. A point whose identity was run before is not run again.
class identities {
public:
    explicit identities(const plan& of) : plan_(of) {}

    std::string of(std::size_t index, const planned_point& p);
    std::string firmware_sha256(std::size_t index);
    /// Whether a result was made from that, by its provenance: files may change while points wait.
    bool made(std::size_t index, const json& provenance);

private:
    struct contents {
        std::string design, firmware;  ///< hashes
    };
    contents& contents_of(std::size_t index, const json& configuration);

    const plan& plan_;
    std::string workload_;
    std::map<std::string, contents> contents_;  ///< by design and firmware
};

/// A command as a shell takes it.
std::string shell_text(const std::vector<std::string>& words);

}  // namespace vinic::testbench::study
