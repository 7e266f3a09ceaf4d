// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vinic::host {

/// A line of a processor's write-combining buffer: which bytes were stored, and what.
class combining_buffer {
public:
    static constexpr unsigned longest_line = 64;
    static constexpr unsigned piece_bytes = 8;

    struct piece {
        std::uint64_t address;
        std::span<const std::byte> bytes;
    };

    combining_buffer(std::uint64_t line, unsigned line_bytes) : line_(line), line_bytes_(line_bytes) {}

    std::uint64_t line() const { return line_; }
    /// The bytes must lie in the line.
    void store(std::uint64_t at, std::span<const std::byte> from);
    bool full() const;
    /// What goes to the bus, ascending: the whole line when it is full, else each run of stored bytes within
    /// an aligned 8-byte word (facts/lanai_pcix.md C3).
    std::vector<piece> pieces() const;

private:
    std::uint64_t line_;
    unsigned line_bytes_;
    std::uint64_t stored_ = 0;  ///< a bit per byte
    std::array<std::byte, longest_line> bytes_{};
};

}  // namespace vinic::host
