// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/sim/time.h"

namespace vinic::sim {

/// While one lives and the kernel runs, no further than to `goal`, the calendar takes the kernel's time from
/// timer to timer by itself where the kernel has nothing to do before: a step of the kernel costs several
/// times what most timers do. Without one each instant is a step of the kernel.
class stretch {
public:
    explicit stretch(picoseconds goal);
    ~stretch();
    stretch(const stretch&) = delete;
    stretch& operator=(const stretch&) = delete;
};

/// sc_pause() and sc_stop() within a stretch: time stands still.
void pause();
void stop();

}  // namespace vinic::sim
