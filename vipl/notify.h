// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vipl/program.h"

namespace vinic::vipl {

/// The program's callback thread hears of the next completion, or of one that is there already.
void expect_completion(thread& t, vi_object& vi, bool receive);
void expect_entry(thread& t, queue_object& queue);

}  // namespace vinic::vipl
