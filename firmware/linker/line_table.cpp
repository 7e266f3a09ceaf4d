// SPDX-License-Identifier: Apache-2.0
#include "firmware/linker/line_table.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace vinic::linker {
namespace {

// Constants of the DWARF 5 standard, section 7.
enum : std::uint64_t {
    form_data16 = 0x1e,
    form_data1 = 0x0b,
    form_data2 = 0x05,
    form_data4 = 0x06,
    form_data8 = 0x07,
    form_string = 0x08,
    form_block = 0x09,
    form_strp = 0x0e,
    form_udata = 0x0f,
    form_line_strp = 0x1f
};
enum : std::uint64_t { content_path = 1, content_directory = 2 };
enum : std::uint8_t {
    standard_copy = 1,
    standard_advance_pc = 2,
    standard_advance_line = 3,
    standard_set_file = 4,
    standard_const_add_pc = 8,
    standard_fixed_advance_pc = 9
};
enum : std::uint8_t { extended_end_sequence = 1, extended_set_address = 2 };

class reader {
public:
    reader(const std::vector<std::uint8_t>& bytes, std::size_t from, std::size_t to)
        : bytes_(bytes), at_(from), end_(to) {
        if (end_ > bytes_.size() || at_ > end_) throw std::out_of_range("line table is cut off");
    }
    bool more() const { return at_ < end_; }
    std::size_t position() const { return at_; }
    std::uint64_t fixed(unsigned bytes) {
        std::uint64_t value = 0;
        while (bytes-- > 0) value = value << 8 | byte();
        return value;
    }
    std::uint8_t byte() {
        if (at_ >= end_) throw std::out_of_range("line table is cut off");
        return bytes_[at_++];
    }
    std::uint64_t uleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint8_t b = byte();
            if (shift < 64) value |= std::uint64_t{b & 0x7Fu} << shift;
            if ((b & 0x80) == 0) return value;
        }
    }
    std::int64_t sleb() {
        std::uint64_t value = 0;
        unsigned shift = 0;
        for (;;) {
            const std::uint8_t b = byte();
            if (shift < 64) value |= std::uint64_t{b & 0x7Fu} << shift;
            shift += 7;
            if ((b & 0x80) != 0) continue;
            if (shift < 64 && (b & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
            return static_cast<std::int64_t>(value);
        }
    }
    std::string string() {
        std::string text;
        while (const std::uint8_t c = byte()) text += static_cast<char>(c);
        return text;
    }
    void skip(std::size_t bytes) {
        if (bytes > end_ - at_) throw std::out_of_range("line table is cut off");
        at_ += bytes;
    }

private:
    const std::vector<std::uint8_t>& bytes_;
    std::size_t at_, end_;
};

struct strings {
    const std::vector<std::uint8_t>& line_str;
    const std::vector<std::uint8_t>& str;
};

struct entry {
    std::string path;
    std::uint64_t directory = 0;
};

std::string string_at(const std::vector<std::uint8_t>& table, std::uint64_t offset) {
    return reader(table, offset, table.size()).string();
}

// A list of directories or files: formats, then entries (section 6.2.4.1).
std::vector<entry> read_entries(reader& r, const strings& s) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> formats(r.byte());
    for (auto& [content, form] : formats) {
        content = r.uleb();
        form = r.uleb();
    }
    std::vector<entry> entries(std::min<std::uint64_t>(r.uleb(), 1u << 20));
    for (entry& e : entries)
        for (const auto& [content, form] : formats) {
            std::string text;
            std::uint64_t number = 0;
            switch (form) {
                case form_string:
                    text = r.string();
                    break;
                case form_line_strp:
                    text = string_at(s.line_str, r.fixed(4));
                    break;
                case form_strp:
                    text = string_at(s.str, r.fixed(4));
                    break;
                case form_udata:
                    number = r.uleb();
                    break;
                case form_data1:
                    number = r.fixed(1);
                    break;
                case form_data2:
                    number = r.fixed(2);
                    break;
                case form_data4:
                    number = r.fixed(4);
                    break;
                case form_data8:
                    number = r.fixed(8);
                    break;
                case form_data16:
                    r.skip(16);
                    break;
                case form_block:
                    r.skip(r.uleb());
                    break;
                default:
                    throw std::out_of_range("line table has an unknown form");
            }
            if (content == content_path)
                e.path = text;
            else if (content == content_directory)
                e.directory = number;
        }
    return entries;
}

// The program of one unit (section 6.2.5).
class unit {
public:
    unit(line_table& table, const strings& s) : table_(table), strings_(s) {}
    void read(reader& r);

private:
    void run(reader& r);
    void special(std::uint8_t opcode);
    void extended(reader& r);
    void emit(bool end);

