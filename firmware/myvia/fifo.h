// SPDX-License-Identifier: Apache-2.0

// Lists through a link that its elements contain.
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

    // Of a list that is not empty.
    void drop_head() { head = head->*link; }

    void clear() { head = nullptr; }
};

// The same, last in, first out.
template <typename element, element* element::*link>
struct stack {
    element* head;

    void push(element* item) {
        item->*link = head;
        head = item;
    }

    element* pop() {
        element* item = head;
        if (item != nullptr) head = item->*link;
        return item;
    }

    void clear() { head = nullptr; }
};

}  // namespace vinic::myvia
