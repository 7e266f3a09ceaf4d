// SPDX-License-Identifier: Apache-2.0
#include <lua.hpp>

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "hw/host/process.h"
#include "hw/sim/error.h"
#include "hw/sim/time.h"
#include "testbench/lua/libraries.h"
#include "testbench/lua/stack.h"
#include "testbench/platform/measurement.h"
#include "testbench/report/results.h"

namespace vinic::testbench::lua {

namespace {

/// The text of a default, as a user would give it.
std::string text_of(lua_State* L, int index) {
    if (lua_istable(L, index)) {
        std::string list;
        const lua_Integer n = luaL_len(L, index);
        for (lua_Integer i = 1; i <= n; ++i) {
            lua_geti(L, index, i);
            if (i > 1) list += ',';
            list += fmt::format("{}", integer_argument(L, -1, "default"));
            lua_pop(L, 1);
        }
        return list;
    }
    if (lua_isboolean(L, index)) return lua_toboolean(L, index) ? "true" : "false";
    if (lua_isinteger(L, index)) return fmt::format("{}", lua_tointeger(L, index));
    if (lua_isnumber(L, index)) return fmt::format("{}", lua_tonumber(L, index));
    return text_argument(L, index, "default");
}

[[noreturn]] void wrong_value(const workload_argument& argument, const char* expected) {
    throw sim::input_error("argument {}={}: expected {} ({}; default {})", argument.name, argument.value,
                           expected, argument.help, argument.default_text);
}

template <typename Number>
Number parse(const workload_argument& argument, std::string_view text, const char* expected) {
    Number value{};
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || rest != text.data() + text.size()) wrong_value(argument, expected);
    return value;
}

void push_list(lua_State* L, const workload_argument& argument) {
    lua_newtable(L);
    std::string_view rest = argument.value;
    if (rest.empty()) wrong_value(argument, "at least one whole number, as in 8,4096");
    for (lua_Integer i = 1; !rest.empty(); ++i) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        lua_pushinteger(L,
                        parse<lua_Integer>(argument, rest.substr(0, comma), "whole numbers, as in 8,4096"));
        lua_seti(L, -2, i);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
}

/// Pushes the argument's value with the type of its default, which is at `index`.
void push_value(lua_State* L, const workload_argument& argument, int index) {
    if (lua_istable(L, index)) {
        push_list(L, argument);
    } else if (lua_isboolean(L, index)) {
        if (argument.value != "true" && argument.value != "false") wrong_value(argument, "true or false");
        lua_pushboolean(L, argument.value == "true");
    } else if (lua_isinteger(L, index)) {
        lua_pushinteger(L, parse<lua_Integer>(argument, argument.value, "a whole number"));
    } else if (lua_isnumber(L, index)) {
        lua_pushnumber(L, parse<lua_Number>(argument, argument.value, "a number"));
    } else {
        push(L, argument.value);
    }
}

/// What is no number (NaN) lies between no bounds.
template <typename Number>
void check_between(const workload_argument& argument, Number value, Number low, Number high) {
    if (value >= low && value <= high) return;
    const bool bounded = high != std::numeric_limits<Number>::max();
    wrong_value(argument,
                (bounded ? fmt::format("{} to {}", low, high) : fmt::format("{} or more", low)).c_str());
}

/// The value on top of the stack, and each number of a list.
void check_range(lua_State* L, const workload_argument& argument) {
    if (lua_istable(L, -1)) {
        const lua_Integer n = luaL_len(L, -1);
        for (lua_Integer i = 1; i <= n; ++i) {
            lua_geti(L, -1, i);
            check_range(L, argument);
            lua_pop(L, 1);
        }
        return;
    }
    if (lua_isinteger(L, -1))
        check_between<std::int64_t>(argument, lua_tointeger(L, -1), integer_field(L, 1, "min", INT64_MIN),
                                    integer_field(L, 1, "max", INT64_MAX));
    else if (lua_type(L, -1) == LUA_TNUMBER)
        check_between(argument, lua_tonumber(L, -1), number_field(L, 1, "min", -DBL_MAX),
                      number_field(L, 1, "max", DBL_MAX));
}

void check_choice(lua_State* L, const workload_argument& argument) {
    lua_getfield(L, 1, "choices");
    if (lua_isnil(L, -1)) return lua_pop(L, 1);
    if (!lua_istable(L, -1)) wrong_argument(L, -1, "argument: choices", "a list of texts");
    std::vector<std::string> choices;
    const lua_Integer n = luaL_len(L, -1);
    for (lua_Integer i = 1; i <= n; ++i) {
        lua_geti(L, -1, i);
        choices.push_back(text_argument(L, -1, "argument: choice"));
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    if (std::find(choices.begin(), choices.end(), argument.value) == choices.end())
        wrong_value(argument, fmt::format("one of {}", fmt::join(choices, ", ")).c_str());
}

/// argument{name=, default=, unit=, help=, min=, max=, choices=}: declares an argument of the workload;
/// returns its value. The bounds hold for each number of a list.
int argument(lua_State* L, script& self) {
    if (!self.executing_file()) throw script_error("argument: only outside of processes");
    if (!lua_istable(L, 1)) wrong_argument(L, 1, "argument", "a table");
    workload_argument declared{.name = text_field(L, 1, "name", ""),
                               .value = {},
                               .default_text = {},
                               .unit = text_field(L, 1, "unit", ""),
                               .help = text_field(L, 1, "help", "")};
    if (declared.name.empty() || declared.help.empty())
        throw script_error("argument: expected a name and a help");
    lua_getfield(L, 1, "default");
    const int fallback = lua_gettop(L);
    declared.default_text = text_of(L, fallback);
    const std::string* given = self.given_argument(declared.name);
    declared.value = given ? *given : declared.default_text;
    push_value(L, declared, fallback);
    check_range(L, declared);
    check_choice(L, declared);
    self.declare_argument(std::move(declared));
    return 1;
}

/// expect_rows(count): how many rows there will be, for the estimate of the time left.
int expect_rows(lua_State* L, script& self) {
    self.expect_rows(unsigned_argument(L, 1, "expect_rows"));
    return 0;
}

/// refuse(text): what was asked for cannot be; the run ends with that line.
int refuse(lua_State* L, script&) { throw sim::input_error("{}", text_argument(L, 1, "refuse")); }

int description(lua_State* L, script& self) {
    self.describe(text_argument(L, 1, "description"));
    return 0;
}

/// process(node, function [, name]): a process of the workload; the function gets the node.
int process(lua_State* L, script& self) {
    if (!self.executing_file()) throw script_error("process: only outside of processes");
    const std::uint64_t node = unsigned_argument(L, 1, "process: node");
    if (node >= self.nodes())
        throw script_error(
            fmt::format("process: node {} of a platform with {} nodes (--nodes)", node, self.nodes()));
    if (!lua_isfunction(L, 2)) wrong_argument(L, 2, "process", "a function");
    const std::string name = lua_isnoneornil(L, 3) ? "" : text_argument(L, 3, "process: name");
    lua_pushvalue(L, 2);
    self.add_process(static_cast<unsigned>(node), name, luaL_ref(L, LUA_REGISTRYINDEX));
    return 0;
}

/// needs_nodes(least): refuses a platform that is too small for the workload.
int needs_nodes(lua_State* L, script& self) {
    const std::uint64_t least = unsigned_argument(L, 1, "needs_nodes");
    if (self.nodes() < least)
        throw sim::input_error("the workload needs {} nodes or more, the platform has {} (--nodes)", least,
                               self.nodes());
    return 0;
}

/// needs_cards(least): likewise of the cards of a node.
int needs_cards(lua_State* L, script& self) {
    const std::uint64_t least = unsigned_argument(L, 1, "needs_cards");
    if (self.cards() < least)
        throw sim::input_error(
            "the workload needs {} cards in a node or more, the platform has {} (--set cards={})", least,
            self.cards(), least);
    return 0;
}

host::process& self_of(script& self) { return self.current().environment->self; }

/// now(): simulated time in picoseconds, as the program sees it.
int now(lua_State* L, script& self) {
    lua_pushinteger(L, static_cast<lua_Integer>(self_of(self).now()));
    return 1;
}

/// measure(): what is measured begins now, the warm-up is over; returns now().
int measure(lua_State* L, script& self) {
    self.current().environment->measured.begin();
    return now(L, self);
}

/// measured(): what is measured ends now; returns now(). Without effect for one who did not begin.
int measured(lua_State* L, script& self) {
    self.current().environment->measured.end();
    return now(L, self);
}

/// compute(clocks): the processor works for that long.
int compute(lua_State* L, script& self) {
    self_of(self).compute(unsigned_argument(L, 1, "compute"));
    return 0;
}

/// sleep(picoseconds): gives the processor up for that long.
int sleep(lua_State* L, script& self) {
    self_of(self).sleep_for(unsigned_argument(L, 1, "sleep"));
    return 0;
}

double finite(const std::string& key, double value) {
    if (!std::isfinite(value)) throw script_error(fmt::format("row: {} is {}, no result", key, value));
    return value;
}

/// row(key, value, key, value, ...): a row of the results. Keys end in their unit: size_bytes, latency_us.
int row(lua_State* L, script& self) {
    script::task& task = self.current();
    json cells = json::object();
    const int count = lua_gettop(L);
    if (count % 2) throw script_error("row: expected keys and values in turn");
    for (int i = 1; i <= count; i += 2) {
        const std::string name = text_argument(L, i, "row: key");
        if (lua_isinteger(L, i + 1))
            cells[name] = lua_tointeger(L, i + 1);
        else if (lua_type(L, i + 1) == LUA_TNUMBER)
            cells[name] = finite(name, lua_tonumber(L, i + 1));
        else
            cells[name] = text_argument(L, i + 1, "row: value");
    }
    task.environment->report.add_row(sim::now(), task.environment->index, std::move(cells));
    return 0;
}

/// check(condition, text): a result that must hold; the run goes on and ends with status 1.
int check(lua_State* L, script& self) {
    script::task& task = self.current();
    if (!lua_toboolean(L, 1))
        task.environment->report.fail_check(sim::now(), task.environment->index,
                                            text_argument(L, 2, "check: text"));
    return 0;
}

int write_line(lua_State* L, script& self) {
    const std::string text = text_argument(L, 1, "print");
    if (script::task* task = self.running())
        task->environment->report.add_line(sim::now(), task->environment->index, text);
    else
        std::fprintf(stderr, "%s\n", text.c_str());
    return 0;
}

constexpr const char* barrier_type = "barrier";

/// All parties block, the last one too, and are woken a picosecond later: at one instant it does not matter
/// who comes last.
class barrier_state {
public:
    explicit barrier_state(std::uint64_t parties) : parties_(parties) {}

    void arrive(process_environment& who) {
        if (!release_) prepare(who.events);
        if (++arrived_ == parties_) {
            arrived_ = 0;
            release_->notify(sim::to_sc_time(1));
        }
        who.self.block(queue_);
    }

private:
    /// At the first arrival: a script is executed before there is a kernel.
    void prepare(std::deque<sc_core::sc_event>& events) {
        release_ = &events.emplace_back();
        sc_core::sc_spawn_options options;
        options.spawn_method();
        options.dont_initialize();
        options.set_sensitivity(release_);
        sc_core::sc_spawn([this] { queue_.wake_all(); }, sc_core::sc_gen_unique_name("barrier"), &options);
    }

    std::uint64_t parties_;
    std::uint64_t arrived_ = 0;
    host::wait_queue queue_{"barrier of the workload"};
    sc_core::sc_event* release_ = nullptr;
};

/// barrier(parties): an object to call; each call returns when all parties have called. For the phases of a
/// workload: it costs what a sleep and a wake-up cost, and no message.
int barrier(lua_State* L, script& self) {
    if (!self.executing_file())
        throw script_error(
            "barrier: only outside of processes, as in `local all = barrier(2)`; processes call all()");
    const std::uint64_t parties = unsigned_argument(L, 1, "barrier");
    new (lua_newuserdatauv(L, sizeof(barrier_state), 0)) barrier_state(parties);
    luaL_setmetatable(L, barrier_type);
    return 1;
}

int barrier_call(lua_State* L, script& self) {
    auto* state = static_cast<barrier_state*>(luaL_testudata(L, 1, barrier_type));
    if (!state) wrong_argument(L, 1, "barrier", "a barrier");
    state->arrive(*self.current().environment);
    return 0;
}

int barrier_collect(lua_State* L) {
    std::destroy_at(static_cast<barrier_state*>(lua_touserdata(L, 1)));
    return 0;
}

}  // namespace

void open_workload_library(lua_State* L) {
    for (const auto& [name, function] : {luaL_Reg{"argument", guarded<argument>},
                                         {"description", guarded<description>},
                                         {"expect_rows", guarded<expect_rows>},
                                         {"refuse", guarded<refuse>},
                                         {"needs_nodes", guarded<needs_nodes>},
                                         {"needs_cards", guarded<needs_cards>},
                                         {"process", guarded<process>},
                                         {"now", guarded<now>},
                                         {"measure", guarded<measure>},
                                         {"measured", guarded<measured>},
                                         {"compute", guarded<compute>},
                                         {"sleep", guarded<sleep>},
                                         {"row", guarded<row>},
                                         {"check", guarded<check>},
                                         {"barrier", guarded<barrier>},
                                         {"write_line", guarded<write_line>}})
        lua_register(L, name, function);
    lua_pushinteger(L, static_cast<lua_Integer>(script::of(L).nodes()));
    lua_setglobal(L, "nodes");
    lua_pushinteger(L, static_cast<lua_Integer>(script::of(L).cards()));
    lua_setglobal(L, "cards");
    luaL_newmetatable(L, barrier_type);
    lua_pushcfunction(L, guarded<barrier_call>);
    lua_setfield(L, -2, "__call");
    lua_pushcfunction(L, barrier_collect);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}

}  // namespace vinic::testbench::lua
