// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/sim/time.h"

namespace vinic::nic {

/// A register between the engine and the bus: a value that is stored at an instant is seen after it, whatever
/// order the kernel wakes processes in.
template <typename T>
class latched {
public:
    explicit latched(T value = {}) : before_(value), value_(value) {}

    void set(T value) {
        if (changed_at_ != sim::now()) before_ = value_;
        changed_at_ = sim::now();
        value_ = value;
    }
    /// For who is outside of the engine.
    T seen() const { return changed_at_ == sim::now() ? before_ : value_; }
    /// For the engine itself.
    T current() const { return value_; }

private:
    T before_;
    T value_;
    sim::picoseconds changed_at_ = sim::never;
};

/// What takes up room: what is freed at an instant is free after it.
class occupancy {
public:
    void add(std::uint64_t n) { held_ += n; }
    void free(std::uint64_t n) {
        if (freed_at_ != sim::now()) freed_ = 0;
        freed_at_ = sim::now();
        freed_ += n;
        held_ -= n;
    }
    std::uint64_t seen() const { return held_ + (freed_at_ == sim::now() ? freed_ : 0); }

private:
    std::uint64_t held_ = 0;
    std::uint64_t freed_ = 0;
    sim::picoseconds freed_at_ = sim::never;
};

}  // namespace vinic::nic
