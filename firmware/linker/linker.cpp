// SPDX-License-Identifier: Apache-2.0
#include "firmware/linker/linker.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <libelf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include "firmware/abi/chips.h"
#include "firmware/abi/myvia_card.h"
#include "firmware/abi/xuni_control.h"
#include "firmware/linker/output.h"

namespace vinic::linker {
namespace {

// Where a name is defined.
struct definition {
    const object* from = nullptr;  // null: by the linker itself
    std::uint16_t section = 0;
    std::uint32_t value = 0;  // in its section, or absolute
    bool weak = false;
};

enum region { code, constants, init_array, data, bss, regions };
constexpr std::array<const char*, regions> region_names{".text", ".rodata", ".init_array", ".data", ".bss"};
// Text and data do not share a line of the core's decoded-code map, so stores to data never meet it.
constexpr std::uint32_t region_alignment = 64;

std::uint32_t align(std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; }

region region_of(const section& s) {
    if ((s.flags & SHF_EXECINSTR) != 0) return code;
    if (s.type == SHT_INIT_ARRAY) return init_array;
    if (s.type == SHT_NOBITS) return bss;
    return (s.flags & SHF_WRITE) != 0 ? data : constants;
}

bool is_debug(const section& s) { return s.name.starts_with(".debug_"); }

std::string demangled(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        ::abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 ? text.get() : name;
}

std::uint32_t word_at(const std::vector<std::uint8_t>& bytes, std::uint32_t at) {
    return static_cast<std::uint32_t>(bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 |
                                      bytes[at + 3]);
}

void put_word(std::vector<std::uint8_t>& bytes, std::uint32_t at, std::uint32_t word) {
    for (unsigned n = 0; n < 4; ++n) bytes[at + n] = static_cast<std::uint8_t>(word >> (24 - 8 * n));
}

class linking {
public:
    linking(const std::vector<std::filesystem::path>& inputs, const link_options& options)
        : options_(options) {
        for (const auto& path : inputs) objects_.push_back(read_object(path));
    }
    output_image run();

private:
    void drop_duplicate_groups();
    void collect_symbols();
    void define(const object& o, const symbol& s);
    void keep_reachable();
    void keep(object& o, std::uint32_t index, std::vector<std::pair<object*, std::uint32_t>>& work);
    void place();
    void place_region(region r, std::uint32_t& address);
    void linker_symbol(const std::string& name, std::uint32_t address) {
        globals_[name] = {.value = address};
    }
    bool resolve(const object& o, const symbol& s, std::uint32_t& value) const;
    void relocate(object& o, section& s, bool debug);
    std::uint32_t relocated(const object& o, const section& s, const relocation& r, std::uint32_t old,
                            std::uint32_t value) const;
    void place_debug();
    output_image image() const;
    void add_symbols(output_image& image) const;

