// SPDX-License-Identifier: Apache-2.0
#include "firmware/linker/output.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <fstream>
#include <system_error>

#include "firmware/linker/object.h"

namespace vinic::linker {
namespace {

// Bytes in LANai's order.
class big_endian {
public:
    template <std::unsigned_integral T>
    void put(T value) {
        for (unsigned n = sizeof(T); n-- > 0;) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * n));
    }
    void word(std::uint32_t value) { put(value); }
    void half(std::uint32_t value) { put(static_cast<std::uint16_t>(value)); }
    void align(std::size_t to) { bytes.resize((bytes.size() + to - 1) / to * to); }
    void append(const std::vector<std::uint8_t>& more) {
        bytes.insert(bytes.end(), more.begin(), more.end());
    }

    std::vector<std::uint8_t> bytes;
};

class string_table {
public:
    std::uint32_t add(const std::string& text) {
        const auto at = static_cast<std::uint32_t>(bytes.size());
        bytes.insert(bytes.end(), text.begin(), text.end());
        bytes.push_back(0);
        return at;
    }
    std::vector<std::uint8_t> bytes{0};
};

struct header {
    std::uint32_t name, type, flags, address, offset, size, link, info, alignment, entry_size;
};

struct segment {
    std::uint32_t offset, address, file_size, memory_size, flags;
};

std::vector<std::uint8_t> symbol_table(const output_image& image, string_table& strings,
                                       std::uint32_t& locals) {
    std::vector<output_symbol> symbols = image.symbols;
    std::stable_partition(symbols.begin(), symbols.end(),
                          [](const output_symbol& s) { return s.binding == STB_LOCAL; });
    big_endian out;
    out.bytes.resize(sizeof(Elf32_Sym));
    locals = 1;
    for (const output_symbol& s : symbols) {
        if (s.binding == STB_LOCAL) ++locals;
        const auto in = std::find_if(image.sections.begin(), image.sections.end(),
                                     [&](const output_section& o) { return o.name == s.section; });
        out.word(strings.add(s.name));
        out.word(s.value);
        out.word(s.size);
        out.put(static_cast<std::uint8_t>(ELF32_ST_INFO(s.binding, s.type)));
        out.put(std::uint8_t{0});
        out.half(in == image.sections.end() ? std::uint32_t{SHN_ABS}
                                            : static_cast<std::uint32_t>(in - image.sections.begin()) + 1);
    }
    return out.bytes;
}

std::vector<std::uint8_t> elf_bytes(const output_image& image) {
    string_table names, strings;
    std::vector<header> headers(1);
    std::vector<segment> segments;
    std::size_t loads = 0;
    for (const output_section& s : image.sections) loads += (s.flags & SHF_ALLOC) != 0 ? 1 : 0;
    big_endian out;
    out.bytes.resize(sizeof(Elf32_Ehdr) + loads * sizeof(Elf32_Phdr));
    const auto add = [&](const std::string& name, header h, const std::vector<std::uint8_t>& bytes) {
        out.align(std::max<std::size_t>(h.alignment, 1));
        h.name = names.add(name);
        h.offset = static_cast<std::uint32_t>(out.bytes.size());
        out.append(bytes);
        headers.push_back(h);
    };
    for (const output_section& s : image.sections) {
        const bool loaded = (s.flags & SHF_ALLOC) != 0;
        add(s.name,
            {.name = 0,
             .type = s.type,
             .flags = s.flags,
             .address = s.address,
             .offset = 0,
             .size = s.size,
             .link = 0,
             .info = 0,
             .alignment = loaded ? 64u : 1u,
             .entry_size = 0},
            s.bytes);
        if (!loaded) continue;
        const std::uint32_t flags = PF_R | ((s.flags & SHF_WRITE) != 0 ? std::uint32_t{PF_W} : 0) |
                                    ((s.flags & SHF_EXECINSTR) != 0 ? std::uint32_t{PF_X} : 0);
        segments.push_back(
            {headers.back().offset, s.address, static_cast<std::uint32_t>(s.bytes.size()), s.size, flags});
    }
    std::uint32_t locals = 0;
    const std::vector<std::uint8_t> symbols = symbol_table(image, strings, locals);
    const auto strtab = static_cast<std::uint32_t>(headers.size()) + 1;
    add(".symtab",
        {.name = 0,
         .type = SHT_SYMTAB,
         .flags = 0,
         .address = 0,
         .offset = 0,
         .size = static_cast<std::uint32_t>(symbols.size()),
         .link = strtab,
         .info = locals,
         .alignment = 4,
         .entry_size = sizeof(Elf32_Sym)},
        symbols);
    add(".strtab",
        {.name = 0,
         .type = SHT_STRTAB,
         .flags = 0,
         .address = 0,
         .offset = 0,
         .size = static_cast<std::uint32_t>(strings.bytes.size()),
         .link = 0,
         .info = 0,
         .alignment = 1,
         .entry_size = 0},
        strings.bytes);
    names.add(".shstrtab");
    const auto names_size = static_cast<std::uint32_t>(names.bytes.size());
    const std::uint32_t name_of_names = names_size - static_cast<std::uint32_t>(sizeof ".shstrtab");
    headers.push_back({name_of_names, SHT_STRTAB, 0, 0, static_cast<std::uint32_t>(out.bytes.size()),
                       names_size, 0, 0, 1, 0});
    out.append(names.bytes);
    out.align(4);
    const auto section_headers = static_cast<std::uint32_t>(out.bytes.size());
    for (const header& h : headers)
        for (const std::uint32_t field : {h.name, h.type, h.flags, h.address, h.offset, h.size, h.link,
                                          h.info, h.alignment, h.entry_size})
            out.word(field);

    big_endian start;
    start.bytes = {0x7F, 'E', 'L', 'F', ELFCLASS32, ELFDATA2MSB, EV_CURRENT, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    start.half(ET_EXEC);
    start.half(em_lanai);
    for (const std::uint32_t field :
         {std::uint32_t{EV_CURRENT}, image.entry, std::uint32_t{sizeof(Elf32_Ehdr)}, section_headers, 0u})
        start.word(field);
    for (const std::size_t field : {sizeof(Elf32_Ehdr), sizeof(Elf32_Phdr), segments.size(),
                                    sizeof(Elf32_Shdr), headers.size(), headers.size() - 1})
        start.half(static_cast<std::uint32_t>(field));
    for (const segment& s : segments)
        for (const std::uint32_t field : {std::uint32_t{PT_LOAD}, s.offset, s.address, s.address, s.file_size,
                                          s.memory_size, s.flags, 64u})
            start.word(field);
    std::copy(start.bytes.begin(), start.bytes.end(), out.bytes.begin());
    return out.bytes;
}

}  // namespace

void write_image(const output_image& image, const std::filesystem::path& path) {
    const std::vector<std::uint8_t> bytes = elf_bytes(image);
    const std::filesystem::path part = path.string() + ".part";
    std::ofstream file(part, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) throw image_error(fmt::format("{}: cannot be written", part.string()));
    std::error_code error;
    std::filesystem::rename(part, path, error);
    if (error) throw image_error(fmt::format("{}: cannot be written: {}", path.string(), error.message()));
}

}  // namespace vinic::linker
