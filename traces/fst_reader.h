// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace vinic::traces {

/// What an FST begins with: the type of its first block, and the length of that block.
inline constexpr std::string_view fst_magic{"\0\0\0\0\0\0\0\1\x49", 9};

/// A value of something that was never given one.
inline bool is_unknown(std::string_view value) {
    return value == "?" || value.find_first_not_of('x') == std::string_view::npos;
}

/// Reads an FST through GTKWave's reader, which the reading programs use too. `declared` is called for each
/// signal with its hierarchical name and range of bits; then `changed` for each value, in order of time, with
/// the number of the signal as it was declared, from 0: one that was. Throws sim::input_error when the file
/// cannot be opened or is damaged, or when vinic was built without Verilator.
void read_fst(
    const std::string& path, const std::function<void(const std::string& name)>& declared,
    const std::function<void(std::uint64_t at, std::size_t signal, std::string_view value)>& changed);

}  // namespace vinic::traces