    const link_options options_;
    std::vector<object> objects_;
    std::map<std::string, definition> globals_;
    std::set<const section*> dropped_;
    std::array<std::pair<std::uint32_t, std::uint32_t>, regions> extents_{};
    std::vector<std::string> debug_names_;  // in order of appearance
};

// Of several objects that hold the same inline function or table, the first one's counts.
void linking::drop_duplicate_groups() {
    std::set<std::string> seen;
    for (object& o : objects_)
        for (const group& g : o.groups) {
            if (seen.insert(g.signature).second) continue;
            for (const std::uint32_t index : g.sections)
                if (index < o.sections.size()) dropped_.insert(&o.sections[index]);
        }
}

void linking::define(const object& o, const symbol& s) {
    const bool weak = s.binding == STB_WEAK;
    if (s.section == SHN_COMMON)
        throw image_error(fmt::format("{}: common symbol '{}': compile with -fno-common", o.path, s.name));
    if (s.section != SHN_ABS && dropped_.contains(&o.sections[s.section])) return;
    definition& d = globals_[s.name];
    const bool defined = d.from != nullptr;
    if (defined && !weak && !d.weak)
        throw image_error(
            fmt::format("{}: '{}' is also defined in {}", o.path, demangled(s.name), d.from->path));
    if (!defined || (d.weak && !weak)) d = {&o, s.section, s.value, weak};
}

void linking::collect_symbols() {
    for (const object& o : objects_)
        for (const symbol& s : o.symbols)
            if (s.binding != STB_LOCAL && s.section != SHN_UNDEF) define(o, s);
    for (const char* name : {"__init_array_start", "__init_array_end", "__bss_start", "__bss_end",
                             "__stack_limit", "__stack_top", "__heap_start"})
        linker_symbol(name, 0);
}

void linking::keep(object& o, std::uint32_t index, std::vector<std::pair<object*, std::uint32_t>>& work) {
    section& s = o.sections[index];
    if (s.kept || (s.flags & SHF_ALLOC) == 0 || dropped_.contains(&s)) return;
    s.kept = true;
    work.emplace_back(&o, index);
}

// What nothing reaches from the entry or a static constructor is left out, except what the image says of
// itself.
void linking::keep_reachable() {
    std::vector<std::pair<object*, std::uint32_t>> work;
    const auto keep_definition = [&](const definition& d) {
        if (d.from != nullptr && d.section < SHN_LORESERVE)
            keep(const_cast<object&>(*d.from), d.section, work);
    };
    const auto entry = globals_.find(options_.entry);
    if (entry == globals_.end())
        throw image_error(fmt::format("{}: undefined entry '{}'", objects_.front().path, options_.entry));
    keep_definition(entry->second);
    for (const char* said :
         {abi::supported_chips_symbol, abi::myvia::doorbell_interface_symbol, abi::xuni::interface_symbol})
        if (const auto found = globals_.find(said); found != globals_.end()) keep_definition(found->second);
    for (object& o : objects_)
        for (std::uint32_t n = 1; n < o.sections.size(); ++n)
            if (o.sections[n].type == SHT_INIT_ARRAY) keep(o, n, work);
    while (!work.empty()) {
        const auto [o, index] = work.back();
        work.pop_back();
        for (const relocation& r : o->sections[index].relocations) {
            if (r.symbol >= o->symbols.size())
                throw image_error(fmt::format("{}: relocation names no symbol", o->path));
            const symbol& s = o->symbols[r.symbol];
            if (s.binding == STB_LOCAL && s.section < SHN_LORESERVE)
                keep(*o, s.section, work);
            else if (const auto d = globals_.find(s.name); d != globals_.end())
                keep_definition(d->second);
        }
    }
}

void linking::place_region(region r, std::uint32_t& address) {
    address = align(address, region_alignment);
    extents_[r].first = address;
    const definition& entry = globals_[options_.entry];
    const auto put = [&](object& o, section& s) {
        address = align(address, s.alignment);
        s.address = address;
        address += s.size;
        if (address > options_.memory_bytes)
            throw image_error(fmt::format("{}: image too large: section {} ends at {} of {} bytes", o.path,
                                          s.name, address, options_.memory_bytes));
    };
    std::vector<std::pair<object*, section*>> order;
    for (const bool first : {true, false})
        for (object& o : objects_)
            for (section& s : o.sections)
                if (s.kept && region_of(s) == r &&
                    first == (entry.from == &o && &s == &o.sections[entry.section]))
                    order.emplace_back(&o, &s);
    // What is aligned to a large power of two stands behind the rest, so that the gap before it is small.
    if (r == bss) std::ranges::stable_sort(order, {}, [](const auto& one) { return one.second->alignment; });
    for (const auto& [o, s] : order) put(*o, *s);
    extents_[r].second = address;
}

void linking::place() {
    std::uint32_t address = 0;
    for (unsigned r = 0; r < regions; ++r) place_region(static_cast<region>(r), address);
    linker_symbol("__init_array_start", extents_[init_array].first);
    linker_symbol("__init_array_end", extents_[init_array].second);
    linker_symbol("__bss_start", extents_[bss].first);
    linker_symbol("__bss_end", align(extents_[bss].second, 4));
    const std::uint32_t limit = align(extents_[bss].second, region_alignment);
    const std::uint32_t top = limit + align(options_.stack_bytes, region_alignment);
    if (top > options_.memory_bytes)
        throw image_error(fmt::format("{}: image too large: with its stack it ends at {} of {} bytes",
                                      objects_.front().path, top, options_.memory_bytes));
    linker_symbol("__stack_limit", limit);
    linker_symbol("__stack_top", top);
    linker_symbol("__heap_start", top);
}

// The address of a symbol; false when it stands in something that was left out.
bool linking::resolve(const object& o, const symbol& s, std::uint32_t& value) const {
    const object* from = &o;
    std::uint16_t index = s.section;
    value = s.value;
    if (s.binding != STB_LOCAL) {
        const auto d = globals_.find(s.name);
        if (d == globals_.end()) {
            if (s.binding == STB_WEAK) return value = 0, true;
            throw image_error(fmt::format("{}: undefined symbol '{}'", o.path, demangled(s.name)));
        }
        from = d->second.from;
        index = d->second.section;
        value = d->second.value;
        if (from == nullptr) return true;
    }
    if (index == SHN_ABS) return true;
    const section& target = from->sections[index];
    if (!target.kept) return false;
    value += target.address;
    return true;
}

std::uint32_t linking::relocated(const object& o, const section& s, const relocation& r, std::uint32_t old,
                                 std::uint32_t value) const {
    const auto fits = [&](std::uint32_t limit, std::uint32_t alignment) {
        if (value < limit && value % alignment == 0) return;
        throw image_error(fmt::format("{}: relocation {} of {}+0x{:x} against '{}' overflows: 0x{:x}", o.path,
                                      r.type, s.name, r.offset, demangled(o.symbols[r.symbol].name), value));
    };
    switch (r.type) {
        case r_lanai_none:
            return old;
        case r_lanai_21:
        case r_lanai_21_f:
            fits(1u << 21, 1);
            if (r.type == r_lanai_21_f) value &= ~3u;
            return (old & ~0x007CFFFFu) | (value >> 16 & 0x1F) << 18 | (value & 0xFFFF);
        case r_lanai_25:
            fits(1u << 25, 4);
            return (old & ~0x01FFFFFCu) | value;
        case r_lanai_32:
            return value;
        case r_lanai_hi16:
            return (old & 0xFFFF0000u) | value >> 16;
        case r_lanai_lo16:
            return (old & 0xFFFF0000u) | (value & 0xFFFF);
        default:
            throw image_error(fmt::format("{}: unknown relocation {} in {}", o.path, r.type, s.name));
    }
}

void linking::relocate(object& o, section& s, bool debug) {
    for (const relocation& r : s.relocations) {
        if (r.offset + 4 > s.bytes.size())
            throw image_error(fmt::format("{}: relocation beyond {}", o.path, s.name));
        if (r.symbol >= o.symbols.size())
            throw image_error(fmt::format("{}: relocation names no symbol", o.path));
        std::uint32_t value = 0;
        const symbol& target = o.symbols[r.symbol];
        bool there = true;
        if (debug && target.binding != STB_LOCAL && !globals_.contains(target.name))
            there = false;
        else
            there = resolve(o, target, value);
        if (!there && !debug)
            throw image_error(fmt::format("{}: undefined symbol '{}'", o.path, demangled(target.name)));
        // Debug information of what was left out gets an address that is nobody's.
        if (!there)
            put_word(s.bytes, r.offset, ~0u);
        else
            put_word(
                s.bytes, r.offset,
                relocated(o, s, r, word_at(s.bytes, r.offset), value + static_cast<std::uint32_t>(r.addend)));
    }
}

// Debug sections of the same name follow each other; their addresses are offsets in the joint section.
void linking::place_debug() {
    std::map<std::string, std::uint32_t> sizes;
    for (object& o : objects_)
        for (section& s : o.sections) {
            if (!is_debug(s) || dropped_.contains(&s)) continue;
            if (!sizes.contains(s.name)) debug_names_.push_back(s.name);
            std::uint32_t& size = sizes[s.name];
            size = align(size, s.alignment);
            s.address = size;
            s.kept = true;
            size += s.size;
        }
}

void linking::add_symbols(output_image& image) const {
    for (const object& o : objects_)
        for (const symbol& s : o.symbols) {
            const bool named =
                !s.name.empty() && !s.name.starts_with(".L") && s.type != STT_SECTION && s.type != STT_FILE;
            if (!named || s.section == SHN_UNDEF || s.section >= SHN_LORESERVE) continue;
            const section& in = o.sections[s.section];
            if (!in.kept || (in.flags & SHF_ALLOC) == 0) continue;
            if (s.binding != STB_LOCAL && globals_.at(s.name).from != &o) continue;
            image.symbols.push_back(
                {s.name, in.address + s.value, s.size, s.binding, s.type, region_names[region_of(in)]});
        }
    for (const auto& [name, d] : globals_)
        if (d.from == nullptr) image.symbols.push_back({name, d.value, 0, STB_GLOBAL, STT_NOTYPE, ""});
}

output_image linking::image() const {
    output_image image;
    for (unsigned r = 0; r < regions; ++r) {
        output_section out{.name = region_names[r],
                           .type = r == bss          ? std::uint32_t{SHT_NOBITS}
                                   : r == init_array ? std::uint32_t{SHT_INIT_ARRAY}
                                                     : std::uint32_t{SHT_PROGBITS},
                           .flags = SHF_ALLOC | (r == code ? std::uint32_t{SHF_EXECINSTR} : 0) |
                                    (r >= data ? std::uint32_t{SHF_WRITE} : 0),
                           .address = extents_[r].first,
                           .size = extents_[r].second - extents_[r].first,
                           .bytes = {}};
        if (r != bss) out.bytes.resize(out.size);
        for (const object& o : objects_)
            for (const section& s : o.sections)
                if (s.kept && (s.flags & SHF_ALLOC) != 0 && region_of(s) == r && r != bss)
                    std::copy(s.bytes.begin(), s.bytes.end(), out.bytes.begin() + (s.address - out.address));
        if (out.size != 0) image.sections.push_back(std::move(out));
    }
    for (const std::string& name : debug_names_) {
        output_section out{
            .name = name, .type = SHT_PROGBITS, .flags = 0, .address = 0, .size = 0, .bytes = {}};
        for (const object& o : objects_)
            for (const section& s : o.sections)
                if (s.kept && s.name == name) {
                    out.bytes.resize(s.address);
                    out.bytes.insert(out.bytes.end(), s.bytes.begin(), s.bytes.end());
                }
        out.size = static_cast<std::uint32_t>(out.bytes.size());
        image.sections.push_back(std::move(out));
    }
    add_symbols(image);
    return image;
}

output_image linking::run() {
    drop_duplicate_groups();
    collect_symbols();
    keep_reachable();
    place();
    place_debug();
    for (object& o : objects_)
        for (section& s : o.sections)
            if (s.kept) relocate(o, s, is_debug(s));
    output_image result = image();
    const definition& entry = globals_.at(options_.entry);
    result.entry = entry.from->sections[entry.section].address + entry.value;
    return result;
}

}  // namespace

void link(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output,
          const link_options& options) {
    if (inputs.empty()) throw image_error("nothing to link");
    write_image(linking(inputs, options).run(), output);
}

}  // namespace vinic::linker