    line_table& table_;
    const strings& strings_;
    std::uint8_t minimum_instruction_ = 1, line_range_ = 1, opcode_base_ = 1;
    std::int8_t line_base_ = 0;
    std::vector<std::uint8_t> operands_;
    std::vector<std::uint32_t> files_;  // the unit's files in the table
    std::uint64_t address_ = 0, file_ = 1;
    std::int64_t line_ = 1;
    std::vector<line_row> sequence_;
};

void unit::read(reader& r) {
    r.skip(2);  // sizes of address and segment selector
    const std::uint64_t header = r.fixed(4);
    const std::size_t program = r.position() + header;
    minimum_instruction_ = r.byte();
    r.skip(2);  // operations per instruction, default of is_stmt
    line_base_ = static_cast<std::int8_t>(r.byte());
    line_range_ = std::max<std::uint8_t>(r.byte(), 1);
    opcode_base_ = r.byte();
    for (unsigned n = 1; n < opcode_base_; ++n) operands_.push_back(r.byte());
    const std::vector<entry> directories = read_entries(r, strings_);
    for (const entry& f : read_entries(r, strings_)) {
        std::string path = f.path;
        if (!path.starts_with('/') && f.directory < directories.size()) {
            const std::string& directory = directories[f.directory].path;
            path = directory + "/" + path;
            if (!directory.starts_with('/') && !directories.empty()) path = directories[0].path + "/" + path;
        }
        path = std::filesystem::path(path).lexically_normal().string();
        const auto known = std::find(table_.files.begin(), table_.files.end(), path);
        files_.push_back(static_cast<std::uint32_t>(known - table_.files.begin()));
        if (known == table_.files.end()) table_.files.push_back(path);
    }
    r.skip(program - r.position());
    run(r);
}

void unit::emit(bool end) {
    const std::uint32_t file = file_ < files_.size() ? files_[file_] : 0;
    sequence_.push_back(
        {static_cast<std::uint32_t>(address_), file, end ? 0 : static_cast<std::uint32_t>(line_)});
    if (!end) return;
    // Sequences of code that was left out start at the linker's nobody's address.
    if (sequence_.front().address != ~0u)
        table_.rows.insert(table_.rows.end(), sequence_.begin(), sequence_.end());
    sequence_.clear();
    address_ = 0;
    file_ = 1;
    line_ = 1;
}

void unit::special(std::uint8_t opcode) {
    const unsigned adjusted = opcode - opcode_base_;
    address_ += adjusted / line_range_ * minimum_instruction_;
    line_ += line_base_ + static_cast<int>(adjusted % line_range_);
}

void unit::extended(reader& r) {
    const std::uint64_t length = r.uleb();
    if (length == 0) return;
    const std::uint8_t opcode = r.byte();
    if (opcode == extended_end_sequence) {
        emit(true);
        r.skip(length - 1);
    } else if (opcode == extended_set_address && length == 5) {
        address_ = r.fixed(4);
    } else {
        r.skip(length - 1);
    }
}

void unit::run(reader& r) {
    while (r.more()) {
        const std::uint8_t opcode = r.byte();
        if (opcode >= opcode_base_) {
            special(opcode);
            emit(false);
            continue;
        }
        switch (opcode) {
            case 0:
                extended(r);
                break;
            case standard_copy:
                emit(false);
                break;
            case standard_advance_pc:
                address_ += r.uleb() * minimum_instruction_;
                break;
            case standard_advance_line:
                line_ += r.sleb();
                break;
            case standard_set_file:
                file_ = r.uleb();
                break;
            case standard_const_add_pc:
                address_ += (255u - opcode_base_) / line_range_ * minimum_instruction_;
                break;
            case standard_fixed_advance_pc:
                address_ += r.fixed(2);
                break;
            default:
                for (unsigned n = 0; n < operands_[opcode - 1u]; ++n) r.uleb();
        }
    }
}

}  // namespace

line_table read_line_table(const std::vector<std::uint8_t>& debug_line,
                           const std::vector<std::uint8_t>& debug_line_str,
                           const std::vector<std::uint8_t>& debug_str) {
    line_table table;
    const strings s{debug_line_str, debug_str};
    for (std::size_t at = 0; at + 6 <= debug_line.size();) {
        reader length(debug_line, at, debug_line.size());
        const std::size_t start = at + 4, end = start + length.fixed(4);
        reader r(debug_line, start, end);
        if (r.fixed(2) == 5) unit(table, s).read(r);
        at = end;
    }
    // Where one sequence ends and another begins at the same address, the end comes first.
    std::stable_sort(table.rows.begin(), table.rows.end(), [](const line_row& a, const line_row& b) {
        return a.address != b.address ? a.address < b.address : a.line == 0 && b.line != 0;
    });
    return table;
}

}  // namespace vinic::linker
