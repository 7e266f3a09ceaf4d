// SPDX-License-Identifier: Apache-2.0
// The linker on small objects written in assembler or C++, compiled on the spot; each test states what the
// image must hold.
#include "firmware/linker/linker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "firmware/linker/function_code.h"
#include "firmware/linker/image.h"
#include "hw/nic/lanai/isa.h"

namespace vinic::linker {
namespace {

namespace fs = std::filesystem;

class linking : public ::testing::Test {
protected:
    linking() : folder_(fs::path(::testing::TempDir()) / fmt::format("vinic_linker_{}", getpid())) {
        fs::create_directories(folder_);
    }
    ~linking() override { fs::remove_all(folder_); }

    fs::path compile(const std::string& name, const std::string& source, const std::string& options = "") {
        const fs::path from = folder_ / name, to = folder_ / (name + ".o");
        std::ofstream(from) << source;
        const std::string command = fmt::format(
            "{} --target=lanai -mcmodel=small -ffreestanding -fno-exceptions -fno-rtti "
            "-Wno-unused-command-line-argument -O2 {} {} -c {} -o {}",
            VINIC_CLANG, name.ends_with(".cpp") ? "-std=c++20" : "", options, from.string(), to.string());
        EXPECT_EQ(std::system(command.c_str()), 0) << command;
        return to;
    }
    image linked(const std::vector<fs::path>& objects, const link_options& options = {}) {
        link(objects, folder_ / "image.elf", options);
        return image(folder_ / "image.elf");
    }
    // The one line that linking ends in.
    std::string error(const std::vector<fs::path>& objects, const link_options& options = {}) {
        fs::remove(folder_ / "image.elf");
        try {
            link(objects, folder_ / "image.elf", options);
        } catch (const image_error& e) {
            EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
            EXPECT_FALSE(fs::exists(folder_ / "image.elf"));
            return e.what();
        }
        return "no error";
    }
    static std::uint32_t word(const image& i, std::uint32_t address) {
        for (const image_segment& s : i.segments()) {
            if (address < s.address || address - s.address + 4 > s.bytes.size()) continue;
            std::uint32_t w = 0;
            for (unsigned n = 0; n < 4; ++n) w = w << 8 | s.bytes[address - s.address + n];
            return w;
        }
        return 0xDEADDEAD;
    }

