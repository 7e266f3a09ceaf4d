// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include <string>

namespace vinic::sim {

/// A SystemC module whose parameters, statistics and probes belong to the current simulation under its
/// hierarchical name.
class module : public sc_core::sc_module {
public:
    /// `parameter_alias`: a name under which the parameters of every module of this kind can be set at once;
    /// may be empty.
    explicit module(const sc_core::sc_module_name& name, std::string parameter_alias = "")
        : sc_core::sc_module(name), parameter_alias_(std::move(parameter_alias)) {}

    const std::string& parameter_alias() const { return parameter_alias_; }

private:
    std::string parameter_alias_;
};

}  // namespace vinic::sim
