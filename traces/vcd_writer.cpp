// SPDX-License-Identifier: Apache-2.0
#include "traces/vcd_writer.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace vinic::traces {

namespace {

/// VCD identifiers are printable characters from ! to ~.
std::string identifier(std::uint32_t n) {
    constexpr std::uint32_t base = '~' - '!' + 1;
    std::string id;
    do {
        id += static_cast<char>('!' + n % base);
        n /= base;
    } while (n);
    return id;
}

}  // namespace

vcd_writer::vcd_writer(const std::string& path, const wave_view& what) : wave_writer(what), file_(path) {
    for (std::uint32_t i = 0; i < signals().size(); ++i) identifiers_.push_back(identifier(i) + "\n");
    buffer_ = "$version vinic $end\n$timescale 1 ps $end\n";
    declare();
}

void vcd_writer::enter_scope(const std::string& name) {
    buffer_ += fmt::format("$scope module {} $end\n", name);
}

void vcd_writer::leave_scope() { buffer_ += "$upscope $end\n"; }

void vcd_writer::declare_signal(std::uint32_t index, const std::string& leaf) {
    const signal& s = signals()[index];
    const std::string id = identifier(index);
    const char* const type = s.what == form::text ? "string" : s.what == form::event ? "event" : "wire";
    const unsigned width = s.what == form::bits ? s.width : 1;
    if (width == 1)
        buffer_ += fmt::format("$var {} 1 {} {} $end\n", type, id, leaf);
    else
        buffer_ += fmt::format("$var {} {} {} {} [{}:0] $end\n", type, width, id, leaf, width - 1);
}

void vcd_writer::declared() {
    buffer_ += "$enddefinitions $end\n$dumpvars\n";
    for (std::uint32_t i = 0; i < signals().size(); ++i) {
        const signal& s = signals()[i];
        if (s.what == form::bits)
            buffer_.append(s.width == 1 ? "x" : "bx ").append(identifiers_[i]);
        else if (!s.states.empty())
            buffer_.append("s? ").append(identifiers_[i]);
    }
    buffer_ += "$end\n";
}

void vcd_writer::put_time(sim::picoseconds at) {
    constexpr std::size_t enough = 1 << 16;
    if (buffer_.size() > enough) write_out();
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), at).ptr;
    buffer_.append(1, '#').append(digits.data(), end).append(1, '\n');
}

void vcd_writer::put_bits(std::uint32_t index, std::uint64_t bits, std::uint64_t floating) {
    const unsigned width = signals()[index].width;
    if (width > 1) buffer_ += 'b';
    for (unsigned bit = width; bit-- > 0;)
        buffer_ += (floating >> bit & 1) != 0 ? 'z' : static_cast<char>('0' + (bits >> bit & 1));
    if (width > 1) buffer_ += ' ';
    buffer_ += identifiers_[index];
}

/// A string value ends at white space.
void vcd_writer::put_text(std::uint32_t index, std::string_view text) {
    buffer_ += 's';
    const std::size_t from = buffer_.size();
    buffer_ += text;
    std::replace(buffer_.begin() + static_cast<std::ptrdiff_t>(from), buffer_.end(), ' ', '_');
    buffer_.append(1, ' ').append(identifiers_[index]);
}

void vcd_writer::put_event(std::uint32_t index) { buffer_.append(1, '1').append(identifiers_[index]); }

void vcd_writer::write_out() {
    file_.write(buffer_);
    buffer_.clear();
}

void vcd_writer::flushed() {
    write_out();
    file_.flush();
}

}  // namespace vinic::traces