    fs::path folder_;
};

const char* const start = R"(
    .section .text._start,"ax",@progbits
    .globl _start
_start:
    bt body
    nop
)";

TEST_F(linking, order_of_memory_and_symbols_of_the_linker) {
    const auto body = compile("body.cpp", R"(
        extern "C" { extern unsigned __stack_top[], __heap_start[], __bss_start[], __bss_end[], __init_array_start[], __stack_limit[], __init_array_end[];
        int data_word = 42; int bss_word; extern const int constant[] = {7, 8};
        volatile int input = 3; int made; struct c { c() { made = input; } } instance;
        const void* volatile keep;
        void body() { keep = __stack_top; keep = &data_word; keep = &bss_word; keep = constant; keep = __heap_start; } })");
    const image i = linked({body, compile("start.s", start)}, {.stack_bytes = 1000});
    EXPECT_EQ(i.entry(), 0u);  // first, though it comes from the second object
    EXPECT_EQ(*i.address_of("_start"), 0u);
    const auto at = [&](const char* name) { return i.address_of(name).value_or(0xFFFFFFFF); };
    EXPECT_LT(at("body"), at("constant"));
    EXPECT_LT(at("constant"), at("__init_array_start"));
    EXPECT_EQ(at("__init_array_end"), at("__init_array_start") + 4);
    EXPECT_LE(at("__init_array_end"), at("data_word"));
    EXPECT_LT(at("data_word"), at("__bss_start"));
    EXPECT_GE(at("bss_word"), at("__bss_start"));
    EXPECT_LT(at("bss_word"), at("__bss_end"));
    EXPECT_GE(at("__stack_limit"), at("__bss_end"));
    EXPECT_EQ(at("__stack_top"), at("__stack_limit") + 1024);  // 1000 in steps of 64
    EXPECT_EQ(at("__heap_start"), at("__stack_top"));
    EXPECT_EQ(word(i, at("data_word")), 42u);
    EXPECT_EQ(word(i, at("constant") + 4), 8u);
    EXPECT_EQ(i.function_at(word(i, at("__init_array_start")))->name, "_GLOBAL__sub_I_body.cpp");
    EXPECT_EQ(word(i, 0),
              lanai::encode({.format = lanai::form::br, .immediate = static_cast<std::int32_t>(at("body"))}));
    EXPECT_EQ(i.end(), at("__stack_top"));
}

// What is aligned to a large power of two stands behind the rest, whatever the order in the objects.
TEST_F(linking, memory_is_in_order_of_its_alignment) {
    const auto object = compile("a.s", R"(
        .section .text._start,"ax",@progbits
        .globl _start
    _start:
        .long page
        .long word
        .section .bss.page,"aw",@nobits
        .balign 4096
        .globl page
    page:
        .zero 4096
        .section .bss.word,"aw",@nobits
        .balign 4
        .globl word
    word:
        .zero 4
    )");
    const image i = linked({object});
    EXPECT_LT(*i.address_of("word"), 4096u);
    EXPECT_EQ(*i.address_of("page"), 4096u);
}

// Each relocation against a symbol of known address.
TEST_F(linking, relocations) {
    const auto object = compile("r.s", R"(
        .section .text._start,"ax",@progbits
        .globl _start
    _start:
        bt target
        beq target
        mov hi(target), %r9
        or %r9, lo(target), %r9
        mov target, %r6
        ld [target], %r7
        .long target
        .long target + 0x10004
    )");
    const image i = linked({object, compile("target.s", ".globl target\n.set target, 0x1abcd8\n")});
    EXPECT_EQ(word(i, 0), 0xE01ABCD8u);
    EXPECT_EQ(word(i, 4), 0xE61ABCD9u);
    EXPECT_EQ(word(i, 8), 0x0481001Au);
    EXPECT_EQ(word(i, 12), 0x54A4BCD8u);
    // 21 bits: 0x1A in 22-18, 0xBCD8 in 15-0.
    EXPECT_EQ(word(i, 16), 0xF0000000u | 6u << 23 | 0x1Au << 18 | 2u << 16 | 0xBCD8u);
    EXPECT_EQ(word(i, 20), 0xF0000000u | 7u << 23 | 0x1Au << 18 | 0xBCD8u);
    EXPECT_EQ(word(i, 24), 0x001ABCD8u);
    EXPECT_EQ(word(i, 28), 0x001BBCDCu);
}

TEST_F(linking, overflow) {
    const auto make = [&](const char* instruction, const char* value) {
        return std::vector{
            compile("o.s", fmt::format(".section .text._start,\"ax\",@progbits\n.globl _start\n_start:\n{}\n",
                                       instruction)),
            compile("far.s", fmt::format(".globl far\n.set far, {}\n", value))};
    };
    EXPECT_NE(error(make("mov far, %r6", "0x200000")).find("against 'far' overflows: 0x200000"),
              std::string::npos);
    EXPECT_NE(error(make("bt far", "0x2000000")).find("overflows: 0x2000000"), std::string::npos);
    EXPECT_NE(error(make("bt far", "0x1002")).find("overflows: 0x1002"), std::string::npos);
    EXPECT_EQ(word(linked(make("mov far, %r6", "0x1fffff")), 0), 0xF37EFFFFu);
    EXPECT_EQ(word(linked(make("bt far", "0x1fffffc")), 0), 0xE1FFFFFCu);
}

TEST_F(linking, weak_symbols) {
    const auto user = compile("user.cpp", R"(
        extern "C" { int number(); int absent() __attribute__((weak)); int result;
        void body() { result = absent ? absent() : number(); } })");
    const auto weak = compile("weak.cpp", R"(extern "C" __attribute__((weak)) int number() { return 1; })");
    const auto strong = compile("strong.cpp", R"(extern "C" int number() { return 2; })");
    const auto s = compile("start.s", start);
    const auto holds = [&](const image& i) {
        const std::uint32_t from = *i.address_of("number");
        const auto* f = i.function_at(from);
        for (std::uint32_t a = from; a < from + f->size; a += 4) {
            const lanai::instruction n = lanai::decode(word(i, a));
            if (n.rd == lanai::reg_rv && !n.is_memory() && n.immediate == 2) return true;
        }
        return false;
    };
    EXPECT_TRUE(holds(linked({s, user, weak, strong})));
    EXPECT_TRUE(holds(linked({s, user, strong, weak})));
    EXPECT_FALSE(holds(linked({s, user, weak})));
    EXPECT_NE(error({s, user, strong, compile("again.cpp", R"(extern "C" int number() { return 3; })")})
                  .find("'number' is also defined in"),
              std::string::npos);
}

// An inline function that two objects hold is in the image once, and both call it there.
TEST_F(linking, comdat_groups) {
    const std::string shared =
        "inline int table[] = {3, 4, 5}; __attribute__((noinline)) inline int shared(int i) { return "
        "table[i]; }\n";
    const auto a = compile(
        "a.cpp", shared + "extern \"C\" { int other(); int r; void body() { r = shared(r) + other(); } }");
    const auto b = compile("b.cpp", shared + "extern \"C\" int other() { return shared(1); }");
    const image i = linked({compile("start.s", start), a, b});
    unsigned functions = 0, tables = 0;
    for (const image_symbol& s : i.symbols()) {
        if (s.name == "_Z6sharedi") ++functions;
        if (s.name == "table") ++tables;
    }
    EXPECT_EQ(functions, 1u);
    EXPECT_EQ(tables, 1u);
    const std::uint32_t shared_at = *i.address_of("_Z6sharedi");
    unsigned calls = 0;
    for (const char* name : {"body", "other"}) {
        const auto* f = i.function_at(*i.address_of(name));
        for (std::uint32_t at = f->address; at < f->address + f->size; at += 4) {
            const lanai::instruction n = lanai::decode(word(i, at));
            if (n.format == lanai::form::br && static_cast<std::uint32_t>(n.immediate) == shared_at) ++calls;
        }
    }
    EXPECT_GE(calls, 2u);
}

TEST_F(linking, unreachable_sections_are_left_out) {
    const auto body = compile(
        "body.cpp",
        R"(volatile int v; extern "C" { __attribute__((noinline)) int used() { return v; } int unused() { return v + 1; } void body() { v = used(); } })",
        "-ffunction-sections -fno-inline");
    const image i = linked({compile("start.s", start), body});
    EXPECT_TRUE(i.address_of("used"));
    EXPECT_FALSE(i.address_of("unused"));
}

TEST_F(linking, one_clear_line_for_each_error) {
    const auto s = compile("start.s", start);
    const auto user = compile("user.cpp", R"(int missing(int); extern "C" void body() { missing(1); })");
    EXPECT_EQ(error({s, user}), fmt::format("{}: undefined symbol 'missing(int)'", user.string()));
    EXPECT_EQ(error({s}), fmt::format("{}: undefined symbol 'body'", s.string()));
    EXPECT_EQ(error({user}), fmt::format("{}: undefined entry '_start'", user.string()));
    EXPECT_EQ(error({folder_ / "no.o"}),
              fmt::format("{}: No such file or directory", (folder_ / "no.o").string()));
    EXPECT_EQ(error({}), "nothing to link");
    std::ofstream(folder_ / "text.o") << "this is no object\n";
    EXPECT_EQ(error({folder_ / "text.o"}), fmt::format("{}: not an ELF file", (folder_ / "text.o").string()));
    const auto big = compile("big.cpp", R"(extern "C" { char big[60000]; void body() { big[5] = 1; } })");
    EXPECT_NE(error({s, big}, {.memory_bytes = 50000}).find("image too large: section"), std::string::npos);
    EXPECT_NE(
        error({s, big}, {.memory_bytes = 61000, .stack_bytes = 4096}).find("image too large: with its stack"),
        std::string::npos);
}

TEST_F(linking, foreign_elf) {
    const fs::path program = fs::read_symlink("/proc/self/exe");
    EXPECT_EQ(error({program}),
              fmt::format("{}: not for LANai: ELF must be 32-bit big-endian", program.string()));
    EXPECT_THROW(image{program}, image_error);
    const auto object = compile("start.s", start);
    EXPECT_THROW(image{object}, image_error);  // not linked
    EXPECT_THROW(image{folder_ / "none"}, image_error);
    // A linked image cannot be linked again, and one that is cut off cannot be loaded.
    const auto body = compile("body.cpp", "extern \"C\" { int x[100] = {1}; void body() { x[2] = x[0]; } }");
    linked({object, body});
    fs::rename(folder_ / "image.elf", folder_ / "done.elf");
    EXPECT_NE(error({folder_ / "done.elf"}).find("this is no object file"), std::string::npos);
    for (const std::uintmax_t size : {20u, 60u, 200u, 500u}) {
        fs::copy_file(folder_ / "done.elf", folder_ / "cut.elf", fs::copy_options::overwrite_existing);
        fs::resize_file(folder_ / "cut.elf", size);
        EXPECT_THROW(image{folder_ / "cut.elf"}, image_error) << size;
    }
}

TEST_F(linking, damaged_images) {
    const auto body = compile("body.cpp", "extern \"C\" void body() {}");
    linked({compile("start.s", start), body});
    constexpr long entry = 24, program_headers = 28;  // in the ELF header
    constexpr long address = 8, memory_size = 20;     // in a program header
    const auto damaged = [&](long at, std::uint32_t value, bool in_segment) {
        fs::copy_file(folder_ / "image.elf", folder_ / "damaged.elf", fs::copy_options::overwrite_existing);
        std::fstream file(folder_ / "damaged.elf", std::ios::in | std::ios::out | std::ios::binary);
        if (in_segment) {
            file.seekg(program_headers);
            std::uint32_t offset = 0;
            for (int i = 0; i < 4; ++i) offset = offset << 8 | static_cast<std::uint32_t>(file.get());
            at += offset;
        }
        file.seekp(at);
        for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(value >> shift));
        file.close();
        try {
            image{folder_ / "damaged.elf"};
        } catch (const image_error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(damaged(entry, 0x00FFFFFC, false).find("entry 0xfffffc is no instruction"), std::string::npos);
    EXPECT_NE(damaged(entry, 2, false).find("entry 0x2 is no instruction"), std::string::npos);
    EXPECT_NE(damaged(address, 0xFFFFFFF0, true).find("beyond the 32-bit address space"), std::string::npos);
    EXPECT_NE(damaged(memory_size, 0, true).find("is cut off"), std::string::npos);
}

// What the compiler puts into the body of another function keeps its name and its place.
TEST_F(linking, inlined_functions) {
    const std::string source =
        "extern \"C\" {\nvolatile int r;\n}\n"
        "namespace n {\ntemplate <typename T>\ninline __attribute__((always_inline)) void store(T x) {\n    "
        "r = x;\n    r = "
        "x + 1;\n}\n}\n"
        "extern \"C\" void body() {\n    r = 0;\n    n::store(5);\n}\n";
    const auto s = compile("start.s", start);
    const image i = linked({s, compile("inlined.cpp", source, "-g -O1")});
    const auto* body = i.function_at(*i.address_of("body"));
    ASSERT_NE(body, nullptr);
    const auto code = read_function_code(i.path());
    ASSERT_EQ(code.size(), 2u);
    EXPECT_EQ(code[0].name, "body");
    EXPECT_EQ(code[0].depth, 0u);
    EXPECT_EQ(code[0].bytes(), body->size);
    EXPECT_EQ(code[1].name, "store");
    EXPECT_EQ(code[1].depth, 1u);
    EXPECT_GE(code[1].bytes(), 8u);  // two stores at least
    for (const code_interval& part : code[1].intervals) {
        EXPECT_GE(part.begin, body->address);
        EXPECT_LE(part.end, body->address + body->size);
    }
}

// File and line of each address, through our reader.
TEST_F(linking, source_lines) {
    const std::string source =
        "extern \"C"
        "\" {\nint r;\nvoid body() {\n    r = 5;\n    r += r;\n}\n}\n";
    const auto s = compile("start.s", start);
    const image i = linked({s, compile("lines.cpp", source, "-g -O0")});
    const auto* f = i.function_at(*i.address_of("body"));
    ASSERT_NE(f, nullptr);
    EXPECT_EQ(i.line_at(f->address)->line, 3u);
    EXPECT_EQ(fs::path(i.line_at(f->address)->file), folder_ / "lines.cpp");
    std::vector<unsigned> lines;
    for (std::uint32_t a = f->address; a < f->address + f->size; a += 4) {
        ASSERT_TRUE(i.line_at(a));
        if (lines.empty() || lines.back() != i.line_at(a)->line) lines.push_back(i.line_at(a)->line);
    }
    EXPECT_EQ(lines, (std::vector<unsigned>{3, 4, 5, 6}));
    EXPECT_FALSE(i.line_at(0));  // the start code was assembled without -g
    EXPECT_EQ(i.describe(f->address), fmt::format("body {}:3", (folder_ / "lines.cpp").string()));
}

}  // namespace
}  // namespace vinic::linker
