// SPDX-License-Identifier: Apache-2.0
#include "firmware/linker/image.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>

#include "firmware/linker/elf_file.h"
#include "firmware/linker/line_table.h"

namespace vinic::linker {
namespace {

std::vector<std::uint8_t> raw_bytes(const elf_file& file, Elf_Scn* scn, const std::string& name) {
    const Elf_Data* data = elf_rawdata(scn, nullptr);
    if (data == nullptr) file.fail("section " + name + " is cut off");
    const auto* bytes = static_cast<const std::uint8_t*>(data->d_buf);
    return bytes == nullptr ? std::vector<std::uint8_t>{}
                            : std::vector<std::uint8_t>(bytes, bytes + data->d_size);
}

std::vector<image_segment> read_segments(const elf_file& file) {
    std::vector<image_segment> segments;
    std::size_t count = 0, size = 0;
    const auto* whole = reinterpret_cast<const std::uint8_t*>(elf_rawfile(file.get(), &size));
    const Elf32_Phdr* headers = elf32_getphdr(file.get());
    if (elf_getphdrnum(file.get(), &count) != 0 || whole == nullptr || (headers == nullptr && count != 0))
        file.fail("program headers are damaged");
    for (std::size_t n = 0; n < count; ++n) {
        const Elf32_Phdr& h = headers[n];
        if (h.p_type != PT_LOAD) continue;
        if (h.p_offset > size || h.p_filesz > size - h.p_offset || h.p_filesz > h.p_memsz)
            file.fail("is cut off");
        if (h.p_memsz > std::numeric_limits<std::uint32_t>::max() - h.p_vaddr)
            file.fail("has a segment beyond the 32-bit address space");
        segments.push_back({.address = h.p_vaddr,
                            .memory_bytes = h.p_memsz,
                            .executable = (h.p_flags & PF_X) != 0,
                            .writable = (h.p_flags & PF_W) != 0,
                            .bytes = {whole + h.p_offset, whole + h.p_offset + h.p_filesz}});
    }
    if (segments.empty()) file.fail("has nothing to load");
    return segments;
}

}  // namespace

std::string demangle(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 ? text.get() : name;
}

image::image(const std::filesystem::path& path) : path_(path) {
    const elf_file file(path, ET_EXEC, "linked image");
    entry_ = elf32_getehdr(file.get())->e_entry;
    segments_ = read_segments(file);
    const bool entry_is_code = std::ranges::any_of(segments_, [&](const image_segment& s) {
        return s.executable && entry_ >= s.address && entry_ - s.address < s.bytes.size();
    });
    if (!entry_is_code || entry_ % 4 != 0)
        file.fail(fmt::format("its entry 0x{:x} is no instruction of it", entry_));
    const std::size_t names = file.section_names();
    std::vector<std::uint8_t> line, line_str, str;
    for (Elf_Scn* scn = elf_nextscn(file.get(), nullptr); scn != nullptr;
         scn = elf_nextscn(file.get(), scn)) {
        const Elf32_Shdr* h = elf32_getshdr(scn);
        if (h == nullptr) file.fail("section header is damaged");
        const std::string name = file.string(names, h->sh_name);
        sections_.push_back({name, h->sh_addr, h->sh_size, (h->sh_flags & SHF_ALLOC) != 0});
        if (name == ".debug_line")
            line = raw_bytes(file, scn, name);
        else if (name == ".debug_line_str")
            line_str = raw_bytes(file, scn, name);
        else if (name == ".debug_str")
            str = raw_bytes(file, scn, name);
        if (h->sh_type != SHT_SYMTAB) continue;
        const Elf_Data* data = elf_getdata(scn, nullptr);
        if (data == nullptr) file.fail("symbol table is cut off");
        const auto* table = static_cast<const Elf32_Sym*>(data->d_buf);
        for (std::size_t n = 1; n < data->d_size / sizeof(Elf32_Sym); ++n)
            symbols_.push_back({file.string(h->sh_link, table[n].st_name), table[n].st_value,
                                table[n].st_size, ELF32_ST_TYPE(table[n].st_info) == STT_FUNC,
                                ELF32_ST_TYPE(table[n].st_info) == STT_OBJECT});
    }
    std::stable_sort(symbols_.begin(), symbols_.end(),
                     [](const auto& a, const auto& b) { return a.address < b.address; });
    for (const image_symbol& s : symbols_)
        if (s.function) functions_.push_back(&s);
    try {
        line_table table = read_line_table(line, line_str, str);
        files_ = std::move(table.files);
        for (const line_row& r : table.rows) rows_.push_back({r.address, r.file, r.line});
    } catch (const std::out_of_range& e) {
        file.fail(e.what());
    }
}

std::uint32_t image::end() const {
    std::uint32_t end = address_of("__stack_top").value_or(0);
    for (const image_segment& s : segments_) end = std::max(end, s.address + s.memory_bytes);
    return end;
}

std::optional<std::uint32_t> image::address_of(const std::string& symbol) const {
    for (const image_symbol& s : symbols_)
        if (s.name == symbol) return s.address;
    return std::nullopt;
}

std::optional<std::uint32_t> image::word_at(std::uint32_t address) const {
    for (const image_segment& one : segments_) {
        const std::uint32_t offset = address - one.address;
        if (address < one.address || one.bytes.size() < std::uint64_t{offset} + 4) continue;
        const std::uint8_t* at = &one.bytes[offset];
        return std::uint32_t{at[0]} << 24 | at[1] << 16 | at[2] << 8 | at[3];
    }
    return std::nullopt;
}

const image_symbol* image::function_at(std::uint32_t address) const {
    const auto after =
        std::upper_bound(functions_.begin(), functions_.end(), address,
                         [](std::uint32_t a, const image_symbol* s) { return a < s->address; });
    if (after == functions_.begin()) return nullptr;
    const image_symbol* candidate = *(after - 1);
    // A function of assembler without .size goes on to the next one.
    return candidate->size == 0 || address - candidate->address < candidate->size ? candidate : nullptr;
}

std::optional<source_line> image::line_at(std::uint32_t address) const {
    const auto after = std::upper_bound(rows_.begin(), rows_.end(), address,
                                        [](std::uint32_t a, const row& r) { return a < r.address; });
    if (after == rows_.begin()) return std::nullopt;
    const row& r = *(after - 1);
    if (r.line == 0) return std::nullopt;
    return source_line{files_[r.file], r.line};
}

std::string image::describe(std::uint32_t address) const {
    const image_symbol* f = function_at(address);
    const auto line = line_at(address);
    std::string text = f == nullptr ? fmt::format("0x{:x}", address) : demangle(f->name);
    if (line) text += fmt::format(" {}:{}", line->file, line->line);
    return text;
}

}  // namespace vinic::linker
