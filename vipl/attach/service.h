// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>

#include "vipl/attach/channel.h"
#include "vipl/vipl.h"

namespace vinic::vipl::attach {

/// The handlers that a program outside has registered: the library calls one of ours instead, which hands the
/// call to the program's own thread for handlers.
class callbacks {
public:
    /// `deliver`: gives the words (channel.h) and what the third points at to the program, and returns when
    /// its handler has.
    using delivery =
        std::function<void(const std::uint64_t (&words)[words_of_call], const VIP_ERROR_DESCRIPTOR*)>;
    explicit callbacks(delivery deliver) : deliver_(std::move(deliver)) {}

    struct registered {
        callbacks* owner;
        std::uint64_t handler;
        std::uint64_t context;
    };
    registered* add(std::uint64_t handler, std::uint64_t context) {
        return &registered_.emplace_back(registered{this, handler, context});
    }
    /// Those of the notify functions are called once.
    void remove(const registered* which) {
        registered_.remove_if([&](const registered& r) { return &r == which; });
    }
    void call(const std::uint64_t (&words)[words_of_call], const VIP_ERROR_DESCRIPTOR* error) const {
        deliver_(words, error);
    }

private:
    delivery deliver_;
    std::list<registered> registered_;
};

/// Does what a thread asks for, on the calling SystemC thread, which is one of the thread's program; the
/// answer is in the slot, which still has to be given back. False for a request that does not exist.
bool perform(slot& asked, callbacks& handlers);

}  // namespace vinic::vipl::attach
