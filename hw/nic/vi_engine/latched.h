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

}  // namespace vinic::nic
