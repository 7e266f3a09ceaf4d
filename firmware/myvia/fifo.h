// SPDX-License-Identifier: Apache-2.0

// A first-in first-out list through a link that its elements contain.
#pragma once

namespace vinic::myvia {

template <typename element, element* element::*link>
struct fifo {
    element* head;
    element* tail;

    void push(element* item) {
        item->*link = nullptr;
        if (head != nullptr)
            tail->*link = item;
        else
            head = item;
        tail = item;
    }

    element* pop() {
        element* item = head;
        if (item != nullptr) head = item->*link;
        return item;
    }

    void clear() { head = nullptr; }
};

}  // namespace vinic::myvia
