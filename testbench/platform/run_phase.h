// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace vinic::testbench {

/// The parts of a run, in the order in which it comes to them: the cards boot and programs set up; they talk
/// (a descriptor was posted, a socket called); the workload measures. Time that is not measured between two
/// measurements is `talk` again.
enum class run_phase : std::size_t { set_up, talk, measured };

/// Something for each phase.
template <typename T>
class by_phase {
public:
    T& operator[](run_phase p) { return all_[static_cast<std::size_t>(p)]; }
    const T& operator[](run_phase p) const { return all_[static_cast<std::size_t>(p)]; }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }

private:
    std::array<T, 3> all_{};
};

}  // namespace vinic::testbench
