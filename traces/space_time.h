// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "traces/anatomy.h"

namespace vinic::traces {

/// The space-time diagram of one message as SVG: a lane for each who works, from the sender's host at the top
/// to the receiver's at the bottom, time to the right; bars on the path, thin bars beside it, hatched where
/// the message waits, arrows where it goes from lane to lane.
std::string space_time_diagram(const message_anatomy& m, const std::string& title);

}  // namespace vinic::traces
