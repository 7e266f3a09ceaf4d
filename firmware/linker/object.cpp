// SPDX-License-Identifier: Apache-2.0
#include "firmware/linker/object.h"

#include "firmware/linker/elf_file.h"

namespace vinic::linker {
namespace {

void read_section(const elf_file& file, Elf_Scn* scn, const Elf32_Shdr& header, section& s) {
    s.type = header.sh_type;
    s.flags = header.sh_flags;
    s.alignment = header.sh_addralign == 0 ? 1 : header.sh_addralign;
    s.size = header.sh_size;
    if (header.sh_type == SHT_NOBITS || header.sh_size == 0) return;
    // Raw: libelf would turn the bytes of .init_array and the like into the host's order.
    const Elf_Data* data = elf_rawdata(scn, nullptr);
    if (data == nullptr || data->d_size != header.sh_size)
        file.fail(fmt::format("section {} is cut off", s.name));
    const auto* bytes = static_cast<const std::uint8_t*>(data->d_buf);
    s.bytes.assign(bytes, bytes + data->d_size);
}

void read_symbols(const elf_file& file, Elf_Scn* scn, const Elf32_Shdr& header, object& o) {
    const Elf_Data* data = elf_getdata(scn, nullptr);
    if (data == nullptr) file.fail("symbol table is cut off");
    const auto* table = static_cast<const Elf32_Sym*>(data->d_buf);
    for (std::size_t n = 0; n < data->d_size / sizeof(Elf32_Sym); ++n) {
        const Elf32_Sym& e = table[n];
        o.symbols.push_back({.name = file.string(header.sh_link, e.st_name),
                             .value = e.st_value,
                             .size = e.st_size,
                             .binding = static_cast<unsigned char>(ELF32_ST_BIND(e.st_info)),
                             .type = static_cast<unsigned char>(ELF32_ST_TYPE(e.st_info)),
                             .section = e.st_shndx});
    }
}

void read_relocations(const elf_file& file, Elf_Scn* scn, section& target) {
    const Elf_Data* data = elf_getdata(scn, nullptr);
    if (data == nullptr) file.fail("relocations are cut off");
    const auto* table = static_cast<const Elf32_Rela*>(data->d_buf);
    for (std::size_t n = 0; n < data->d_size / sizeof(Elf32_Rela); ++n) {
        const Elf32_Rela& e = table[n];
        target.relocations.push_back({e.r_offset, ELF32_R_TYPE(e.r_info), ELF32_R_SYM(e.r_info), e.r_addend});
    }
}

void read_group(const elf_file& file, Elf_Scn* scn, const Elf32_Shdr& header, object& o) {
    const Elf_Data* data = elf_getdata(scn, nullptr);
    if (data == nullptr || data->d_size < 4 || header.sh_info >= o.symbols.size())
        file.fail("section group is damaged");
    const auto* words = static_cast<const Elf32_Word*>(data->d_buf);
    if ((words[0] & GRP_COMDAT) == 0) return;
    o.groups.push_back({o.symbols[header.sh_info].name, {words + 1, words + data->d_size / 4}});
}

}  // namespace

object read_object(const std::filesystem::path& path) {
    const elf_file file(path, ET_REL, "object file");
    object o{.path = path.string(), .sections = {}, .symbols = {}, .groups = {}};
    std::vector<std::pair<Elf_Scn*, Elf32_Shdr>> headers(1);
    const std::size_t names = file.section_names();
    o.sections.resize(1);
    for (Elf_Scn* scn = elf_nextscn(file.get(), nullptr); scn != nullptr;
         scn = elf_nextscn(file.get(), scn)) {
        const Elf32_Shdr* header = elf32_getshdr(scn);
        if (header == nullptr) file.fail("section header is damaged");
        headers.emplace_back(scn, *header);
        section& s = o.sections.emplace_back();
        s.name = file.string(names, header->sh_name);
        if (header->sh_type != SHT_SYMTAB && header->sh_type != SHT_RELA && header->sh_type != SHT_GROUP)
            read_section(file, scn, *header, s);
        else
            s.type = header->sh_type;
        if (header->sh_type == SHT_SYMTAB) read_symbols(file, scn, *header, o);
    }
    for (std::size_t n = 1; n < headers.size(); ++n) {
        const auto& [scn, header] = headers[n];
        if (header.sh_type == SHT_GROUP) read_group(file, scn, header, o);
        if (header.sh_type == SHT_REL) file.fail("has relocations without addends, LANai has none");
        if (header.sh_type == SHT_RELA && header.sh_info < o.sections.size())
            read_relocations(file, scn, o.sections[header.sh_info]);
    }
    for (const symbol& s : o.symbols)
        if (s.section < SHN_LORESERVE && s.section >= o.sections.size()) file.fail("symbol table is damaged");
    return o;
}

}  // namespace vinic::linker
