// SPDX-License-Identifier: Apache-2.0
#include "hw/link/agenda.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace vinic::link {

agenda::agenda(unsigned kinds, unsigned ports, std::function<void()> act)
    : ports_(ports), due_(std::size_t{kinds} * ports, sim::never), timer_(std::move(act)) {}

void agenda::set(unsigned kind, unsigned port, sim::picoseconds at) {
    const unsigned index = kind * ports_ + port;
    if (due_[index] == at) return;
    if (due_[index] != sim::never) {
        const entry old{due_[index], index};
        entries_.erase(std::ranges::lower_bound(entries_, old, std::greater{}));
    }
    if (at != sim::never) {
        const entry fresh{at, index};
        entries_.insert(std::ranges::lower_bound(entries_, fresh, std::greater{}), fresh);
    }
    due_[index] = at;
    if (!working_) arm();
}

std::optional<agenda::item> agenda::next() {
    const sim::picoseconds now = sim::now();
    if (!working_) {
        working_ = true;
        ++activations_;
    }
    if (entries_.empty() || entries_.back().at > now) {
        working_ = false;
        arm();
        return std::nullopt;
    }
    // Of what is due, the first in the order of kind and port, also when its time is a late one.
    auto first = std::prev(entries_.end());
    for (auto e = first; e->at <= now; --e) {
        if (e->index < first->index) first = e;
        if (e == entries_.begin()) break;
    }
    const unsigned index = first->index;
    entries_.erase(first);
    due_[index] = sim::never;
    return item{index / ports_, index % ports_};
}

void agenda::arm() {
    if (entries_.empty())
        timer_.cancel();
    else
        timer_.set(entries_.back().at);
}

}  // namespace vinic::link
