// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vinic::vipl::attach {

/// From here on the calling thread, and those that it makes, read the simulated processor's time-stamp
/// counter.
void trap_time_stamps();
/// The machine's again.
void release_time_stamps();

}  // namespace vinic::vipl::attach
