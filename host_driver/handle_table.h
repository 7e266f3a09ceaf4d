// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace vinic::driver {

/// Objects by number: index in the low 16 bits, above it a generation of 12 bits that changes with each use
/// of the index, so that the number of a destroyed object names nothing. Never zero. The lowest free index is
/// used.
template <typename T>
class handle_table {
public:
    static constexpr unsigned index_bits = 16;
    static constexpr std::uint32_t index_of(std::uint32_t id) { return id & ((1u << index_bits) - 1); }

    explicit handle_table(std::uint32_t limit = 0) : limit_(limit) {}

    void set_limit(std::uint32_t limit) { limit_ = limit; }
    std::uint32_t limit() const { return limit_; }
    std::uint32_t size() const { return used_; }
    bool full() const { return used_ >= limit_; }

    /// The table must not be full.
    std::uint32_t insert(std::shared_ptr<T> object) {
        std::uint32_t index = static_cast<std::uint32_t>(slots_.size());
        if (free_.empty()) {
            slots_.emplace_back();
        } else {
            index = *free_.begin();
            free_.erase(free_.begin());
        }
        slot& s = slots_[index];
        s.generation = s.generation % max_generation + 1;
        s.object = std::move(object);
        ++used_;
        return s.generation << index_bits | index;
    }

    /// Null unless `id` is the number of a living object.
    std::shared_ptr<T> find(std::uint32_t id) const {
        const std::uint32_t index = index_of(id);
        if (index >= slots_.size() || slots_[index].generation != id >> index_bits) return nullptr;
        return slots_[index].object;
    }
    std::shared_ptr<T> at_index(std::uint32_t index) const {
        return index < slots_.size() ? slots_[index].object : nullptr;
    }

    void erase(std::uint32_t id) {
        if (!find(id)) return;
        slots_[index_of(id)].object.reset();
        free_.insert(index_of(id));
        --used_;
    }

    /// The numbers of all living objects, ascending by index.
    std::vector<std::uint32_t> ids() const {
        std::vector<std::uint32_t> all;
        for (std::uint32_t i = 0; i < slots_.size(); ++i)
            if (slots_[i].object) all.push_back(slots_[i].generation << index_bits | i);
        return all;
    }

private:
    static constexpr std::uint32_t max_generation = 0xFFF;
    struct slot {
        std::shared_ptr<T> object;
        std::uint32_t generation = 0;
    };
    std::uint32_t limit_;
    std::uint32_t used_ = 0;
    std::vector<slot> slots_;
    std::set<std::uint32_t> free_;
};

}  // namespace vinic::driver
