// SPDX-License-Identifier: Apache-2.0
#include "testbench/lua/script.h"

#include <cstdlib>
#include <lua.hpp>

#include "hw/sim/error.h"
#include "hw/sim/time.h"
#include "testbench/cli/interrupt.h"
#include "testbench/lua/libraries.h"
#include "testbench/lua/stack.h"
#include "testbench/report/sha256.h"
#include "testbench/workloads/arguments.h"

namespace vinic::testbench {

namespace {

/// Pushes a text of the error on top, which may be any value: what its __tostring says, if that says
/// something.
void push_text(lua_State* L) {
    const char* const type = luaL_typename(L, -1);
    if (lua_type(L, -1) == LUA_TSTRING) return lua_pushvalue(L, -1);
    if (luaL_getmetafield(L, -1, "__tostring") != LUA_TNIL) {
        lua_pushvalue(L, -2);
        if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_type(L, -1) == LUA_TSTRING) return;
        lua_pop(L, 1);
    }
    lua_pushfstring(L, "error object is a %s value", type);
}

/// Replaces the error on top of `L` by its text and the way there, as `thread` still has it.
void explain(lua_State* L, lua_State* thread) {
    push_text(L);
    luaL_traceback(L, thread, lua_tostring(L, -1), L == thread ? 1 : 0);
}

int with_traceback(lua_State* L) {
    explain(L, L);
    return 1;
}

/// A script that collects without end is an error of its own, not the end of the program.
constexpr std::size_t most_bytes = std::size_t{1} << 30;

/// Lua's allocator; `used`: bytes that the script has.
void* allocate(void* used, void* block, std::size_t old_size, std::size_t new_size) {
    auto& total = *static_cast<std::size_t*>(used);
    if (block == nullptr) old_size = 0;  // it is the kind of object then
    if (new_size > old_size && total + (new_size - old_size) > most_bytes) return nullptr;
    void* const moved = new_size == 0 ? nullptr : std::realloc(block, new_size);
    if (new_size == 0)
        std::free(block);
    else if (moved == nullptr)
        return nullptr;
    total = total - old_size + new_size;
    return moved;
}

/// There is no room left in which Lua could say where.
[[noreturn]] void out_of_memory(const std::string& who) {
    throw sim::input_error("{}: the script uses more than {} MiB of memory", who, most_bytes >> 20);
}

constexpr int instructions_between_looks = 100'000;

/// A loop that calls nothing of ours never gives the runner its turn.
void look_for_interrupt(lua_State* L, lua_Debug*) {
    if (!interrupt_guard::raised()) return;
    script::of(L).keep_failure(
        std::make_exception_ptr(interrupted(fmt::format("interrupted at {} ps", sim::now()))));
    lua_pushliteral(L, "interrupted");
    lua_error(L);
}

}  // namespace

script::script(const std::filesystem::path& file, const workload_options& given)
    : options_(given), state_(lua_newstate(allocate, &used_bytes_)), load_random_(given.seed, "workload") {
    if (!state_) throw std::bad_alloc();
    *static_cast<script**>(lua_getextraspace(state_)) = this;
    try {
        for (const auto& argument : given.arguments) given_.push_back(split_argument(argument));
        sha256_ = testbench::sha256(read_file(file));
        lua::open_sandbox(state_, given.unsafe);
        lua::open_workload_library(state_);
        lua::open_memory_library(state_);
        lua::open_vipl_library(state_);
        lua::open_socket_library(state_);
        lua::run_prelude(state_);
        execute_file(file);
        check_argument_names(file.stem().string(), given, arguments_);
    } catch (...) {
        lua_close(state_);
        throw;
    }
}

script::~script() { lua_close(state_); }

script& script::of(lua_State* state) { return **static_cast<script**>(lua_getextraspace(state)); }

script::task& script::current() {
    if (!running_) throw script_error("only a process can do this: see process(node, function)");
    return *running_;
}

const std::string* script::given_argument(const std::string& name) const {
    const std::string* found = nullptr;
    for (const auto& [given, value] : given_)
        if (given == name) found = &value;
    return found;
}

void script::add_process(unsigned node, std::string name, int function) {
    task& added = tasks_.emplace_back(task{.random = sim::random_stream(options_.seed, "workload." + name)});
    added.owner = this;
    added.node = node;
    added.name = std::move(name);
    added.function = function;
}

void script::execute_file(const std::filesystem::path& file) {
    // Coroutines inherit it.
    lua_sethook(state_, look_for_interrupt, LUA_MASKCOUNT, instructions_between_looks);
    lua_pushcfunction(state_, with_traceback);
    // Mode "t": bytecode could do anything.
    int ended = luaL_loadfilex(state_, file.c_str(), options_.unsafe ? nullptr : "t");
    if (ended == LUA_OK) ended = lua_pcall(state_, 0, 0, 1);
    if (ended == LUA_ERRMEM) out_of_memory(file.string());
    if (ended != LUA_OK) raise();
    lua_settop(state_, 0);
    executing_file_ = false;
}

void script::raise() {
    if (failure_) std::rethrow_exception(failure_);
    std::size_t size = 0;
    const char* text = lua_tolstring(state_, -1, &size);
    throw sim::input_error("{}", text ? std::string_view(text, size) : "the script failed without a text");
}

std::vector<workload_process> script::processes() {
    std::vector<workload_process> all;
    for (task& one : tasks_)
        all.push_back({one.node, one.name, [this, &one](process_environment& in) { run_task(one, in); }});
    return all;
}

void script::run_task(task& which, process_environment& in) {
    lua_State* const thread = lua_newthread(state_);
    which.thread = luaL_ref(state_, LUA_REGISTRYINDEX);
    which.environment = &in;
    running_ = &which;
    lua_rawgeti(thread, LUA_REGISTRYINDEX, which.function);
    lua_pushinteger(thread, in.node);
    int results = 0;
    const int ended = lua_resume(thread, nullptr, 1, &results);
    running_ = nullptr;
    which.environment = nullptr;
    if (failure_) std::rethrow_exception(failure_);
    if (ended == LUA_ERRMEM) out_of_memory("process " + which.name);
    if (ended == LUA_YIELD)
        throw sim::input_error("process {}: yields outside of a coroutine of its own", which.name);
    if (ended != LUA_OK) {
        lua_xmove(thread, state_, 1);
        explain(state_, thread);
        raise();
    }
}

}  // namespace vinic::testbench
