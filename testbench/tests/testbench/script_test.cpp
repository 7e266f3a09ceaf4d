// SPDX-License-Identifier: Apache-2.0
#include "testbench/lua/script.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "hw/sim/error.h"

namespace vinic::testbench {
namespace {

namespace fs = std::filesystem;

/// Scripts of one test, as files; what a script asserts is what is tested.
class script_test : public testing::Test {
protected:
    script_test() : file_(fs::temp_directory_path() / fmt::format("vinic_script_{}.lua", ::getpid())) {}
    ~script_test() override { fs::remove(file_); }

    std::unique_ptr<script> load(const std::string& text, const workload_options& options = {}) {
        std::ofstream(file_) << text;
        return std::make_unique<script>(file_, options);
    }
    std::string error_of(const std::string& text, const workload_options& options = {}) {
        try {
            load(text, options);
        } catch (const sim::input_error& error) {
            return error.what();
        }
        return "no error";
    }

    fs::path file_;
};

TEST_F(script_test, is_shut_in) {
    load(R"(
        for _, name in ipairs{ "io", "os", "package", "require", "debug", "dofile", "loadfile", "collectgarbage" } do
            assert(_G[name] == nil, name)
        end
        assert(string.dump == nil)
        assert(load("return 1 + 1")() == 2)
        assert(load("\27Lua") == nil)
    )");
}

TEST_F(script_test, unsafe_scripts_are_not) {
    load("assert(io.open and os.time and require and debug.getinfo)", {.unsafe = true});
}

TEST_F(script_test, spread_is_by_rank) {
    load(R"(
        local samples = {}
        for i = 1, 200 do samples[i] = 201 - i end
        local least, median, p99, most = spread(samples)
        assert(least == 1 and median == 100 and p99 == 198 and most == 200)
        assert(samples[1] == 200)
        local a, b, c, d = spread { 7 }
        assert(a == 7 and b == 7 and c == 7 and d == 7)
    )");
}

TEST_F(script_test, bytecode_is_refused) {
    EXPECT_NE(error_of("\x1bLua\x54").find("attempt to load a binary chunk"), std::string::npos);
}

TEST_F(script_test, pairs_and_next_go_in_an_order_of_their_own) {
    load(R"(
        local t = { c = 1, a = 2, [10] = 3, [2] = 4, [1.5] = 5, [true] = 6, [false] = 7, b = 8, ["10"] = 9 }
        local wanted = { false, true, 1.5, 2, 10, "10", "a", "b", "c" }
        local i = 0
        for k, v in pairs(t) do
            i = i + 1
            assert(k == wanted[i] and v == t[k], tostring(k))
        end
        assert(i == #wanted)
        local key, value = next(t)
        i = 1
        while key ~= nil do
            assert(key == wanted[i] and value == t[key])
            key, value = next(t, key)
            i = i + 1
        end
        assert(i == #wanted + 1)
        assert(next({}) == nil)
    )");
}

TEST_F(script_test, fields_may_be_cleared_on_the_way) {
    load(R"(
        local t, seen = { a = 1, b = 2, c = 3 }, ""
        for k in pairs(t) do seen = seen .. k; t.a, t.b = nil, nil end
        assert(seen == "ac")
        t = { a = 1, b = 2, c = 3 }
        t.b = nil
        assert(next(t, "a") == "c")
    )");
}

TEST_F(script_test, pairs_refuses_keys_without_an_order) {
    EXPECT_NE(error_of("for k in pairs{ [{}] = 1, [{}] = 2 } do end").find("no order that is the same"),
              std::string::npos);
    load("for k in pairs{ [{}] = 1 } do end");
    load(
        R"(local t = setmetatable({}, { __pairs = function() return function(_, k) if not k then return 1 end end end })
            for k in pairs(t) do assert(k == 1) end)");
}

TEST_F(script_test, sort_is_stable) {
    load(R"(
        local t = {}
        for i = 1, 300 do t[i] = { key = i * 7 % 10, place = i } end
        table.sort(t, function(a, b) return a.key < b.key end)
        for i = 2, 300 do
            assert(t[i - 1].key < t[i].key or t[i - 1].key == t[i].key and t[i - 1].place < t[i].place)
        end
        local u = { 3, 1, 2 }
        table.sort(u)
        assert(u[1] == 1 and u[2] == 2 and u[3] == 3)
        table.sort({})
    )");
}

TEST_F(script_test, texts_have_no_addresses) {
    load(R"(
        local a, b = {}, {}
        assert(tostring(a) == "table: 1" and tostring(b) == "table: 2" and tostring(a) == "table: 1")
        assert(string.format("%s", b) == "table: 2" and ("%5s|"):format("x") == "    x|")
        assert(not pcall(string.format, "%p", a))
        assert(string.format("100%%p") == "100%p")
        assert(tostring(print):match("^function: %d+$"))
    )");
}

TEST_F(script_test, random_numbers_come_from_the_seed) {
    const auto draw = [&](std::uint64_t seed) {
        return load(
                   "description(string.format('%d %d %.17g', math.random(1000000), math.random(-5, 5), "
                   "math.random()))",
                   {.seed = seed})
            ->description();
    };
    EXPECT_EQ(draw(1), draw(1));
    EXPECT_NE(draw(1), draw(2));
    load("for i = 1, 1000 do local n = math.random(3, 5); assert(n >= 3 and n <= 5) end");
    load("math.randomseed(7); local a = math.random(0); math.randomseed(7); assert(a == math.random(0))");
}

TEST_F(script_test, arguments_have_the_type_of_their_default) {
    const std::string text = R"(
        n = argument{ name = "n", default = 5, min = 1, max = 9, unit = "bytes", help = "a number" }
        f = argument{ name = "f", default = 0.5, help = "a fraction" }
        t = argument{ name = "t", default = "x", help = "a text" }
        b = argument{ name = "b", default = false, help = "a flag" }
        l = argument{ name = "l", default = { 1, 2 }, help = "a list" }
    )";
    load(text + "assert(n == 5 and f == 0.5 and t == 'x' and b == false and #l == 2 and l[2] == 2)");
    load(text + "assert(n == 7 and f == 2.25 and t == 'y=z' and b and #l == 3 and l[3] == 30)",
         {.arguments = {"n=7", "f=2.25", "t=y=z", "b=true", "l=10,20,30"}});
    EXPECT_EQ(error_of(text, {.arguments = {"n=x"}}),
              "argument n=x: expected a whole number (a number; default 5)");
    EXPECT_EQ(error_of(text, {.arguments = {"n=10"}}),
              "argument n=10: expected 1 to 9 (a number; default 5)");
    EXPECT_EQ(error_of(text, {.arguments = {"b=1"}}),
              "argument b=1: expected true or false (a flag; default false)");
    EXPECT_EQ(error_of(text, {.arguments = {"l=1,x"}}),
              "argument l=1,x: expected whole numbers, as in 8,4096 (a list; default 1,2)");
    EXPECT_EQ(error_of(text, {.arguments = {"n"}}), "argument 'n' of the workload: expected name=value");
    const std::string unknown =
        error_of("argument{ name = 'sizes', default = 1, help = 'h' }", {.arguments = {"size=1"}});
    EXPECT_NE(unknown.find("has no argument 'size'; did you mean 'sizes'?"), std::string::npos) << unknown;
}

TEST_F(script_test, errors_have_the_line_and_the_way_there) {
    const std::string error = error_of("local function f()\n  error('no')\nend\nf()\n");
    EXPECT_NE(error.find(".lua:2: no\n"), std::string::npos) << error;
    EXPECT_NE(error.find("stack traceback:"), std::string::npos) << error;
    EXPECT_NE(error.find(".lua:4: in main chunk"), std::string::npos) << error;
    EXPECT_NE(error_of("x = = 1").find(".lua:1: unexpected symbol"), std::string::npos);
    EXPECT_NE(error_of("error({})").find("error object is a table value"), std::string::npos);
}

TEST_F(script_test, what_needs_a_process_says_so) {
    EXPECT_NE(error_of("now()").find("only a process can do this"), std::string::npos);
    EXPECT_NE(error_of("VipOpenNic('VINIC')").find("only a process can do this"), std::string::npos);
    EXPECT_NE(error_of("process(2, function() end)").find("node 2 of a platform with 2 nodes"),
              std::string::npos);
    EXPECT_NE(error_of("process(0, 1)").find("expected a function, got number"), std::string::npos);
}

TEST_F(script_test, processes_are_what_was_declared) {
    const auto s = load("process(1, function() end, 'b'); process(0, function() end)");
    const auto processes = s->processes();
    ASSERT_EQ(processes.size(), 2u);
    EXPECT_EQ(processes[0].node, 1u);
    EXPECT_EQ(processes[0].name, "b");
    EXPECT_EQ(processes[1].node, 0u);
}

}  // namespace
}  // namespace vinic::testbench
