// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace vinic::traces {

/// A VCD or FST that is read back: changes as in a VCD ("1", "0z1x", a string), in order of time.
class waveform {
public:
    struct change {
        std::uint64_t at;
        std::string value;
        bool operator==(const change&) const = default;
    };

    /// Throws sim::input_error when the file cannot be read or is damaged.
    explicit waveform(const std::string& path);

    /// By hierarchical name, without the range of bits. Repetitions of a value are left out, as are the
    /// values that GTKWave's tools add for signals that were never given one.
    const std::map<std::string, std::vector<change>>& signals() const { return signals_; }
    /// The value at an instant; empty before the first.
    std::string at(const std::string& signal, std::uint64_t instant) const;
    std::uint64_t end() const { return end_; }

private:
    void read_vcd(const std::string& path);
    void read_fst(const std::string& path);
    void add(std::vector<change>& to, std::uint64_t at, std::string_view value);

    std::map<std::string, std::vector<change>> signals_;
    std::uint64_t end_ = 0;
};

}  // namespace vinic::traces
