// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/firmware.h"

#include <fnmatch.h>
#include <unistd.h>

#include "hw/nic/lanai/isa.h"
#include "hw/sim/error.h"
#include "testbench/cli/output.h"
#include "testbench/cli/paths.h"
#include "testbench/cli/verbs.h"
#include "testbench/report/table.h"

namespace vinic::testbench {

namespace {

/// A design's firmware, unless it is one's own file or name.
located firmware_named(const std::string& what) {
    const located given{what, "firmware"};
    std::error_code none;
    if (what.ends_with(".elf") || std::filesystem::is_directory(what, none)) return given;
    const auto designs = names_in(folders().designs, ".yaml");
    const bool is_design =
        what.ends_with(".yaml") || std::find(designs.begin(), designs.end(), what) != designs.end();
    const auto images = names_in(folders().firmware, ".elf");
    if (!is_design && std::find(images.begin(), images.end(), what) != images.end()) return given;
    const design d = load_design(what);
    if (!d.firmware) throw sim::input_error("design {} has no firmware", d.name);
    return *d.firmware;
}

std::string hexadecimal(std::uint32_t address) { return fmt::format("0x{:05x}", address); }

json sections_of(const linker::image& image) {
    json rows = json::array();
    for (const auto& section : image.sections())
        if (section.loaded)
            rows.push_back({{"section", section.name},
                            {"address", hexadecimal(section.address)},
                            {"size_bytes", section.size}});
    return rows;
}

/// Empty matches everything. Demangled names have arguments, which nobody types.
bool named(const linker::image_symbol& function, const std::string& glob) {
    const std::string name = linker::demangle(function.name);
    return glob.empty() || ::fnmatch(glob.c_str(), name.c_str(), 0) == 0 ||
           ::fnmatch(glob.c_str(), name.substr(0, name.find('(')).c_str(), 0) == 0;
}

json functions_of(const linker::image& image, const std::string& glob) {
    json rows = json::array();
    for (const auto& symbol : image.symbols())
        if (symbol.function && named(symbol, glob))
            rows.push_back({{"function", linker::demangle(symbol.name)},
                            {"address", hexadecimal(symbol.address)},
                            {"size_bytes", symbol.size}});
    return rows;
}

std::uint32_t word_at(const linker::image_segment& segment, std::uint32_t address) {
    std::uint32_t word = 0;
    for (std::uint32_t i = 0; i < 4; ++i) word = word << 8 | segment.bytes[address - segment.address + i];
    return word;
}

/// Code with the function and the source line that each instruction belongs to, as they change.
std::string disassembly(const linker::image& image, const std::string& glob) {
    std::string text;
    for (const auto& segment : image.segments()) {
        if (!segment.executable) continue;
        const linker::image_symbol* function = nullptr;
        std::string line;
        const auto end = static_cast<std::uint32_t>(segment.address + segment.bytes.size());
        for (std::uint32_t at = segment.address; at + 4 <= end; at += 4) {
            const auto* here = image.function_at(at);
            if (!glob.empty() && (!here || !named(*here, glob))) continue;
            if (here != function && here) text += fmt::format("\n{}:\n", linker::demangle(here->name));
            const auto source = image.line_at(at);
            const std::string now = source ? fmt::format("{}:{}", source->file, source->line) : std::string();
            if ((now != line || here != function) && !now.empty()) text += fmt::format("  {}\n", now);
            function = here;
            line = now;
            const std::uint32_t word = word_at(segment, at);
            text += fmt::format("    {:05x}:  {:08x}  {}\n", at, word, lanai::disassemble(word));
        }
    }
    return text;
}

}  // namespace

status show_firmware(const firmware_options& options) {
    const bool as_json = !options.json.empty();
    output to(as_json ? options.json : "-");
    const firmware loaded = load_firmware(firmware_named(options.design));
    const linker::image& image = loaded.image;
    const json functions = functions_of(image, options.function);
    if (functions.empty() && !options.function.empty())
        throw sim::input_error("--function {}: no function of {} has such a name", options.function,
                               loaded.name);
    if (as_json) {
        to.commit(json_text({{"format", "vinic firmware 1"},
                             {"firmware", loaded.name},
                             {"sha256", loaded.sha256},
                             {"memory_bytes", image.end()},
                             {"sections", sections_of(image)},
                             {"functions", functions}}));
        return status::done;
    }
    const bool colours = is_terminal(STDOUT_FILENO);
    std::string text = fmt::format("{}: {} bytes of SRAM, entry {}\n\n", loaded.name, image.end(),
                                   hexadecimal(image.entry()));
    text += table_of_rows(sections_of(image), colours) + "\n" + table_of_rows(functions, colours);
    to.commit(text + disassembly(image, options.function));
    return status::done;
}

status build_firmware(const firmware_options& options) {
    const std::string place = options.image;
    check_writable(place);
    compile_firmware(options.source, place, options.allow_other_clang);
    return status::done;
}

}  // namespace vinic::testbench
