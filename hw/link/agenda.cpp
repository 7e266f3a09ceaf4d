// SPDX-License-Identifier: Apache-2.0
#include "hw/link/agenda.h"

namespace vinic::link {

agenda::agenda(unsigned kinds, unsigned ports)
    : ports_(ports), due_(std::size_t{kinds} * ports, sim::never), event_("agenda") {}

void agenda::set(unsigned kind, unsigned port, sim::picoseconds at) {
    const unsigned index = kind * ports_ + port;
    if (due_[index] == at) return;
    if (due_[index] != sim::never) entries_.erase({due_[index], index});
    if (at != sim::never) entries_.insert({at, index});
    due_[index] = at;
    if (!working_) arm();
}

std::optional<agenda::item> agenda::next() {
    if (!working_) {
        working_ = true;
        armed_ = sim::never;
        ++activations_;
    }
    if (entries_.empty() || entries_.begin()->at > sim::now()) {
        working_ = false;
        arm();
        return std::nullopt;
    }
    // Of what is due, the first in the order of kind and port, also when its time is a late one.
    auto first = entries_.begin();
    for (auto e = first; e != entries_.end() && e->at <= sim::now(); ++e)
        if (e->index < first->index) first = e;
    const unsigned index = first->index;
    entries_.erase(first);
    due_[index] = sim::never;
    return item{index / ports_, index % ports_};
}

void agenda::arm() {
    const sim::picoseconds first = entries_.empty() ? sim::never : entries_.begin()->at;
    if (first == armed_) return;
    event_.cancel();
    armed_ = first;
    if (first != sim::never) event_.notify(sim::delay_until(first));
}

}  // namespace vinic::link
