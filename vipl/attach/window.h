// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pages that a program registers move into a file that the simulator maps too.

#include <cstdint>

#include "vipl/attach/channel.h"

namespace vinic::vipl::attach {

/// Takes the file that came with the handshake.
void open_window(int descriptor);
/// In a child of fork: its pages become its own again.
void leave_window();

/// Moves the pages of [address, address + bytes) that have not moved yet and tells the simulator where all
/// are. Those that cannot move (not there, not writable, shared with somebody else already) it does not tell.
/// Everything in them stays as it is, for all threads.
void share_pages(slot& s, std::uintptr_t address, std::uint64_t bytes);

}  // namespace vinic::vipl::attach
