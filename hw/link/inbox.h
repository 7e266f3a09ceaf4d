// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <utility>

#include "hw/link/protocol.h"

namespace vinic::link {

/// Messages that are on their way to one side of a port; they take effect in the order in which they were
/// sent.
class inbox {
public:
    struct entry {
        picoseconds at;
        phase what;
        transfer message;
    };

    void put(picoseconds at, phase what, const transfer& message) { entries_.push_back({at, what, message}); }
    picoseconds due() const { return entries_.empty() ? never : entries_.front().at; }
    entry take() {
        entry first = std::move(entries_.front());
        entries_.pop_front();
        return first;
    }

private:
    std::deque<entry> entries_;
};

}  // namespace vinic::link
