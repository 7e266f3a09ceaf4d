// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

struct lua_State;

namespace vinic::testbench::lua {

/// A Lua expression over dotted names, shut in as scripts are: `bus.clock_mhz <= 66 or bus.kind == "pcix"`.
/// Values that read as numbers are numbers, true and false are flags, the rest is text.
class condition {
public:
    /// `origin` is for messages. Throws input_error when it is no expression.
    condition(std::string text, std::string origin);
    ~condition();
    condition(const condition&) = delete;
    condition& operator=(const condition&) = delete;

    /// Throws input_error when it fails, names what has no value, or gives neither true nor false.
    bool holds(const std::vector<std::pair<std::string, std::string>>& values) const;

private:
    void set(const std::string& name, const std::string& value) const;
    [[noreturn]] void fail(const std::string& what) const;

    std::string text_;
    std::string origin_;
    std::unique_ptr<lua_State, void (*)(lua_State*)> state_;
};

}  // namespace vinic::testbench::lua
